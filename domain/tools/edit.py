"""The Edit and MultiEdit tools: exact replacements in a file, all of them or none."""

from collections.abc import Mapping, Sequence
from typing import Any

from norma.domain.model.actions import Action, Effects, Traits
from norma.domain.model.requests import ToolSpec
from norma.domain.policy.rules import path_rule
from norma.domain.tools.asking import MOST_SHOWN, question, require_as_shown, small
from norma.domain.tools.diff import unified_diff
from norma.domain.tools.editing import Editing, edit_shown, which
from norma.domain.tools.limits import counted
from norma.domain.tools.places import failed, locate, shown, use_of
from norma.domain.tools.remembered import Remembered
from norma.domain.tools.replacing import NotReplaceable, Replacement
from norma.domain.tools.schemas import flag, inputs, text, words
from norma.domain.tools.write import refuse_outdated, require_encodable
from norma.ports.errors import Refused, ToolFailed
from norma.ports.files import FileContent, Workspace
from norma.ports.tool import Tool, ToolOutput, ToolRun

MOST_BYTES = 8 << 20
_MISSING = "There is no such file now: nothing would be changed."

_PATH = {"file_path": words("The file, absolute or relative to the first workspace root.")}
_TEXTS = {
    "old_string": words("The text to replace, exactly as in the file, without the line numbers of Read."),
    "new_string": text("What takes its place."),
}
_ALL = {"replace_all": flag("Replace every place; else old_string must be in the file just once.")}

EDIT = ToolSpec(
    "Edit",
    "Replace text in a file. Read the file first: old_string must be exactly what is there, blanks included, "
    "and be there only once unless replace_all is set. To write a new file use Write.",
    inputs({**_PATH, **_TEXTS}, _ALL),
)
MULTI_EDIT = ToolSpec(
    "MultiEdit",
    "Make several replacements in one file, in the order given, each in what the one before left. If one "
    "of them can't be made, none is. The rules of Edit hold for each.",
    inputs(
        {
            **_PATH,
            "edits": {
                "type": "array",
                "minItems": 1,
                "items": inputs(_TEXTS, _ALL),
                "description": "The replacements.",
            },
        }
    ),
)


class _Replacing(Tool):
    """What both tools do; they differ in how they are asked."""

    def __init__(self, workspace: Workspace, remembered: Remembered) -> None:
        self._workspace = workspace
        self._remembered = remembered

    @property
    def traits(self) -> Traits:
        return Traits()

    def _replacements(self, arguments: Mapping[str, Any]) -> Sequence[Replacement]:
        return [Replacement.of(one) for one in arguments.get("edits", [arguments])]

    def examine(self, arguments: Mapping[str, Any]) -> Action:
        found = locate(self._workspace, arguments["file_path"])
        replacements = self._replacements(arguments)
        for number, one in enumerate(replacements, 1):
            fault = one.fault()
            if fault is not None:
                raise Refused(f"{which(number, replacements)}{fault}.")
            require_encodable(one.new, "new_string")
        data = self._workspace.peek(found.path, MOST_SHOWN)
        lines = edit_shown(data, replacements, shown(self._workspace, found.path))
        return Action(
            self.spec.name,
            Effects(reads=True, writes=True),
            shows=question(found, lines if found.exists else [_MISSING, *lines]),
            rule=path_rule("Edit", found.path),
            paths=(use_of(found, "write"),),
        )

    async def run(self, run: ToolRun) -> ToolOutput:
        path = run.action.paths[0].path
        name = shown(self._workspace, path)
        replacements = self._replacements(run.arguments)
        try:
            content = await self._workspace.read(path, limit=MOST_BYTES)
            refuse_outdated(self._remembered, run.session, path, content, name)
            editing = Editing.of(_whole(content, name), replacements)
            require_as_shown(run, edit_shown(small(content), replacements, name), name)
            stamp = await self._workspace.write(path, editing.data, stamp=content.stamp)
        except NotReplaceable as error:
            raise ToolFailed(f"{name}: {error}. Nothing was changed.") from error
        except OSError as error:
            raise failed(error, name) from error
        self._remembered.saw(run.session, path, FileContent(editing.data, len(editing.data), stamp))
        difference = unified_diff(editing.before, editing.after, name)
        run.progress(difference or f"{name} stays as it was")
        return ToolOutput.of(f"Edited {name}: {counted(editing.places, 'replacement')}.")


class Edit(_Replacing):
    """One replacement."""

    @property
    def spec(self) -> ToolSpec:
        return EDIT


class MultiEdit(_Replacing):
    """Several replacements, all or none."""

    @property
    def spec(self) -> ToolSpec:
        return MULTI_EDIT


def _whole(content: FileContent, name: str) -> bytes:
    if content.whole_size > len(content.data):
        size = content.whole_size
        raise ToolFailed(f"{name} has {size} bytes, too many to edit here (at most {MOST_BYTES}); use Bash.")
    return content.data
