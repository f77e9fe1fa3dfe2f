"""The Grep tool: text in files, over the file-search port."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from norma.domain.model.actions import Action, Effects, Traits
from norma.domain.model.requests import ToolSpec
from norma.domain.policy.policy import CurrentPolicy
from norma.domain.policy.rules import path_rule
from norma.domain.tools.limits import counted, page
from norma.domain.tools.places import asked_about, encodable, failed, locate_inside, printable, shown, use_of
from norma.domain.tools.schemas import flag, inputs, text, whole, words
from norma.ports.errors import ToolFailed
from norma.ports.file_search import BadPattern, FileSearch, SearchLine, SearchMode, SearchQuery, SearchResult
from norma.ports.files import Workspace
from norma.ports.tool import Tool, ToolOutput, ToolRun

ROWS = 250
MODES: Mapping[str, SearchMode] = {"files_with_matches": "files", "content": "content", "count": "count"}

SPEC = ToolSpec(
    "Grep",
    "Search the text of files inside the workspace with a regular expression (no look-around, no "
    "back-references). Sorted by path. Files that .gitignore names, hidden and binary files are left out.",
    inputs(
        {"pattern": words("The regular expression.")},
        {
            "path": text("The folder or file to search; the first workspace root if not given."),
            "glob": text("Only files whose path fits, such as *.py; with ! in front: only others."),
            "type": text("Only files of a type as ripgrep names them, such as py, js, rust."),
            "output_mode": {
                "type": "string",
                "enum": list(MODES),
                "description": "files_with_matches (default): paths. content: lines. count: lines a file.",
            },
            "-i": flag("Ignore case."),
            "-n": flag("Show line numbers in content mode; true if not given."),
            "-A": whole("Lines to show behind each match, in content mode.", minimum=0),
            "-B": whole("Lines to show before each match, in content mode.", minimum=0),
            "-C": whole("Lines to show on both sides; goes before -A and -B.", minimum=0),
            "multiline": flag("Let a match span lines; the dot then matches line feeds too."),
            "head_limit": whole(f"How many rows to show, {ROWS} if not given; 0 for all.", minimum=0),
            "offset": whole("How many rows to pass over first.", minimum=0),
        },
    ),
)


class Grep(Tool):
    """Searches inside the workspace roots only (rule G7)."""

    def __init__(self, workspace: Workspace, search: FileSearch, policy: CurrentPolicy) -> None:
        self._workspace = workspace
        self._search = search
        self._policy = policy

    @property
    def spec(self) -> ToolSpec:
        return SPEC

    @property
    def traits(self) -> Traits:
        return Traits(parallel=True, repeatable=True)

    def examine(self, arguments: Mapping[str, Any]) -> Action:
        found = locate_inside(self._workspace, arguments.get("path") or ".", "Grep")
        return Action(
            "Grep",
            Effects(reads=True),
            shows=f"{printable(arguments['pattern'])} in {asked_about(found)}",
            rule=path_rule("Read", found.path, tree=True),
            paths=(use_of(found, "read"),),
        )

    async def run(self, run: ToolRun) -> ToolOutput:
        query = _query(run.arguments, run.action.paths[0].path)
        policy, roots = self._policy.policy, self._workspace.roots
        try:
            result = await self._search.search(
                query,
                progress=run.progress,
                excluded=lambda path: policy.hides(path, roots),
                permit=run.permit,
            )
        except BadPattern as error:
            raise ToolFailed(f"The pattern is not valid: {error}") from error
        except ValueError as error:  # a glob or a type that is none
            raise ToolFailed(f"The search can't be made: {error}") from error
        except TimeoutError as error:
            raise ToolFailed("The search took too long; narrow the path, the glob or the pattern.") from error
        except OSError as error:
            raise failed(error, shown(self._workspace, query.path)) from error
        return ToolOutput.of(self._view(query, result, numbered=run.arguments.get("-n", True)))

    def _view(self, query: SearchQuery, result: SearchResult, *, numbered: bool) -> str:
        rows = [self._row(line, query.mode, numbered=numbered) for line in result.lines]
        if query.before or query.after:
            starts = _group_starts(result.lines)
            rows = [f"--\n{row}" if start else row for row, start in zip(rows, starts, strict=True)]
        fit = page(rows)
        nothing = "No matches found" if not query.offset else f"No rows behind the first {query.offset}"
        return fit.text(
            "" if rows else nothing,
            _rest(result.more, fit.left, query.offset + len(fit.lines)),
            *(printable(note) for note in result.notes),
        )

    def _row(self, line: SearchLine, mode: SearchMode, *, numbered: bool) -> str:
        name = shown(self._workspace, line.path)
        if mode == "files":
            return name
        if mode == "count":
            return f"{name}:{line.count}"
        mark = "-" if line.context else ":"
        number = f"{line.line}{mark}" if numbered else ""
        return f"{name}{mark}{number}{encodable(line.text or '')}"


def _query(arguments: Mapping[str, Any], path: str) -> SearchQuery:
    mode = MODES[arguments.get("output_mode", "files_with_matches")]
    both = arguments.get("-C")
    before, after = (int(arguments.get(side, 0) if both is None else both) for side in ("-B", "-A"))
    with_context = mode == "content"
    return SearchQuery(
        arguments["pattern"],
        path,
        mode,
        ignore_case=arguments.get("-i", False),
        globs=_one(arguments.get("glob")),
        types=_one(arguments.get("type")),
        before=before if with_context else 0,
        after=after if with_context else 0,
        multiline=arguments.get("multiline", False),
        limit=int(arguments.get("head_limit", ROWS)),
        offset=int(arguments.get("offset", 0)),
    )


def _one(text: str | None) -> tuple[str, ...]:
    return (text,) if text else ()


def _group_starts(lines: Sequence[SearchLine]) -> Iterator[bool]:
    """For each line but the first, whether lines were passed over before it."""
    last: SearchLine | None = None
    for line in lines:
        yield last is not None and (line.path != last.path or (line.line or 0) - (last.line or 0) > 1)
        last = line


def _rest(more: int, cut: int, offset: int) -> str:
    """The note on rows that follow; *more* below 0 means that nobody counted them."""
    if not more and not cut:
        return ""
    count = "more rows" if more < 0 else counted(more + cut, "more row")
    return f"{count}; continue with offset={offset}"
