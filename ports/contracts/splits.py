"""Every way in which a network may cut a stream of bytes."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def splits(data: bytes) -> Iterator[tuple[bytes, ...]]:
    """*data* whole, byte by byte, cut in two at each place, and cut in two with an empty piece between."""
    yield (data,)
    yield tuple(data[at : at + 1] for at in range(len(data)))
    for at in range(1, len(data)):
        yield data[:at], data[at:]
    yield data[: len(data) // 2], b"", data[len(data) // 2 :]


def same_for_every_split(decode: Callable[[Sequence[bytes]], T], data: bytes) -> T:
    """
    What *decode* makes of *data*, which must be the same however it is cut.

    *decode* gets the pieces and starts afresh each time.
    """
    whole: list[T] = []
    for pieces in splits(data):
        got = decode(pieces)
        if not whole:
            whole.append(got)
        elif got != whole[0]:
            cut = [len(piece) for piece in pieces[:4]]
            raise AssertionError(f"cut into pieces of {cut}… bytes: got {got!r}, uncut {whole[0]!r}")
    return whole[0]
