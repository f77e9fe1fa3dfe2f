"""`norma sessions`: what the journal holds."""

from norma.app.cli.command import Command, run_async
from norma.app.running import open_parts
from norma.ports.journal import SessionInfo


def run(command: Command) -> int:
    """List the sessions of this workspace, or with --all every one, the latest first."""
    return run_async(_list(command))


async def _list(command: Command) -> int:
    async with open_parts(command.settings, environ=command.environ) as parts:
        workspace = None if command.options.all else parts.workspace().roots[0]
        found = await parts.journal().sessions(workspace)
    items = [
        {"id": one.id, "created": one.created, "turns": one.turns, "outcome": one.outcome} for one in found
    ]
    command.output.record({"type": "sessions", "items": items}, "\n".join(map(_row, found)))
    if not found:
        where = "" if command.options.all else " in this workspace (--all lists those of every one)"
        command.output.note(f"no session yet{where}")
    return 0


def _row(info: SessionInfo) -> str:
    outcome = info.outcome or "open"
    turns = f"{info.turns:>3} turn{'' if info.turns == 1 else 's'}"
    return f"{info.id}  {info.created[:19]}  {turns:<9}  {outcome:<12}  {info.title}"
