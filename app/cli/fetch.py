"""`norma fetch`: one page as Markdown, within the bounds of the model's WebFetch."""

from norma.app.cli.command import Command, run_async
from norma.app.cli.conversation import approver_for
from norma.app.cli.permission import allow_typed, permit
from norma.app.running import open_parts
from norma.domain.tools.web_fetch import SPEC, web_fetch_action
from norma.ports.page_fetch import Page, PageRequest
from norma.ports.urls import WebUrl


def run(command: Command) -> int:
    """Fetch, and print the page, whatever its status. A refused URL or hop is a failure."""
    return run_async(_fetch(command))


async def _fetch(command: Command) -> int:
    asked = approver_for(command)

    async with open_parts(command.settings, environ=command.environ) as parts:
        pages, policy = parts.pages(), parts.policy().policy

        async def hop(target: WebUrl) -> None:
            await permit(policy, SPEC, web_fetch_action(target), asked.ask)

        url = pages.target(command.options.url)
        allow_typed(policy, SPEC, web_fetch_action(url))
        page = await pages.fetch(PageRequest(url, command.options.extract), hop=hop)
    record = {
        "type": "page",
        "requested_url": page.requested_url,
        "url": page.url,
        "status": page.status,
        "headers": dict(page.headers),
        "markdown": page.markdown,
        "notes": list(page.notes),
    }
    command.output.record(record, _text(page))
    if not command.options.json:
        for note in page.notes:
            command.output.note(note)
    return 0


def _text(page: Page) -> str:
    status = f"[{page.status} {page.reason}]" if page.reason else f"[{page.status}]"
    return "\n".join(filter(None, (f"{status} {page.url}", page.markdown)))
