"""What a list of sessions says about one, kept up to date entry by entry. Pure."""

from collections.abc import Sequence

from norma.domain.model.blocks import text_of
from norma.domain.model.changes import evolve
from norma.domain.model.facts import Fact, Prompted, Resumed, SessionOpened, TurnEnded
from norma.ports.journal import SessionInfo

TITLE_LENGTH = 80
"""Characters of the first prompt that make the title."""


def listed(info: SessionInfo | None, session: str, facts: Sequence[Fact], now: str) -> SessionInfo:
    """The line of *session* after *facts* were appended at *now*; *info* is the line before, if any."""
    if info is None:
        info = SessionInfo(session, now, now, None, 0, None, "")
    created, workspace = info.created, info.workspace
    turns, outcome, title = info.turns, info.outcome, info.title
    for fact in facts:
        if isinstance(fact, SessionOpened):
            created, workspace = fact.created, fact.workspace
        elif isinstance(fact, Prompted):
            turns, outcome = turns + 1, None
            title = title or _title(fact)
        elif isinstance(fact, TurnEnded):
            outcome = fact.outcome
        elif isinstance(fact, Resumed) and outcome == "waiting":
            outcome = None
    return evolve(
        info, created=created, updated=now, workspace=workspace, turns=turns, outcome=outcome, title=title
    )


def listed_whole(session: str, entries: Sequence[Sequence[Fact]], now: str) -> SessionInfo:
    """The line of a session that is made at *now* of *entries* that another one had before."""
    facts = [fact for entry in entries for fact in entry]
    return evolve(listed(None, session, facts, now), created=now)


def _title(prompt: Prompted) -> str:
    # The beginning is cut before the words are joined, so a huge prompt costs no more than a small one.
    return " ".join(text_of(prompt.blocks)[: 4 * TITLE_LENGTH].split())[:TITLE_LENGTH]
