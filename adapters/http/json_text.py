"""
JSON as the wires need it: quick, and exact where the quick library is not.

orjson turns integers over 64 bits into floats and refuses half surrogate pairs, so it reads and writes
envelopes, and `json` does what it fails at. Both write UTF-8, and neither writes NaN or infinity: orjson
makes them null, `json` refuses them.
"""

import json
import math
from collections.abc import Callable
from typing import Any, NoReturn


def parse(data: bytes | str) -> Any:
    """
    The value of an envelope.

    Bytes that are no UTF-8 are read as U+FFFD; half surrogate pairs are kept. Raises ValueError.
    """
    import orjson

    try:
        return orjson.loads(data)
    except ValueError:
        return parse_exactly(data)


def quick_parser() -> Callable[[bytes], Any]:
    """What reads an envelope quickly, and refuses with ValueError what only `parse_exactly` reads."""
    import orjson

    return orjson.loads


def parse_exactly(data: bytes | str) -> Any:
    """
    The value with every integer exact. For text whose values matter, such as a tool's input.

    Raises ValueError, also for NaN, for a number that is no finite float, for an integer of thousands of
    digits and for nesting too deep to read.
    """
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    try:
        return _exact.decode(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None


def write(value: Any) -> bytes:
    """
    *value* as strict JSON in UTF-8; lone surrogates become U+FFFD.

    Raises ValueError or TypeError for what JSON has no form for.
    """
    import orjson

    try:
        return orjson.dumps(value)
    except (TypeError, ValueError):
        text = json.dumps(whole(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8")


def whole(value: Any) -> Any:
    """A copy in which surrogate pairs are joined and lone halves are U+FFFD, keys included."""
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, dict):
        return {whole(key): whole(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [whole(item) for item in value]
    return value


def whole_text(text: str) -> str:
    """*text* in which surrogate pairs are joined and lone halves are U+FFFD."""
    if is_whole(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def is_whole(text: str) -> bool:
    """Whether *text* can be encoded: it has no half of a surrogate pair."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {digits[:40]} is too large")
    return number


_exact = json.JSONDecoder(parse_float=_finite, parse_constant=_no_constant)
