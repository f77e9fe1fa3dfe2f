"""
The guided model's next step. Pure: the same request gives the same step, and nothing is remembered.

First the terms of the prompt are searched for, once more and wider when that found nothing; then the best
places are read; then it is time to answer. Only tools that the request offers are used.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from norma.adapters.embedded.conversation import Done, Exchange, call_id, last_exchange, next_number
from norma.adapters.embedded.places import Hit, Place, best_places, has_more, hits_in
from norma.adapters.embedded.terms import Term, plain_terms, terms_of
from norma.domain.model.blocks import ToolCall
from norma.domain.model.requests import ReplyRequest
from norma.domain.model.values import frozen

SEARCH = "Grep"
READ = "Read"

_ROWS = 300
"""Rows of one search. They come in the order of paths, so a low limit would hide whole folders."""

_OR = "|"
_PLACES = 3
_LINES_BEFORE = 3
_LINES = 28


@frozen
class Talk:
    """Nothing to look up: the real model answers *prompt*."""

    prompt: str


@frozen
class UseTools:
    """Say *words*, then make *calls*."""

    words: str
    calls: tuple[ToolCall, ...]


@frozen
class Report:
    """
    Time to answer *prompt* from *places*, the best first.

    *reads* are the answered Read calls, *searched* what was looked for, *failed* the calls that gave an
    error. *total* lines in *files* files were found, and there are more if a search was *cut* short.
    """

    prompt: str
    places: tuple[Place, ...]
    reads: tuple[Done, ...]
    searched: tuple[str, ...]
    failed: tuple[Done, ...]
    total: int
    files: int
    cut: bool


Step: TypeAlias = Talk | UseTools | Report


def next_step(request: ReplyRequest) -> Step:
    """What to do now about *request*."""
    exchange = last_exchange(request)
    terms = terms_of(exchange.prompt)
    offered = {tool.name for tool in request.tools}
    number = next_number(request)
    if not exchange.rounds:
        first = _first_calls(terms, offered, number)
        return UseTools(_looking_for(terms), first) if first else Talk(exchange.prompt)
    hits = _hits(exchange)
    if not hits and len(exchange.rounds) == 1 and (wider := _wider_calls(exchange, terms, number)):
        return UseTools("Nothing yet; looking for single words.\n", wider)
    everything = (*terms, *plain_terms(terms))
    places = _worth_reading(best_places(hits, everything, _PLACES))
    if places and READ in offered and not _has_read(exchange):
        return UseTools("Reading the best places.\n", _read_calls(places, number))
    return _report(exchange, places, hits, {term.pattern: term.shown for term in everything})


def _worth_reading(places: tuple[Place, ...]) -> tuple[Place, ...]:
    """Without those that are far behind the best."""
    return tuple(place for place in places if place.score >= places[0].score / 2 or place is places[0])


def _looking_for(terms: Sequence[Term]) -> str:
    return f"Looking for {', '.join(term.shown for term in terms)}.\n"


def _first_calls(terms: Sequence[Term], offered: set[str], number: int) -> tuple[ToolCall, ...]:
    """A search for each strong term, else for each plain word; files that are named are read too."""
    wanted: list[tuple[str, Mapping[str, Any]]] = []
    if READ in offered:
        wanted += [(READ, {"file_path": term.file, "limit": _LINES}) for term in terms if term.file]
    if SEARCH in offered:
        sought = [term for term in terms if term.strong] or terms
        wanted += [(SEARCH, _search(term.pattern)) for term in sought]
    return _numbered(wanted, number)


def _wider_calls(exchange: Exchange, terms: tuple[Term, ...], number: int) -> tuple[ToolCall, ...]:
    """A search for the single words, unless all of that was searched for already or a search was refused."""
    searches = exchange.done(SEARCH)
    if not searches or any(done.result.is_error for done in searches) or _files_read(exchange):
        return ()
    tried = {done.call.arguments.get("pattern") for done in searches}
    patterns = [term.pattern for term in plain_terms(terms) if term.pattern not in tried]
    return _numbered([(SEARCH, _search(_OR.join(patterns)))], number) if patterns else ()


def _read_calls(places: Sequence[Place], number: int) -> tuple[ToolCall, ...]:
    wanted = [
        (READ, {"file_path": place.path, "offset": max(1, place.line - _LINES_BEFORE), "limit": _LINES})
        for place in places
    ]
    return _numbered(wanted, number)


def _search(pattern: str) -> Mapping[str, Any]:
    return {"pattern": pattern, "output_mode": "content", "-i": True, "-n": True, "head_limit": _ROWS}


def _numbered(wanted: Sequence[tuple[str, Mapping[str, Any]]], number: int) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(call_id(number + at), name, arguments) for at, (name, arguments) in enumerate(wanted)
    )


def _hits(exchange: Exchange) -> tuple[Hit, ...]:
    found = [hits_in(done.text) for done in exchange.done(SEARCH) if not done.result.is_error]
    return tuple(hit for hits in found for hit in hits)


def _files_read(exchange: Exchange) -> bool:
    return any(not done.result.is_error for done in exchange.done(READ))


def _has_read(exchange: Exchange) -> bool:
    """Whether the places were read; files that the prompt named are read in the first round already."""
    return any(done.call.name == READ for one in exchange.rounds[1:] for done in one)


def _report(
    exchange: Exchange, places: tuple[Place, ...], hits: tuple[Hit, ...], names: Mapping[str, str]
) -> Report:
    calls = [done for one in exchange.rounds for done in one]
    searches = [str(done.call.arguments.get("pattern", "")) for done in exchange.done(SEARCH)]
    patterns = [pattern for search in searches for pattern in _alternatives(search, names)]
    return Report(
        prompt=exchange.prompt,
        places=places,
        reads=tuple(done for done in exchange.done(READ) if not done.result.is_error),
        searched=tuple(names.get(pattern, pattern) for pattern in dict.fromkeys(patterns)),
        failed=tuple(done for done in calls if done.result.is_error),
        total=len({(hit.path, hit.line) for hit in hits}),
        files=len({hit.path for hit in hits}),
        cut=any(has_more(done.text) for done in exchange.done(SEARCH)),
    )


def _alternatives(pattern: str, names: Mapping[str, str]) -> list[str]:
    """The patterns that a wider search was put together from."""
    return [pattern] if pattern in names else pattern.split(_OR)
