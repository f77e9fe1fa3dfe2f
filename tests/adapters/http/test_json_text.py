"""JSON, quick and exact (M12)."""

import json

import pytest

from norma.adapters.http.json_text import parse, parse_exactly, whole_text, write


def test_M12_lone_surrogates_are_replaced_and_pairs_joined() -> None:
    assert whole_text("a\ud83d b\udcffc \ud83d\ude42 é") == "a\ufffd b\ufffdc 🙂 é"


def test_M12_integers_are_exact() -> None:
    big = 2**80 + 1
    assert parse_exactly(f'{{"n": {big}}}') == {"n": big}
    assert write({"n": big}) == f'{{"n":{big}}}'.encode()
    assert write({"n": 2**63, "m": -(2**63)}) == b'{"n":9223372036854775808,"m":-9223372036854775808}'


@pytest.mark.parametrize(
    "text", ["NaN", "[Infinity]", '{"a": -Infinity}', "1e999", "[" * 100_000, "9" * 5_000]
)
def test_M12_what_is_no_sound_value_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_exactly(text)


def test_an_envelope_with_broken_utf8_or_half_pairs_is_read() -> None:
    assert parse(b'{"a": "\xff\\ud83d"}') == {"a": "\ufffd\ud83d"}


def test_what_is_written_is_strict_utf8_json() -> None:
    data = write({"k\udc80": ["v\ud83d", "\0", 2**70]})
    assert json.loads(data.decode("utf-8")) == {"k\ufffd": ["v\ufffd", "\0", 2**70]}
    with pytest.raises(ValueError):
        write({"a\ud800": float("nan")})
