"""`norma doctor`: build everything, and say what is missing and what would mend it."""

from collections.abc import AsyncIterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from attrs import asdict

from norma.app.cli.command import Command, run_async
from norma.app.cli.output import Output
from norma.app.container import Container
from norma.app.parts import journal_path
from norma.app.running import models_of, open_parts
from norma.app.settings import SettingsError
from norma.domain.model.values import frozen
from norma.ports.errors import PortError
from norma.ports.file_search import SearchQuery


@frozen
class Check:
    """One thing that was looked at. *remedy* says what would mend it, if anything is to be mended."""

    name: str
    ok: bool
    detail: str
    remedy: str | None = None


def run(command: Command) -> int:
    """Report; status 0 if nothing is wrong."""
    return run_async(_report(command))


async def _report(command: Command) -> int:
    checks = [_settings(command)]
    try:
        async with open_parts(command.settings, environ=command.environ) as container:
            checks += [check async for check in _of_parts(container, command)]
    except SettingsError as error:
        checks.append(Check("workspace", False, str(error), "name an existing folder in workspace.roots"))
    checks += [
        _extra("cli", ("prompt_toolkit", "rich"), "chat has no line editor and no colours without it"),
        _extra("pdf", ("pypdf",), "PDFs are described and not read without it"),
    ]
    return report(command.output, checks)


def report(output: Output, checks: Sequence[Check]) -> int:
    """Print what was looked at; status 0 if nothing is wrong."""
    ok = all(check.ok for check in checks)
    output.record(
        {"type": "report", "ok": ok, "checks": [asdict(check) for check in checks]},
        "\n".join(map(_text, checks)),
    )
    return 0 if ok else 1


def _text(check: Check) -> str:
    remedy = f"\n     {check.remedy}" if check.remedy else ""
    return f"{'ok  ' if check.ok else 'FAIL'} {check.name}: {check.detail}{remedy}"


def _settings(command: Command) -> Check:
    files = (
        ", ".join(map(str, command.reading.files)) or "no file; defaults, environment and command line alone"
    )
    left_out = "; ".join(command.reading.notes) or None
    return Check("settings", True, files, left_out)


async def _of_parts(container: Container, command: Command) -> AsyncIterator[Check]:
    settings = container.settings()
    yield Check("workspace", True, ", ".join(container.workspace().roots))
    yield await _journal(container)
    yield await _model(container)
    yield await _search(container)
    names = ", ".join(tool.spec.name for tool in container.tools())
    yield Check("tools", True, f"{names}; the mode is {settings.permissions.mode}")


async def _journal(container: Container) -> Check:
    path = journal_path(container.settings(), container.environ())
    try:
        found = await container.journal().sessions(None)
    except PortError as error:
        return Check("journal", False, str(error), "mend or move the file, or name another with journal.path")
    return Check("journal", True, f"{path}, {len(found)} session{'' if len(found) == 1 else 's'}")


async def _model(container: Container) -> Check:
    try:
        choice = await models_of(container).choose()
    except SettingsError as error:
        return Check("model", False, str(error), "mend models.<name> in norma.toml")
    detail = "; ".join(choice.lines)
    if choice.embedded and find_spec("xllamacpp") is None:
        remedy = "pip install 'norma-agent[local]', or configure a model (models.<name>)"
        return Check("model", False, f"{detail}; its server's package is missing", remedy)
    return Check("model", True, detail)


async def _search(container: Container) -> Check:
    """Search our own folder once: which backend answers, and why."""
    query = SearchQuery("def run", str(Path(__file__).parent), limit=1)
    try:
        result = await container.search().search(
            query, progress=lambda line: None, excluded=lambda path: False
        )
    except (OSError, PortError, TimeoutError) as error:
        return Check(
            "search",
            False,
            f"{type(error).__name__}: {error}",
            "install ripgrep: pip install 'norma-agent[ripgrep]'",
        )
    why = f" ({'; '.join(result.notes)})" if result.notes else ""
    remedy = (
        "pip install 'norma-agent[ripgrep]' makes searches several times faster"
        if result.backend == "python"
        else None
    )
    return Check("search", True, f"by {result.backend}{why}", remedy)


def _extra(extra: str, packages: tuple[str, ...], without: str) -> Check:
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        return Check(
            f"extra {extra}", True, f"not installed: {without}", f"pip install 'norma-agent[{extra}]'"
        )
    return Check(f"extra {extra}", True, "installed")
