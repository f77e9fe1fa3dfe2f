"""The Glob tool: files by the pattern of their names."""

from collections.abc import Mapping
from typing import Any

from attrs import field

from norma.domain.model.actions import Action, Effects, Traits
from norma.domain.model.requests import ToolSpec
from norma.domain.model.values import define
from norma.domain.policy.policy import CurrentPolicy
from norma.domain.policy.rules import path_rule
from norma.domain.tools.glob_pattern import GlobPattern, Places
from norma.domain.tools.ignoring import Ignoring, ignored_note, ignoring_above
from norma.domain.tools.limits import counted, page, rest
from norma.domain.tools.ls import left_out
from norma.domain.tools.places import asked_about, failed, locate_inside, printable, shown, use_of
from norma.domain.tools.schemas import flag, inputs, text, whole, words
from norma.ports.errors import Refused
from norma.ports.files import Entry, IgnoreRules, Workspace
from norma.ports.tool import Tool, ToolOutput, ToolRun

NEVER_ENTERED = ".git"
ENTERED_IF_NAMED = "node_modules"
MOST_SHOWN = 1000

SPEC = ToolSpec(
    "Glob",
    "Find files inside the workspace by a pattern of their path, such as `src/**/*.py` or `*.{ts,tsx}`. "
    "`**` stands for any number of folders; a pattern without a slash fits at any depth. Sorted by path. "
    f"What .gitignore names is left out. Links are not followed, {NEVER_ENTERED} is never entered, "
    f"{ENTERED_IF_NAMED} only if pattern or path names it.",
    inputs(
        {"pattern": words("The pattern, relative to the path.")},
        {
            "path": text("The folder to search; the first workspace root if not given."),
            "include_ignored": flag("Find what .gitignore names, too."),
            "offset": whole("How many files to pass over first.", minimum=0),
            "limit": whole(f"How many files to show, {MOST_SHOWN} if not given.", minimum=1),
        },
    ),
)


class Glob(Tool):
    """Walks folders inside the workspace roots only (rule G7)."""

    def __init__(
        self, workspace: Workspace, policy: CurrentPolicy, ignores: IgnoreRules | None = None
    ) -> None:
        self._workspace = workspace
        self._policy = policy
        self._ignores = ignores

    @property
    def spec(self) -> ToolSpec:
        return SPEC

    @property
    def traits(self) -> Traits:
        return Traits(parallel=True, repeatable=True)

    def examine(self, arguments: Mapping[str, Any]) -> Action:
        pattern = _pattern(arguments)
        folder = arguments.get("path") or "."
        if pattern.folder:
            folder = pattern.folder if pattern.folder.startswith("/") else f"{folder}/{pattern.folder}"
        found = locate_inside(self._workspace, folder, "Glob")
        return Action(
            "Glob",
            Effects(reads=True),
            shows=f"{printable(arguments['pattern'])} in {asked_about(found)}",
            rule=path_rule("Read", found.path, tree=True),
            paths=(use_of(found, "read"),),
        )

    async def run(self, run: ToolRun) -> ToolOutput:
        pattern = _pattern(run.arguments)
        path = run.action.paths[0].path
        enter_all = pattern.names(ENTERED_IF_NAMED) or ENTERED_IF_NAMED in path.split("/")
        ignoring = None
        if self._ignores is not None and not run.arguments.get("include_ignored", False):
            ignoring = await ignoring_above(self._workspace, self._ignores, path)
        walk = _Walk(self._workspace, self._policy, pattern, enter_all, ignoring)
        try:
            await walk.through(path)
        except OSError as error:
            raise failed(error, shown(self._workspace, path)) from error
        found = sorted(walk.found)
        offset = int(run.arguments.get("offset", 0))
        part = found[offset : offset + int(run.arguments.get("limit", MOST_SHOWN))]
        fit = page([shown(self._workspace, one) for one in part])
        return ToolOutput.of(
            fit.text(
                "" if found else f"no file in {shown(self._workspace, path)} fits",
                rest(len(found), offset, len(fit.lines), "file"),
                *walk.notes(),
            )
        )


@define
class _Walk:
    """One walk through a tree, and what it met."""

    _workspace: Workspace
    _policy: CurrentPolicy
    _pattern: GlobPattern
    _enter_all: bool
    _ignoring: Ignoring | None
    found: list[str] = field(factory=list)
    _hidden: int = 0
    _passed_by: int = 0
    _closed: int = 0
    _ignored: int = 0

    async def through(self, top: str) -> None:
        """Raises OSError if *top* can't be listed; what can't be listed beneath it is counted."""
        pending = [(top, self._pattern.start(), self._ignoring)]
        while pending:
            folder, places, ignoring = pending.pop()
            entries = await self._entries(folder, is_top=folder == top)
            if ignoring is not None:
                names = {entry.name for entry in entries}
                ignoring = await ignoring.within(self._workspace, folder, names)
            for entry in entries:
                after = self._pattern.step(places, entry.name)
                path = f"{folder.rstrip('/')}/{entry.name}"
                if self._wanted(entry, path, after, ignoring):
                    if entry.kind == "folder":
                        pending.append((path, after, ignoring))
                    else:
                        self.found.append(path)

    def notes(self) -> tuple[str, ...]:
        """What was left out and why; empty ones where nothing was."""
        return (
            left_out(self._hidden, "file or folder", "files or folders"),
            f"{ENTERED_IF_NAMED} was not entered; name it in the pattern to do so" if self._passed_by else "",
            ignored_note(self._ignored, "file or folder", "files or folders"),
            self._ignoring.unread.note() if self._ignoring is not None else "",
            f"could not be listed: {counted(self._closed, 'folder')}" if self._closed else "",
        )

    async def _entries(self, folder: str, *, is_top: bool) -> tuple[Entry, ...]:
        try:
            return await self._workspace.list(folder)
        except OSError:
            if is_top:
                raise
            self._closed += 1
            return ()

    def _wanted(self, entry: Entry, path: str, places: Places, ignoring: Ignoring | None) -> bool:
        is_folder = entry.kind == "folder"
        if not places or entry.kind == "other" or not (is_folder or self._pattern.matched(places)):
            return False
        if is_folder and entry.name == NEVER_ENTERED:
            return False
        if is_folder and entry.name == ENTERED_IF_NAMED and not self._enter_all:
            self._passed_by += 1
            return False
        if self._policy.policy.hides(path, self._workspace.roots):
            self._hidden += 1
            return False
        if ignoring is not None and ignoring.leaves_out(path, is_folder=is_folder):
            self._ignored += 1
            return False
        return True


def _pattern(arguments: Mapping[str, Any]) -> GlobPattern:
    try:
        return GlobPattern.parse(arguments["pattern"])
    except ValueError as error:
        raise Refused(f"The pattern {printable(arguments['pattern'])} can't be used: {error}.") from error
