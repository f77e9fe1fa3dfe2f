"""Clocks, approvers, tools, workspaces, commands, searches and schema checks that break one promise each."""

import asyncio
import os
import socket
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve

from norma.adapters.memory.approver import FixedApprover
from norma.adapters.memory.clock import ManualClock
from norma.adapters.memory.commands import ScriptedCommands
from norma.adapters.memory.documents import ScriptedDocuments
from norma.adapters.memory.schemas import PlainSchemas
from norma.adapters.memory.search import ScriptedSearch
from norma.adapters.memory.tools import ScriptedTool
from norma.adapters.memory.workspace import MemoryWorkspace
from norma.domain.model.actions import Action
from norma.domain.model.questions import Answer, Later, Question
from norma.ports.commands import Command, CommandEnd
from norma.ports.documents import DocumentPage, Unreadable
from norma.ports.file_search import Permit, SearchQuery, SearchResult
from norma.ports.files import Entry, FileContent, Resolved
from norma.ports.schemas import SchemaCheck
from norma.ports.tool import ToolOutput, ToolRun


class LocalTime(ManualClock):
    def now(self) -> str:
        return super().now().replace("Z", "+01:00")


class EndsSleepsEarly(ManualClock):
    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


class SwallowsCancelInSleep(ManualClock):
    async def sleep(self, seconds: float) -> None:
        try:
            await super().sleep(seconds)
        except asyncio.CancelledError:
            return


class BlocksTheLoop(ManualClock):
    async def sleep(self, seconds: float) -> None:
        if seconds > 0:
            await super().sleep(seconds)


class RepeatsIdentifiers(ManualClock):
    def new_id(self) -> str:
        return super().new_id()[:-1]


class UnsortedIdentifiers(ManualClock):
    def new_id(self) -> str:
        return super().new_id()[::-1]


class IncludesOne(ManualClock):
    def random(self) -> float:
        return round(super().random(), 1)


CLOCKS = (
    (LocalTime, "now"),
    (EndsSleepsEarly, "sleep"),
    (SwallowsCancelInSleep, "cancelled_before_it_began"),
    (BlocksTheLoop, "sleep_of_nothing"),
    (RepeatsIdentifiers, "identifiers"),
    (UnsortedIdentifiers, "identifiers"),
    (IncludesOne, "chance"),
)


class AlwaysAllows(FixedApprover):
    async def ask(self, question: Question) -> Answer | Later:
        await super().ask(question)
        return Answer("once")


class ShowsTheBeginning(FixedApprover):
    async def ask(self, question: Question) -> Answer | Later:
        short = evolve(question, action=evolve(question.action, shows=question.action.shows[:200]))
        return await super().ask(short)


class TakesACancelForANo(FixedApprover):
    async def ask(self, question: Question) -> Answer | Later:
        try:
            return await super().ask(question)
        except asyncio.CancelledError:
            return Answer("deny")


class HasOneQuestionOnly(FixedApprover):
    async def ask(self, question: Question) -> Answer | Later:
        if getattr(self, "busy", False):
            raise RuntimeError("busy")
        self.busy = True
        await asyncio.sleep(0)
        answer = await super().ask(question)
        self.busy = False
        return answer


APPROVERS = (
    (AlwaysAllows, "answer"),
    (ShowsTheBeginning, "t5_all_is_shown"),
    (TakesACancelForANo, "cancel"),
    (HasOneQuestionOnly, "several_at_once"),
)


class WritesUndeclared(ScriptedTool):
    async def run(self, run: ToolRun) -> ToolOutput:
        with tempfile.TemporaryFile() as file:
            file.write(b"x")
        return await super().run(run)


class ReadsUndeclared(ScriptedTool):
    async def run(self, run: ToolRun) -> ToolOutput:
        os.listdir("/etc")
        return await super().run(run)


class ReachesOutUndeclared(ScriptedTool):
    async def run(self, run: ToolRun) -> ToolOutput:
        with socket.socket() as one:
            one.connect_ex(("127.0.0.1", 1))
        return await super().run(run)


class StartsAProcessUndeclared(ScriptedTool):
    async def run(self, run: ToolRun) -> ToolOutput:
        process = await asyncio.create_subprocess_exec("true")
        await process.wait()
        return await super().run(run)


class ActsWhenExamined(ScriptedTool):
    def examine(self, arguments: Mapping[str, Any]) -> Action:
        with tempfile.TemporaryFile():
            return super().examine(arguments)


class ExaminesAtRandom(ScriptedTool):
    def examine(self, arguments: Mapping[str, Any]) -> Action:
        action = super().examine(arguments)
        self.count = getattr(self, "count", 0) + 1
        return evolve(action, shows=f"{action.shows} {self.count}")


