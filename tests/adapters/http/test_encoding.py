"""Compressed bodies (N7)."""

import gzip
import zlib

import pytest

from norma.adapters.http.encoding import BadEncoding, inflater_for

TEXT = b"".join(b"line %d of a text\n" % number for number in range(3000))


def raw_deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


def inflated(encoding: str, pieces: list[bytes]) -> tuple[bytes, bool]:
    inflater = inflater_for(encoding)
    assert inflater is not None
    out = b""
    for piece in pieces:
        out += inflater.take(piece)
        while inflater.has_more:
            out += inflater.take(b"")
    return out, inflater.ended


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(TEXT)),
        ("X-Gzip", gzip.compress(TEXT)),
        ("gzip", gzip.compress(TEXT[:1000]) + gzip.compress(TEXT[1000:])),
        ("gzip", gzip.compress(TEXT) + b"\0" * 10),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", raw_deflate(TEXT)),
    ],
)
def test_N7_what_was_offered_is_decoded_however_it_is_cut(encoding: str, body: bytes) -> None:
    for size in (1, 7, 1000, len(body)):
        pieces = [body[at : at + size] for at in range(0, len(body), size)]
        assert inflated(encoding, pieces) == (TEXT, True)


def test_N7_a_cut_body_is_known_as_cut() -> None:
    for body, encoding in ((gzip.compress(TEXT), "gzip"), (zlib.compress(TEXT), "deflate")):
        out, ended = inflated(encoding, [body[:-1]])
        assert not ended
        assert TEXT.startswith(out)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, br", "compress"])
def test_N7_another_encoding_is_named(encoding: str) -> None:
    with pytest.raises(BadEncoding, match=encoding):
        inflater_for(encoding)


def test_N7_damage_is_named() -> None:
    inflater = inflater_for("gzip")
    assert inflater is not None
    with pytest.raises(BadEncoding, match="gzip"):
        inflater.take(b"no gzip at all")


def test_N7_a_bomb_comes_out_in_small_pieces() -> None:
    inflater = inflater_for("gzip")
    assert inflater is not None
    assert len(inflater.take(gzip.compress(b"\0" * (50 << 20)))) <= 256 << 10
    assert inflater.has_more


@pytest.mark.parametrize("header", [None, "", "identity", " Identity "])
def test_a_plain_body_needs_nothing(header: str | None) -> None:
    assert inflater_for(header) is None
