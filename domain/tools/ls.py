"""The LS tool: what is in a folder."""

from collections.abc import Mapping
from typing import Any

from norma.domain.model.actions import Action, Effects, Traits
from norma.domain.model.requests import ToolSpec
from norma.domain.policy.policy import CurrentPolicy
from norma.domain.policy.rules import path_rule
from norma.domain.tools.limits import counted, page
from norma.domain.tools.places import asked_about, failed, locate_inside, printable, shown, use_of
from norma.domain.tools.schemas import inputs, text
from norma.ports.files import Entry, Workspace
from norma.ports.tool import Tool, ToolOutput, ToolRun

SPEC = ToolSpec(
    "LS",
    "List a folder inside the workspace: folders first (with a slash at the end), then files with their "
    "size in bytes, each sorted by name. Not recursive; use Glob for that.",
    inputs({}, {"path": text("The folder; the first workspace root if not given.")}),
)


class LS(Tool):
    """Lists folders inside the workspace roots only (rule G7)."""

    def __init__(self, workspace: Workspace, policy: CurrentPolicy) -> None:
        self._workspace = workspace
        self._policy = policy

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
        open_ones = [one for one in entries if not policy.hides(f"{path.rstrip('/')}/{one.name}", roots)]
        open_ones.sort(key=lambda one: (one.kind != "folder", one.name))
        fit = page([_line(one) for one in open_ones])
        hidden = len(entries) - len(open_ones)
        return ToolOutput.of(
            fit.text(
                "" if entries else f"{name} is empty",
                f"{counted(fit.left, 'more entry', 'more entries')}; Glob with a pattern shows some of them"
                if fit.left
                else "",
                left_out(hidden, "entry", "entries"),
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
