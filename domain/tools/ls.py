"""The LS tool: what is in a folder."""

from collections.abc import Mapping
from typing import Any

from norma.domain.model.actions import Action, Effects, Traits
from norma.domain.model.requests import ToolSpec
from norma.domain.policy.policy import CurrentPolicy
from norma.domain.policy.rules import path_rule
from norma.domain.tools.ignoring import ignored_note, ignoring_above
from norma.domain.tools.limits import counted, page, rest
from norma.domain.tools.places import asked_about, failed, locate_inside, printable, shown, use_of
from norma.domain.tools.schemas import flag, inputs, text, whole
from norma.ports.files import Entry, IgnoreRules, Workspace
from norma.ports.tool import Tool, ToolOutput, ToolRun

MOST_SHOWN = 1000

SPEC = ToolSpec(
    "LS",
    "List a folder inside the workspace: folders first (with a slash at the end), then files with their "
    "size in bytes, each sorted by name. What .gitignore names is left out. Not recursive; use Glob for "
    "that.",
    inputs(
        {},
        {
            "path": text("The folder; the first workspace root if not given."),
            "include_ignored": flag("Show what .gitignore names, too."),
            "offset": whole("How many entries to pass over first.", minimum=0),
            "limit": whole(f"How many entries to show, {MOST_SHOWN} if not given.", minimum=1),
        },
    ),
)


class LS(Tool):
    """Lists folders inside the workspace roots only (rule G7)."""

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
        found = locate_inside(self._workspace, arguments.get("path") or ".", "LS")
        return Action(
            "LS",
            Effects(reads=True),
            shows=asked_about(found),
            rule=path_rule("Read", found.path),
            paths=(use_of(found, "read"),),
        )

    async def run(self, run: ToolRun) -> ToolOutput:
        path = run.action.paths[0].path
        name = shown(self._workspace, path)
        try:
            entries = await self._workspace.list(path)
        except OSError as error:
            raise failed(error, name) from error
        policy, roots = self._policy.policy, self._workspace.roots
        start = path.rstrip("/") + "/"
        open_ones = [one for one in entries if not policy.hides(start + one.name, roots)]
        kept, unread = open_ones, ""
        if self._ignores is not None and not run.arguments.get("include_ignored", False):
            above = await ignoring_above(self._workspace, self._ignores, path)
            ignoring = await above.within(self._workspace, path, {one.name for one in entries})
            kept = [
                one
                for one in open_ones
                if not ignoring.leaves_out(start + one.name, is_folder=one.kind == "folder")
            ]
            unread = ignoring.unread.note()
        kept = sorted(kept, key=lambda one: (one.kind != "folder", one.name))
        offset = int(run.arguments.get("offset", 0))
        shown_ones = kept[offset : offset + int(run.arguments.get("limit", MOST_SHOWN))]
        fit = page([_line(one) for one in shown_ones])
        return ToolOutput.of(
            fit.text(
                "" if entries else f"{name} is empty",
                rest(len(kept), offset, len(fit.lines), "entry", "entries"),
                left_out(len(entries) - len(open_ones), "entry", "entries"),
                ignored_note(len(open_ones) - len(kept), "entry", "entries"),
                unread,
            )
        )


def left_out(hidden: int, noun: str, plural: str) -> str:
    """The note on what the policy hides; empty if it hid nothing."""
    return f"left out, since a rule denies reading: {counted(hidden, noun, plural)}" if hidden else ""


def _line(entry: Entry) -> str:
    name = printable(entry.name)
    match entry.kind:
        case "folder":
            return f"{name}/"
        case "file":
            return f"{name}\t{counted(entry.size, 'byte')}"
        case "link":
            return f"{name}\tsymbolic link"
        case "other":
            return f"{name}\tno regular file"
