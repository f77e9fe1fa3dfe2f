"""When a failed attempt is made again, and how long to wait before (contract M1). Pure."""

from collections.abc import Mapping

from norma.domain.model.values import frozen


@frozen
class RetryPolicy:
    """
    How often a logical request is tried again before anything of its reply was shown.

    *retries* come on top of the first attempt. Waits double from *first_wait_s* up to *most_wait_s*; with
    *jitter* a wait is something between its half and its whole. The server's own wish is a floor, itself
    capped at *most_asked_wait_s*. *empty_retries*: how often a normal answer without any content is asked
    again, on the wire that does so (C5).
    """

    retries: int = 3
    first_wait_s: float = 0.5
    most_wait_s: float = 8.0
    jitter: bool = True
    most_asked_wait_s: float = 60.0
    statuses: frozenset[int] = frozenset({408, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
    empty_retries: int = 2

    def wait_s(self, retry: int, chance: float, asked_s: float | None = None) -> float:
        """
        Seconds to wait before the retry with this number, counted from 1.

        *chance* is from 0 up to 1, *asked_s* what the server asked for.
        """
        wait = min(self.first_wait_s * 2.0 ** min(retry - 1, 60), self.most_wait_s)
        if self.jitter:
            wait *= 0.5 + chance / 2
        return wait if asked_s is None else max(wait, min(asked_s, self.most_asked_wait_s))


def asked_wait_s(headers: Mapping[str, str], now: str) -> float | None:
    """
    The wait that an answer asks for, in seconds from *now* (ISO 8601).

    `retry-after-ms` comes before `Retry-After` in seconds or as a date; rubbish and the past are no wish.
    *headers* are read without regard to letter case.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    return seconds if seconds is not None or value is None else _seconds_until(value, now)


def forbids_retry(headers: Mapping[str, str]) -> bool:
    """Whether the server said that trying again makes no sense."""
    return headers.get("x-should-retry", "").strip().lower() == "false"


def _number(text: str | None) -> float | None:
    """Digits, with a point or without; `float` alone reads more than any server means."""
    text = (text or "").strip()
    if not text.isascii() or not text.replace(".", "", 1).isdigit():
        return None
    number = float(text)
    return number if number < float("inf") else None


def _seconds_until(date: str, now: str) -> float | None:
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    try:
        then = parsedate_to_datetime(date)
        if then.tzinfo is None:
            then = then.replace(tzinfo=UTC)
        seconds = (then - datetime.fromisoformat(now)).total_seconds()
    except (ValueError, OverflowError):
        return None
    return seconds if seconds > 0 else None
