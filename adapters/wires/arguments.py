"""Tool arguments: read once, whole, and never guessed (contract M12). Pure."""

from collections.abc import Mapping
from typing import Any

from norma.adapters.http.json_text import parse_exactly, whole, write


def read_arguments(raw: str) -> Mapping[str, Any] | None:
    """
    The object that *raw* holds, integers exact; empty, blank or null is `{}`; None: it is no JSON object.

    Lone surrogates and NUL become U+FFFD, so the value can always be encoded.
    """
    text = raw.strip(" \t\r\n")
    if not text or text == "null":
        return {}
    try:
        value = parse_exactly(text)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    return encodable(value, raw)


def encodable(value: dict[str, Any], raw: str) -> Mapping[str, Any]:
    """*value* without lone surrogates and NUL; *raw* is the text that it was read from."""
    if raw.isascii() and "\\u" not in raw:
        return value
    cleaned: dict[str, Any] = _without_nul(whole(value))
    return cleaned


def write_arguments(arguments: Mapping[str, Any]) -> str:
    """Arguments as the JSON text that goes back to a provider."""
    return write(arguments).decode("utf-8")


def write_invalid(raw: str | None) -> str:
    """Arguments that were no JSON object, as an object that shows the model what it wrote."""
    return write({"INVALID_JSON": raw or ""}).decode("utf-8")


def _without_nul(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "\ufffd")
    if isinstance(value, dict):
        return {_without_nul(key): _without_nul(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_nul(item) for item in value]
    return value
