"""`norma probe`: ask what is behind a port once, without schema, permission or hooks (contract W6)."""

from norma.app.cli.command import Command, run_async
from norma.app.cli.doctor import Check, report
from norma.app.running import open_parts
from norma.ports.web_search import SearchAnswer, SearchFailed, WebSearch

RESULTS = 3
_REMEDIES = {
    "blocked": "wait, or choose another backend with search.backend",
    "quota": "raise the plan, or choose another backend with search.backend",
    "auth": "set the variable that search.<backend>.api_key_env names to a valid key",
    "layout": "look for a newer version of Norma, or choose another backend with search.backend",
    "error": "look at search.<backend>.url and at the network settings",
    "empty": "try other words",
}


def run(command: Command) -> int:
    """Probe; status 0 if it works."""
    if command.options.what == "model":
        from norma.app.cli.probe_model import probe_models

        return run_async(probe_models(command))
    return run_async(_search(command))


async def _search(command: Command) -> int:
    async with open_parts(command.settings, environ=command.environ) as parts:
        check = await probed(parts.web_search(), command.options.query or "weather")
    return report(command.output, [check])


async def probed(search: WebSearch, query: str) -> Check:
    """Ask *search* once, and say how it went."""
    name = f"search {search.name}"
    try:
        answer = await search.search(query, RESULTS)
    except SearchFailed as error:
        return Check(name, False, f"{error.failure.kind}: {error}", _REMEDIES["error"])
    return Check(name, answer.outcome == "results", _told(answer), _REMEDIES.get(answer.outcome))


def _told(answer: SearchAnswer) -> str:
    count = len(answer.results)
    first = f", the first {answer.results[0].url}" if answer.results else ""
    notes = f" ({'; '.join(answer.notes)})" if answer.notes else ""
    return f"{answer.outcome}: {count} result{'' if count == 1 else 's'}{first}{notes}"
