"""
Reads an order (one line of JSON) and a PDF from stdin, prints the pages as JSON lines, and ends.

The lines: `["page", number, of, text, fault]`, `["refused", why]`, and last `["end"]` unless it was refused.
Run in a process of its own: it limits and confines the process it runs in.
"""

import json
import logging
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from norma.adapters.process.confined import confine

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

MOST_CHARACTERS = 400_000
"""Of one page; a book has as many."""

_CONTROLS = {code: "\ufffd" for code in (*range(0x20), 0x7F) if code not in b"\t\n"}


class Refused(Exception):
    """Nothing of it can be read; the message says why."""


class TooSlow(BaseException):
    """A page takes more than its time. No Exception: a library may catch those and go on."""


def main() -> None:
    """The whole of the process."""
    order = json.loads(sys.stdin.buffer.readline())
    data = sys.stdin.buffer.read()
    logging.disable()
    import pypdf  # before the limits and the confinement: a library may look about when it is loaded

    limit(order)
    with open(1, "w", encoding="ascii", closefd=False) as output:
        confine()
        try:
            tell(output, pypdf.PdfReader, data, order)
        except Refused as error:
            put(output, "refused", str(error))
        else:
            put(output, "end")


def limit(order: dict[str, Any]) -> None:
    """Bound what this process may take."""
    bound(resource.RLIMIT_CPU, int(order["processor_s"]))
    bound(resource.RLIMIT_CORE, 0)
    if sys.platform == "linux":  # elsewhere it is not enforced, or refused
        bound(resource.RLIMIT_AS, order["memory"])
    signal.signal(signal.SIGPROF, ring)


def bound(kind: int, most: int) -> None:
    """Bound one thing, unless it is bound more tightly already."""
    _, hard = resource.getrlimit(kind)
    least = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (least, hard))


def tell(output: TextIO, opened: "type[PdfReader]", data: bytes, order: dict[str, Any]) -> None:
    """Tell the pages of *data*. Raises Refused."""
    with refusing():
        reader = opened(BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Refused("it is locked with a password")
        pages = reader.pages
        of = len(pages)
    for number in range(order["first"], of + 1):
        with refusing():
            page = pages[number - 1]
        put(output, "page", number, of, *text_of(page, order["page_s"]))


def text_of(page: "PageObject", seconds: float) -> tuple[str, str]:
    """The text of *page*, and why some or all of it is missing."""
    try:
        with bell(seconds):
            text = page.extract_text()
    except TooSlow:
        return "", f"it takes more than {seconds:g} s of processor time"
    except Exception as error:  # whatever a library says to a page that is not as it should be
        return "", fault_of(error)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS).split("\n")
    text = "\n".join(line.rstrip() for line in lines).strip("\n")
    if len(text) > MOST_CHARACTERS:
        return text[:MOST_CHARACTERS], f"only its first {MOST_CHARACTERS} characters are read"
    return text, ""


@contextmanager
def refusing() -> Iterator[None]:
    """Turn what a library says to a bad document into Refused."""
    try:
        yield
    except Refused:
        raise
    except Exception as error:  # of any kind: the bytes are anybody's
        raise Refused(fault_of(error)) from error


def fault_of(error: Exception) -> str:
    """What is wrong with a document that made a library raise *error*, on one line."""
    from pypdf.errors import DependencyError, EmptyFileError, LimitReachedError

    said = " ".join(f"{error}".split())[:200]
    match error:
        case MemoryError():
            return "it takes too much memory"
        case RecursionError():
            return "its parts lie inside each other too deeply"
        case LimitReachedError():
            return f"it is too large inside ({said})"
        case DependencyError():
            return f"it is encrypted in a way that takes one more package ({said})"
        case EmptyFileError():
            return "it is empty"
        case NotImplementedError():
            return f"it needs what is not supported ({said})"
        case _:
            return f"it is damaged ({type(error).__name__}: {said})"


@contextmanager
def bell(seconds: float) -> Iterator[None]:
    """Raise TooSlow in the block once it has taken *seconds* of processor time."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def ring(number: int, frame: FrameType | None) -> NoReturn:
    raise TooSlow


def put(output: TextIO, *record: Any) -> None:
    output.write(json.dumps(record, separators=(",", ":")) + "\n")
    output.flush()