class ShowsNothing(ScriptedTool):
    def examine(self, arguments: Mapping[str, Any]) -> Action:
        return evolve(super().examine(arguments), shows="")


class ChangesItsArguments(ScriptedTool):
    def examine(self, arguments: Mapping[str, Any]) -> Action:
        action = super().examine(arguments)
        arguments["deep"]["x"].append(3)
        return action


class SwallowsCancelInRun(ScriptedTool):
    async def run(self, run: ToolRun) -> ToolOutput:
        try:
            return await super().run(run)
        except asyncio.CancelledError:
            return ToolOutput.of("cancelled", is_error=True)


class LeavesWorkBehind(ScriptedTool):
    async def run(self, run: ToolRun) -> ToolOutput:
        self.work = asyncio.create_task(super().run(run))
        return await asyncio.shield(self.work)


class RunsOneAtATime(ScriptedTool):
    async def run(self, run: ToolRun) -> ToolOutput:
        if getattr(self, "busy", False):
            return ToolOutput.of("busy", is_error=True)
        self.busy = True
        await asyncio.sleep(0)
        output = await super().run(run)
        self.busy = False
        return output


TOOLS = (
    (WritesUndeclared, "t8_effects_are_declared"),
    (ReadsUndeclared, "t8_effects_are_declared"),
    (ReachesOutUndeclared, "t8_effects_are_declared"),
    (StartsAProcessUndeclared, "t8_effects_are_declared"),
    (ActsWhenExamined, "t8_examining_changes_nothing"),
    (ExaminesAtRandom, "t8_examining_changes_nothing"),
    (ShowsNothing, "t5_action_says_what_will_run"),
    (ChangesItsArguments, "t8_examining_changes_nothing"),
    (SwallowsCancelInRun, "cancel_everywhere"),
    (LeavesWorkBehind, "cancel_everywhere"),
    (RunsOneAtATime, "runs_at_once"),
)


class FollowsLinks(MemoryWorkspace):
    def _refuse_links(self, path: str) -> None:
        """Forgotten."""

    async def read(self, path: str, *, limit: int | None = None) -> FileContent:
        return await super().read(self._follow(path), limit=limit)

    async def write(self, path: str, data: bytes, *, stamp: str | None = None) -> str:
        return await super().write(self._follow(path), data, stamp=stamp)


class ComparesPrefixes(MemoryWorkspace):
    def _root_of(self, path: str) -> str | None:
        return next((root for root in self.roots if path.startswith(root)), None)


class KnowsTilde(MemoryWorkspace):
    def resolve(self, path: str) -> Resolved:
        return super().resolve(path.replace("~", "/root"))


class IgnoresStamps(MemoryWorkspace):
    async def write(self, path: str, data: bytes, *, stamp: str | None = None) -> str:
        return await super().write(path, data)


class SameStampAlways(MemoryWorkspace):
    async def read(self, path: str, *, limit: int | None = None) -> FileContent:
        return evolve(await super().read(path, limit=limit), stamp="1")


class CutsWithoutAWord(MemoryWorkspace):
    async def read(self, path: str, *, limit: int | None = None) -> FileContent:
        content = await super().read(path, limit=limit)
        return evolve(content, whole_size=len(content.data))


class GivesTheOldStamp(MemoryWorkspace):
    async def write(self, path: str, data: bytes, *, stamp: str | None = None) -> str:
        await super().write(path, data, stamp=stamp)
        return stamp or ""


class LeavesItsDraft(MemoryWorkspace):
    async def write(self, path: str, data: bytes, *, stamp: str | None = None) -> str:
        self.put(path + ".tmp", data)
        return await super().write(path, data, stamp=stamp)


class WritesInPlace(MemoryWorkspace):
    async def write(self, path: str, data: bytes, *, stamp: str | None = None) -> str:
        if path in self.files:
            self.put(path, b"")
            await asyncio.sleep(0)
        return await super().write(path, data, stamp=stamp)


class ListsUnsorted(MemoryWorkspace):
    async def list(self, path: str) -> tuple[Entry, ...]:
        return (await super().list(path))[::-1]


class ReadsAFolderAsNothing(MemoryWorkspace):
    async def read(self, path: str, *, limit: int | None = None) -> FileContent:
        try:
            return await super().read(path, limit=limit)
        except IsADirectoryError:
            return FileContent(b"", 0, "")


class SeesTheBeginning(MemoryWorkspace):
    def peek(self, path: str, most: int) -> bytes | None:
        data = super().peek(path, 1 << 30)
        return None if data is None else data[:most]


