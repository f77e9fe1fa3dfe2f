"""`norma search`: results from the search backend of the settings."""

from norma.app.cli.arguments import UsageError
from norma.app.cli.command import Command, run_async
from norma.app.cli.permission import allow_typed
from norma.app.running import open_parts
from norma.domain.model import to_json
from norma.domain.tools.web_search import SearchTheWeb, answer_text
from norma.ports.web_search import MOST_RESULTS


def run(command: Command) -> int:
    """Search; status 0 for results and for none."""
    return run_async(_search(command))


async def _search(command: Command) -> int:
    options = command.options
    if not options.query.strip():
        raise UsageError("the query is empty")
    limit = options.limit if options.limit is not None else command.settings.search.limit
    if not 1 <= limit <= MOST_RESULTS:
        raise UsageError(f"--limit {limit}: from 1 to {MOST_RESULTS}")
    async with open_parts(command.settings, environ=command.environ) as parts:
        backend = parts.web_search()
        tool = SearchTheWeb(backend, limit)
        allow_typed(parts.policy().policy, tool.spec, tool.examine({"query": options.query}))
        answer = await backend.search(options.query.strip(), limit)
    record = {
        "type": "results",
        "outcome": answer.outcome,
        "results": [to_json(hit) for hit in answer.results],
        "retry_after_s": answer.retry_after_s,
        "notes": list(answer.notes),
    }
    command.output.record(record, answer_text(answer))
    return 0 if answer.outcome in ("results", "empty") else 1
