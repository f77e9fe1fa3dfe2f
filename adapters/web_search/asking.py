"""One request to a backend: within its deadline and 2 MiB, and what its status means."""

import asyncio
import json
import re
from collections.abc import Mapping
from html import unescape
from typing import Any, TypeAlias

from norma.adapters.http.call import Call, CallFailed
from norma.adapters.http.egress import Egress
from norma.domain.model.failures import Failure
from norma.domain.model.secrets import Secret
from norma.domain.model.values import frozen
from norma.ports.web_search import MOST_RESULTS, Outcome, SearchAnswer, SearchFailed, SearchHit

MOST_BYTES = 2 << 20
SHOWN = 200
"""Characters of an unexpected body that a note shows."""

_TAG = re.compile(r"</?[A-Za-z!][^<>]*>")
_SPACE = re.compile(r"\s+")
_KEY = re.compile(r"[\x21-\x7e]+")
_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")

Headers: TypeAlias = Mapping[str, str]


@frozen
class Said:
    """A whole answer of a backend; header names are in small letters."""

    status: int
    headers: Headers
    body: bytes

    @property
    def content_type(self) -> str:
        """The media type, for notes."""
        return self.headers.get("content-type", "none").partition(";")[0].strip()[:80]

    @property
    def retry_after_s(self) -> float | None:
        """The wait that a Retry-After in seconds asks for."""
        text = self.headers.get("retry-after", "").strip()
        return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else None

    def json(self) -> Any:
        """The body as JSON; raises ValueError."""
        try:
            return json.loads(self.body.decode("utf-8", "replace"))
        except RecursionError:
            raise ValueError("the JSON is nested too deeply") from None

    def beginning(self) -> str:
        """The first words of the body, without tags."""
        return clean(self.body[: 20 * SHOWN].decode("utf-8", "replace"))[:SHOWN]


async def ask(egress: Egress, call: Call, *, backend: str, timeout_s: float) -> Said:
    """Send *call* once and read its answer whole. Raises SearchFailed."""
    try:
        async with asyncio.timeout(timeout_s):
            answer = await egress.send(call)
            try:
                body, cut = await answer.read_up_to(MOST_BYTES)
            finally:
                answer.close()
    except TimeoutError:
        message = f"{backend} did not answer within {timeout_s:g} s"
        raise SearchFailed(Failure("timeout", message, "transport")) from None
    except CallFailed as error:
        raise SearchFailed(error.failure) from error
    if cut:
        message = f"the answer of {backend} is longer than 2 MiB"
        raise SearchFailed(Failure("protocol", message, "transport"))
    return Said(answer.status, {name.lower(): value for name, value in answer.headers.items()}, body)


def key_fault(backend: str, key: Secret | None) -> SearchAnswer | None:
    """The answer where there is no usable key: nothing is sent. None if *key* can be sent."""
    setting = f"search.{backend}.api_key_env names the variable that holds it"
    if key is None or not key.reveal():
        return SearchAnswer("auth", notes=(f"{backend} needs an API key; {setting}",))
    if not _KEY.fullmatch(key.reveal()):
        words = f"the API key of {backend} has blanks or letters that no key has; {setting}"
        return SearchAnswer("auth", notes=(words,))
    return None


def refused(backend: str, outcome: Outcome, said: Said, words: str = "") -> SearchAnswer:
    """An answer without results, told by its status and the backend's own *words*."""
    about = clean(words)[:SHOWN] or said.beginning()
    note = f"{backend} answered with status {said.status}" + (f": {about}" if about else "")
    wait = said.retry_after_s if outcome == "blocked" else None
    return SearchAnswer(outcome, retry_after_s=wait, notes=(note,))


def not_json(backend: str, said: Said) -> SearchAnswer:
    """A 200 whose body is no JSON: a portal or a proxy answered."""
    shown = said.beginning() or "(an empty body)"
    note = f"{backend} answered with {said.content_type} instead of JSON: {shown}"
    return SearchAnswer("error", notes=(note,))


def strange(backend: str, what: str) -> SearchAnswer:
    """JSON of a shape that this version does not know."""
    return SearchAnswer("layout", notes=(f"{backend} answered in an unknown shape: {what}",))


def found(hits: list[SearchHit], limit: int, notes: tuple[str, ...] = ()) -> SearchAnswer:
    """Results, or that there are none."""
    shown = tuple(hits[: capped(limit)])
    return SearchAnswer("results" if shown else "empty", shown, notes=notes)


def hits_of(rows: Any, *, title: str, url: str, snippet: str) -> list[SearchHit] | None:
    """The rows of a JSON list by the names of their fields; None if it is no list. Rows without URL go."""
    if not isinstance(rows, list):
        return None
    hits = []
    for row in rows:
        address = row.get(url) if isinstance(row, dict) else None
        if isinstance(address, str) and is_web(address):
            hits.append(SearchHit(clean(row.get(title)) or address, address.strip(), clean(row.get(snippet))))
    return hits


def capped(limit: int) -> int:
    """How many results may be asked for."""
    return max(1, min(limit, MOST_RESULTS))


def is_web(url: str) -> bool:
    """Whether *url* is http or https, and nothing that a result should not be."""
    text = url.strip()
    return text.lower().startswith(("http://", "https://")) and not _SPACE.search(text) and len(text) < 8000


def clean(text: Any) -> str:
    """Plain text: tags and entities undone, white space as one; anything but a string is empty."""
    if not isinstance(text, str):
        return ""
    return line(unescape(_TAG.sub("", text)))


def line(text: str) -> str:
    """*text*, which is no markup, in one line."""
    return _SPACE.sub(" ", _UNPRINTABLE.sub("\ufffd", text)).strip()