class SeesThroughLinks(MemoryWorkspace):
    def peek(self, path: str, most: int) -> bytes | None:
        return super().peek(self._follow(path), most)


class SeesWhatWasOnce(MemoryWorkspace):
    def peek(self, path: str, most: int) -> bytes | None:
        seen = self.__dict__.setdefault("seen", {})
        if seen.get(path) is None:
            seen[path] = super().peek(path, most)
        return None if seen[path] is None or len(seen[path]) > most else bytes(seen[path])


class RaisesForWhatIsNotThere(MemoryWorkspace):
    def peek(self, path: str, most: int) -> bytes | None:
        if path not in self.files:
            raise FileNotFoundError(2, "No such file or directory", path)
        return super().peek(path, most)


class SeesNoEmptyFile(MemoryWorkspace):
    def peek(self, path: str, most: int) -> bytes | None:
        return super().peek(path, most) or None


WORKSPACES = (
    (SeesTheBeginning, "peek"),
    (SeesThroughLinks, "peek"),
    (SeesWhatWasOnce, "peek"),
    (RaisesForWhatIsNotThere, "peek"),
    (SeesNoEmptyFile, "peek"),
    (FollowsLinks, "no_link_is_followed_on_the_way"),
    (ComparesPrefixes, "resolve"),
    (KnowsTilde, "resolve"),
    (GivesTheOldStamp, "stamps"),
    (IgnoresStamps, "stamps"),
    (SameStampAlways, "stamps"),
    (CutsWithoutAWord, "read"),
    (LeavesItsDraft, "write"),
    (WritesInPlace, "cancelled_write"),
    (ListsUnsorted, "list"),
    (ReadsAFolderAsNothing, "read_errors"),
)


class ForgetsTheStatus(ScriptedCommands):
    async def run(self, command: Command, output: Callable[[str], None]) -> CommandEnd:
        return evolve(await super().run(command, output), status=0)


class TellsAtTheEnd(ScriptedCommands):
    async def run(self, command: Command, output: Callable[[str], None]) -> CommandEnd:
        return await super().run(command, lambda text: None)


class IgnoresTheDeadline(ScriptedCommands):
    async def run(self, command: Command, output: Callable[[str], None]) -> CommandEnd:
        return evolve(await super().run(command, output), timed_out=False)


class SwallowsCancelInCommand(ScriptedCommands):
    async def run(self, command: Command, output: Callable[[str], None]) -> CommandEnd:
        try:
            return await super().run(command, output)
        except asyncio.CancelledError:
            return CommandEnd(-15, "")


class LeavesTheCommandRunning(ScriptedCommands):
    async def run(self, command: Command, output: Callable[[str], None]) -> CommandEnd:
        self.work = asyncio.create_task(super().run(command, output))
        return await asyncio.shield(self.work)


class HasAStatusForEverything(ScriptedCommands):
    async def run(self, command: Command, output: Callable[[str], None]) -> CommandEnd:
        try:
            return await super().run(command, output)
        except OSError:
            return CommandEnd(127, "")


COMMANDS = (
    (ForgetsTheStatus, "output_and_status"),
    (TellsAtTheEnd, "output_and_status"),
    (IgnoresTheDeadline, "deadline"),
    (SwallowsCancelInCommand, "cancel_everywhere"),
    (LeavesTheCommandRunning, "cancel_everywhere"),
    (HasAStatusForEverything, "what_cant_be_started"),
)

Line = Callable[[str], None]
Excluded = Callable[[str], bool]


class ShowsWhatIsExcluded(ScriptedSearch):
    async def search(
        self, query: SearchQuery, *, progress: Line, excluded: Excluded, permit: Permit | None = None
    ) -> SearchResult:
        return await super().search(query, progress=progress, excluded=lambda path: False)


class HidesWithoutAWord(ScriptedSearch):
    async def search(
        self, query: SearchQuery, *, progress: Line, excluded: Excluded, permit: Permit | None = None
    ) -> SearchResult:
        return evolve(await super().search(query, progress=progress, excluded=excluded), notes=())


class FindsNothingInABadPattern(ScriptedSearch):
    async def search(
        self, query: SearchQuery, *, progress: Line, excluded: Excluded, permit: Permit | None = None
    ) -> SearchResult:
        try:
            return await super().search(query, progress=progress, excluded=excluded)
        except ValueError:
            return SearchResult("python", ())


class FindsInAnyOrder(ScriptedSearch):
    async def search(
        self, query: SearchQuery, *, progress: Line, excluded: Excluded, permit: Permit | None = None
    ) -> SearchResult:
        result = await super().search(query, progress=progress, excluded=excluded)
        return evolve(result, lines=result.lines[::-1])


