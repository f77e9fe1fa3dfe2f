"""Rigs over the doubles of `norma.adapters.memory`, and over classes derived from them."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

from norma.adapters.memory.approver import FixedApprover
from norma.adapters.memory.clock import ManualClock
from norma.adapters.memory.commands import CommandScript, ScriptedCommands
from norma.adapters.memory.documents import Paged, ScriptedDocuments
from norma.adapters.memory.gates import Forever
from norma.adapters.memory.journal import MemoryJournal
from norma.adapters.memory.model import Script, ScriptedModel, call, end, say, think
from norma.adapters.memory.schemas import PlainSchemas
from norma.adapters.memory.search import Found, ScriptedSearch
from norma.adapters.memory.tools import ScriptedTool
from norma.adapters.memory.workspace import MemoryWorkspace
from norma.domain.model.actions import Traits
from norma.domain.model.failures import Failure
from norma.domain.model.questions import Answer, Later
from norma.domain.model.replies import BlockEnded
from norma.ports.commands import Command
from norma.ports.contracts.approver import ApproverRig
from norma.ports.contracts.clock import ClockRig
from norma.ports.contracts.commands import ENDLESS, MISSING_FOLDER, QUIET, SAYS, CommandRig
from norma.ports.contracts.documents import TEXTS, DocumentsRig
from norma.ports.contracts.file_search import BAD, CASES, SearchRig, at
from norma.ports.contracts.journal import JournalRig
from norma.ports.contracts.model import ARGUMENTS, BEFORE, WORDS, ModelRig, Situation
from norma.ports.contracts.schemas import SchemaRig
from norma.ports.contracts.tool import ToolRig
from norma.ports.contracts.workspace import FILES, OUTSIDE, WorkspaceRig
from norma.ports.documents import Unreadable
from norma.ports.errors import ModelError
from norma.ports.file_search import BadPattern, SearchQuery, SearchResult
from norma.ports.model import ChatModel
from norma.ports.tool import ToolOutput, ToolRun

R = TypeVar("R")
Rig = Callable[[str], AbstractAsyncContextManager[R]]


def journal_rig(kind: type[MemoryJournal]) -> Rig[JournalRig]:
    @asynccontextmanager
    async def memory(folder: str) -> AsyncIterator[JournalRig]:
        made = kind(ManualClock())
        yield JournalRig(made, made.another)
        await made.aclose()

    return memory


def clock_rig(kind: type[ManualClock]) -> Rig[ClockRig]:
    @asynccontextmanager
    async def manual(folder: str) -> AsyncIterator[ClockRig]:
        made = kind()
        yield ClockRig(made, made.advance)

    return manual


def approver_rig(kind: type[FixedApprover], word: Answer | Later) -> Rig[ApproverRig]:
    @asynccontextmanager
    async def fixed(folder: str) -> AsyncIterator[ApproverRig]:
        answering, silent = kind(word), kind(Forever())

        def shown() -> str:
            return "\n".join(question.action.shows for question in answering.questions)

        yield ApproverRig(answering, word, shown, lambda: silent, lambda: len(silent.questions))

    return fixed


_BEGINNING = tuple(event for event in say(BEFORE, 3) if not isinstance(event, BlockEnded))


def _reply(situation: Situation) -> Script:
    match situation:
        case "words":
            return (think("Who am I?", signature="c2ln"), say(WORDS, 5), end())
        case "calls":
            calls = (call(f"call_{number}", "Look", made) for number, made in enumerate(ARGUMENTS))
            return (say(BEFORE), *calls, end("tool_use"))
        case "dropped":
            return _BEGINNING
        case "refused":
            return (ModelError(Failure("invalid_request", "no such model", "http", 400)),)
        case "stalled":
            return (*_BEGINNING, Forever())


class ScriptedRig(ModelRig):
    def __init__(self, kind: type[ScriptedModel], *, alone: bool) -> None:
        self._kind = kind
        self._alone = alone
        self._models: list[ScriptedModel] = []

    def model(self, situation: Situation) -> ChatModel:
        made = self._kind(lambda request: _reply(situation), alone=self._alone)
        self._models.append(made)
        return made

    def requests(self) -> int:
        return sum(len(made.requests) for made in self._models)

    def open(self) -> int:
        return sum(made.open for made in self._models)


def model_rig(kind: type[ScriptedModel], *, alone: bool) -> Rig[ModelRig]:
    @asynccontextmanager
    async def scripted(folder: str) -> AsyncIterator[ModelRig]:
        yield ScriptedRig(kind, alone=alone)

    return scripted


def tool_rig(kind: type[ScriptedTool]) -> Rig[ToolRig]:
    @asynccontextmanager
    async def scripted(folder: str) -> AsyncIterator[ToolRig]:
        gate = Forever()
        before = 0

        async def behave(run: ToolRun) -> ToolOutput | str:
            run.progress("working")
            if run.arguments.get("endless"):
                await gate
            return "done"

        made = kind("Work", behaviour=behave, traits=Traits(parallel=True, repeatable=True))

        def there() -> bool:
            return gate.arrivals > before

        def left() -> str:
            nonlocal before
            before = gate.arrivals
            return f"{made.running} runs" if made.running else ""

        yield ToolRig(made, {"deep": {"x": [1, 2]}}, {"deep": {"x": []}, "endless": True}, there, left)

    return scripted


class MemoryRig(WorkspaceRig):
    def __init__(self, kind: type[MemoryWorkspace]) -> None:
        self.outside = "/elsewhere/secret.txt"
        files = {f"/project/{name}": data for name, data in FILES.items()}
        self.workspace = self.made = kind({**files, self.outside: OUTSIDE})

    def put(self, path: str, data: bytes) -> None:
        self.made.put(path, data)

    def look(self, path: str) -> bytes | None:
        return self.made.files.get(path)

    def link(self, path: str, target: str) -> None:
        self.made.link(path, target)


def workspace_rig(kind: type[MemoryWorkspace]) -> Rig[WorkspaceRig]:
    @asynccontextmanager
    async def memory(folder: str) -> AsyncIterator[WorkspaceRig]:
        yield MemoryRig(kind)

    return memory


def _command(command: Command) -> CommandScript:
    if command.cwd == MISSING_FOLDER:
        return FileNotFoundError(2, "No such file or directory", command.cwd)
    scripts: dict[str, CommandScript] = {
        SAYS: ("one\n", "two\n", 3),
        QUIET: 0,
        ENDLESS: ("begun\n", Forever()),
    }
    return scripts[command.text]


def command_rig(kind: type[ScriptedCommands]) -> Rig[CommandRig]:
    @asynccontextmanager
    async def scripted(folder: str) -> AsyncIterator[CommandRig]:
        clock = ManualClock()
        made = kind(_command, clock=clock)
        yield CommandRig(made, "/project", lambda: made.running, clock.advance)

    return scripted


def search_rig(kind: type[ScriptedSearch]) -> Rig[SearchRig]:
    @asynccontextmanager
    async def scripted(folder: str) -> AsyncIterator[SearchRig]:
        root = "/tree"
        endless, nowhere = SearchQuery("for ever", root), f"{root}/none"
        answers: dict[SearchQuery, Found] = {
            endless: Forever(),
            SearchQuery(BAD, root): BadPattern("there is no ) for the ( at 7"),
            SearchQuery("needle", nowhere): FileNotFoundError(2, "No such file or directory", nowhere),
        }
        for case in CASES:
            own = at(root, case)
            answers[own.query] = SearchResult("python", own.lines, own.more)
        made = kind(answers)
        yield SearchRig(made, root, endless, lambda: made.running > 0, lambda: made.running)

    return scripted


def documents_rig(kind: type[ScriptedDocuments]) -> Rig[DocumentsRig]:
    @asynccontextmanager
    async def scripted(folder: str) -> AsyncIterator[DocumentsRig]:
        scripts: dict[bytes, Paged] = {
            b"good": TEXTS,
            b"bad": [Unreadable("it is damaged")],
            b"endless": ["one", Forever()],
        }
        made = kind(scripts)
        yield DocumentsRig(
            made, b"good", (b"bad",), b"endless", lambda: made.running > 0, lambda: made.running
        )

    return scripted


def schema_rig(kind: type[PlainSchemas]) -> Rig[SchemaRig]:
    @asynccontextmanager
    async def plain(folder: str) -> AsyncIterator[SchemaRig]:
        yield SchemaRig(kind())

    return plain
