"""`norma grep`: search the workspace as the model's Grep does, within the same bounds."""

import os
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from norma.app.cli.arguments import UsageError
from norma.app.cli.command import Command, run_async
from norma.app.cli.conversation import approver_for
from norma.app.cli.permission import permit
from norma.app.running import open_parts
from norma.domain.model.actions import Action
from norma.domain.model.failures import Failure
from norma.domain.tools.grep import SPEC
from norma.ports.errors import PortError, Refused
from norma.ports.file_search import BadPattern, SearchLine, SearchQuery
from norma.ports.files import Workspace


def run(command: Command) -> int:
    """Search, and print the rows asked for. Finding nothing is no failure."""
    return run_async(_search(command))


async def _search(command: Command) -> int:
    options = command.options
    async with open_parts(command.settings, environ=command.environ) as parts:
        workspace, policy = parts.workspace(), parts.policy().policy
        roots = workspace.roots
        path = _searched(workspace, options.path, str(command.folder))
        if policy.hides(path, roots):
            raise Refused(f"{path} is hidden by a deny rule of Read")
        asked = approver_for(command)

        async def permit_more(action: Action) -> None:
            await permit(policy, SPEC, action, asked.ask)

        try:
            result = await parts.search().search(
                _query(options, path),
                progress=lambda line: None,
                excluded=lambda found: policy.hides(found, roots),
                permit=permit_more,
            )
        except BadPattern as error:
            raise UsageError(f"{options.pattern!r} is no valid pattern: {error}") from error
        except FileNotFoundError as error:
            raise PortError(Failure("not_found", f"{options.path}: no such file or folder")) from error
        except TimeoutError as error:
            raise PortError(Failure("timeout", f"the search took too long: {error}")) from error
    rows = [_row(line, roots[0]) for line in result.lines]
    record = {
        "type": "matches",
        "backend": result.backend,
        "lines": rows,
        "more": result.more,
        "notes": list(result.notes),
    }
    command.output.record(record, "\n".join(map(_text, rows)))
    if not options.json:
        for note in result.notes:
            command.output.note(note)
        if result.more:
            rest = "more rows" if result.more < 0 else f"{result.more} more rows"
            command.output.note(f"{rest}; --limit and --offset show them")
    return 0


def _searched(workspace: Workspace, wanted: str | None, folder: str) -> str:
    """
    The path to search, resolved: what a person types starts at the current folder if that lies in the
    workspace, else at its first root.

    Raises Refused if it leads out of the workspace (contract G7).
    """
    if wanted is None:
        return workspace.roots[0]
    try:
        inside = workspace.resolve(folder).root is not None
        resolved = workspace.resolve(os.path.join(folder, wanted) if inside else wanted)
    except (ValueError, OSError) as error:
        raise UsageError(f"{wanted!r} is no path: {error}") from error
    if resolved.root is None:
        roots = ", ".join(workspace.roots)
        raise Refused(
            f"{resolved.path} lies outside the workspace ({roots}); only workspace.roots opens more"
        )
    return resolved.path


def _query(options: Namespace, path: str) -> SearchQuery:
    around = options.around
    return SearchQuery(
        options.pattern,
        path,
        options.grep_mode,
        options.ignore_case,
        tuple(options.glob),
        tuple(options.type),
        options.before if around is None else around,
        options.after if around is None else around,
        options.multiline,
        options.limit,
        options.offset,
        options.hidden,
        options.no_ignore,
    )


def _row(line: SearchLine, root: str) -> dict[str, Any]:
    beneath = line.path.startswith(root.rstrip("/") + "/")
    row: dict[str, Any] = {"path": os.path.relpath(line.path, root) if beneath else line.path}
    if line.count is not None:
        row["count"] = line.count
    elif line.line is not None:
        row |= {"line": line.line, "text": line.text, "context": line.context}
    return row


def _text(row: Mapping[str, Any]) -> str:
    path = str(row["path"]).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if "count" in row:
        return f"{path}:{row['count']}"
    if "line" not in row:
        return path
    mark = "-" if row["context"] else ":"
    return f"{path}{mark}{row['line']}{mark}{row['text']}"