class SwallowsCancelInSearch(ScriptedSearch):
    async def search(
        self, query: SearchQuery, *, progress: Line, excluded: Excluded, permit: Permit | None = None
    ) -> SearchResult:
        try:
            return await super().search(query, progress=progress, excluded=excluded)
        except asyncio.CancelledError:
            return SearchResult("python", (), -1)


SEARCHES = (
    (ShowsWhatIsExcluded, "excluded"),
    (HidesWithoutAWord, "excluded"),
    (FindsNothingInABadPattern, "errors"),
    (FindsInAnyOrder, "answers"),
    (SwallowsCancelInSearch, "cancel_everywhere"),
)


PageTaker = Callable[[DocumentPage], bool]


class BeginsAtThePageBehind(ScriptedDocuments):
    async def read(self, data: bytes, page: PageTaker, *, first: int = 1) -> None:
        await super().read(data, page, first=first + 1 if first > 1 else first)


class LeavesOutPagesWithoutText(ScriptedDocuments):
    async def read(self, data: bytes, page: PageTaker, *, first: int = 1) -> None:
        await super().read(data, lambda one: not one.text or page(one), first=first)


class NeverHasEnough(ScriptedDocuments):
    async def read(self, data: bytes, page: PageTaker, *, first: int = 1) -> None:
        await super().read(data, lambda one: page(one) or True, first=first)


class ReadsTheBadAsEmpty(ScriptedDocuments):
    async def read(self, data: bytes, page: PageTaker, *, first: int = 1) -> None:
        try:
            await super().read(data, page, first=first)
        except Unreadable:
            return


class HidesWhatTheCallerRaises(ScriptedDocuments):
    async def read(self, data: bytes, page: PageTaker, *, first: int = 1) -> None:
        try:
            await super().read(data, page, first=first)
        except Exception as error:
            raise Unreadable("it is damaged") from error


class SwallowsCancelInReading(ScriptedDocuments):
    async def read(self, data: bytes, page: PageTaker, *, first: int = 1) -> None:
        try:
            await super().read(data, page, first=first)
        except asyncio.CancelledError:
            return


class GoesOnReading(ScriptedDocuments):
    async def read(self, data: bytes, page: PageTaker, *, first: int = 1) -> None:
        self.work = asyncio.create_task(super().read(data, page, first=first))
        await asyncio.shield(self.work)


class ReadsIntoOnePlace(ScriptedDocuments):
    async def read(self, data: bytes, page: PageTaker, *, first: int = 1) -> None:
        self.page, self.first = page, first
        await asyncio.sleep(0)
        await super().read(data, self.page, first=self.first)


DOCUMENTS = (
    (BeginsAtThePageBehind, "first"),
    (LeavesOutPagesWithoutText, "pages"),
    (NeverHasEnough, "enough"),
    (ReadsTheBadAsEmpty, "unreadable"),
    (HidesWhatTheCallerRaises, "what_the_caller_raises"),
    (SwallowsCancelInReading, "cancel_everywhere"),
    (GoesOnReading, "cancel_everywhere"),
    (ReadsIntoOnePlace, "many_at_once"),
)


class AcceptsAll(PlainSchemas):
    def compile(self, schema: Mapping[str, Any]) -> SchemaCheck:
        super().compile(schema)
        return lambda arguments: None


class ForbidsTheUnknown(PlainSchemas):
    def compile(self, schema: Mapping[str, Any]) -> SchemaCheck:
        return super().compile({"additionalProperties": False, **schema})


class SaysOnlyNo(PlainSchemas):
    def compile(self, schema: Mapping[str, Any]) -> SchemaCheck:
        check = super().compile(schema)
        return lambda arguments: check(arguments) and "no"


class LooksWhenUsed(PlainSchemas):
    def compile(self, schema: Mapping[str, Any]) -> SchemaCheck:
        def check(arguments: Mapping[str, Any]) -> str | None:
            return super(LooksWhenUsed, self).compile(schema)(arguments)

        return check


class FillsIn(PlainSchemas):
    def compile(self, schema: Mapping[str, Any]) -> SchemaCheck:
        check = super().compile(schema)

        def filled(arguments: Any) -> str | None:
            fault = check(arguments)
            arguments.setdefault("limit", 1)
            return fault

        return filled


SCHEMAS = (
    (AcceptsAll, "what_does_not_fit"),
    (ForbidsTheUnknown, "unknown_properties"),
    (SaysOnlyNo, "what_does_not_fit"),
    (LooksWhenUsed, "unusable_schemas"),
    (FillsIn, "what_fits"),
)
