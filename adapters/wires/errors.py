"""
What providers' errors mean (contract M3). Pure.

A status decides first; inside a 200 answer the provider's code does, then its type. Words never decide.
"""

from collections.abc import Mapping
from typing import Any

from norma.adapters.http.json_text import parse, whole_text
from norma.domain.model.failures import Failure, FailureKind, ProviderWords
from norma.domain.model.secrets import Secret

MOST_SHOWN = 500
"""Characters of a body that a message shows."""

_BY_STATUS: Mapping[int, FailureKind] = {
    401: "authentication",
    402: "permission",
    403: "permission",
    404: "not_found",
    407: "proxy",
    408: "timeout",
    413: "context_overflow",
    429: "rate_limited",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}

_OVERFLOW = frozenset(
    {
        "context_length_exceeded",
        "context_window_exceeded",
        "model_context_window_exceeded",
        "exceed_context_size_error",
        "request_too_large",
    }
)

_BY_WORD: Mapping[str, FailureKind] = {
    **dict.fromkeys(_OVERFLOW, "context_overflow"),
    "authentication_error": "authentication",
    "invalid_api_key": "authentication",
    "invalid_authentication_error": "authentication",
    "billing_error": "permission",
    "insufficient_quota": "permission",
    "permission_error": "permission",
    "model_not_found": "not_found",
    "not_found_error": "not_found",
    "invalid_request_error": "invalid_request",
    "rate_limit_error": "rate_limited",
    "rate_limit_exceeded": "rate_limited",
    "rate_limit_reached_error": "rate_limited",
    "requests": "rate_limited",
    "tokens": "rate_limited",
    "engine_overloaded_error": "overloaded",
    "overloaded_error": "overloaded",
    "service_unavailable": "overloaded",
    "api_error": "server",
    "internal_error": "server",
    "internal_server_error": "server",
    "provider_unavailable": "server",
    "server_error": "server",
    "server_shutting_down": "server",
    "upstream_error": "server",
    "timeout_error": "timeout",
    "deadline_exceeded": "timeout",
    "exceeded_current_quota_error": "permission",
    "permission_denied": "permission",
    "permission_denied_error": "permission",
    "unauthenticated": "authentication",
    "not_found": "not_found",
    "resource_not_found_error": "not_found",
    "invalid_argument": "invalid_request",
    "resource_exhausted": "rate_limited",
    "throttling_exception": "rate_limited",
    "too_many_requests": "rate_limited",
    "overloaded": "overloaded",
    "server_is_overloaded": "overloaded",
    "slow_down": "overloaded",
    "service_unavailable_error": "overloaded",
    "unavailable": "overloaded",
    "internal": "server",
}


def _plain(word: str) -> str:
    """A word without what providers write differently: `InternalServerError`, `internal_server_error`."""
    return word.lower().replace("_", "").replace("-", "").replace(" ", "")


_BY_PLAIN_WORD: Mapping[str, FailureKind] = {_plain(word): kind for word, kind in _BY_WORD.items()}
_PLAIN_OVERFLOW = frozenset(map(_plain, _OVERFLOW))


class WireError(Exception):
    """
    A reply that says, or shows, that it will not come to a good end.

    *may_retry*: nothing of it was shown and another attempt may do better; whoever asks decides.
    """

    def __init__(self, failure: Failure, *, may_retry: bool = False) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.may_retry = may_retry


def status_kind(status: int) -> FailureKind:
    """The condition that a status other than 200 stands for."""
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if 400 <= status < 500:
        return "invalid_request"
    return "server" if 500 <= status < 600 else "protocol"


def http_failure(
    host: str, status: int, body: bytes, headers: Mapping[str, str], asked_wait_s: float | None = None
) -> Failure:
    """The failure that an answer with *status* is. *body* may be cut and anything at all."""
    words = provider_words(body, headers)
    kind = status_kind(status)
    if kind == "invalid_request" and _PLAIN_OVERFLOW & {_plain(words.code or ""), _plain(words.type or "")}:
        kind = "context_overflow"
    said = words.message or excerpt(body)
    who = f"the proxy for {host}" if status == 407 else host
    message = f"{who} answered with status {status}" + (f": {said}" if said else " and nothing else")
    return Failure(kind, message + _facts(words), "http", status, words, asked_wait_s)


def api_failure(host: str, error: object, *, statuses: frozenset[int]) -> WireError:
    """
    The error that a 200 answer carries as *error*.

    It may be retried if its numeric code is one of *statuses*, or by its kind.
    """
    words = _words_of(error)
    kind = _kind_of(words)
    message = f"{host} reported an error: {words.message or excerpt_of(error)}{_facts(words)}"
    code = _numeric(words.code)
    may_retry = code in statuses or kind in ("rate_limited", "overloaded", "server")
    return WireError(Failure(kind, message, "api", provider=words), may_retry=may_retry)


def error_in(value: Mapping[str, Any]) -> object | None:
    """The error that an event or a body holds, or is; None: it is none."""
    error: object = value.get("error")
    if error:
        return error
    return value if value.get("type") == "error" or value.get("object") == "error" else None


def number_in(value: object, name: str) -> int | None:
    """A code, which may be written as text; None if it is no number."""
    found = value.get(name) if isinstance(value, dict) else None
    return _numeric(_text(found))


def protocol_error(message: str) -> WireError:
    """An answer that can't be understood. Another attempt would most likely get the same."""
    return WireError(Failure("protocol", message, "transport"))


def dropped(host: str, why: str) -> WireError:
    """An answer that ended before its end mark."""
    message = f"the answer of {host} broke off before its end: {why}"
    return WireError(Failure("stream_dropped", message, "transport"), may_retry=True)


def provider_words(body: bytes, headers: Mapping[str, str]) -> ProviderWords:
    """The provider's own description in the body of an error, as far as there is one."""
    try:
        value = parse(body)
    except ValueError:
        value = None
    if isinstance(value, list) and value:
        value = value[0]
    words = _words_of(value.get("error", value) if isinstance(value, dict) else None)
    request_id = next((found for name in _ID_HEADERS if (found := headers.get(name))), None)
    if request_id is None and isinstance(value, dict):
        request_id = _text(value.get("request_id"))
    return ProviderWords(words.type, words.code, words.message, request_id)


_ID_HEADERS = ("x-request-id", "request-id", "apim-request-id", "x-amzn-requestid", "cf-ray")


def excerpt(body: bytes) -> str:
    """The beginning of a body, on one line."""
    text = " ".join(body[: 4 * MOST_SHOWN].decode("utf-8", "replace").split())
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def excerpt_of(value: object) -> str:
    """The beginning of some JSON, for a message."""
    return excerpt(str(value).encode("utf-8", "replace"))


def without_secrets(failure: Failure, secrets: tuple[Secret, ...]) -> Failure:
    """*failure* with every secret that a server echoed written as `***`."""
    texts = [text for secret in secrets if (text := secret.reveal().strip())]

    def clean(value: str | None) -> str | None:
        for text in texts:
            value = value and value.replace(text, "***")
        return value

    words = failure.provider
    cleaned = ProviderWords(
        clean(words.type), clean(words.code), clean(words.message), clean(words.request_id)
    )
    message = clean(failure.message) or failure.message
    return Failure(failure.kind, message, failure.source, failure.status, cleaned, failure.retry_after_s)


def _words_of(error: object) -> ProviderWords:
    """An error object, in the fields that providers use for it."""
    if isinstance(error, str):
        return ProviderWords(message=whole_text(error))
    if not isinstance(error, dict):
        return ProviderWords()
    message = error.get("message") or error.get("detail") or error.get("msg")
    metadata, status = error.get("metadata"), error.get("status")
    kind = error.get("type") if error.get("type") != "error" else None
    kind = kind or (metadata.get("error_type") if isinstance(metadata, dict) else None)
    code = error.get("code")
    if code is None:
        code = next((number for name in _NUMBERS if (number := number_in(error, name)) is not None), None)
    if kind is None and isinstance(status, str) and not status.isdigit():
        kind = status  # Google's word for it
    return ProviderWords(
        _text(kind), _text(code), whole_text(message) if isinstance(message, str) else _text(message)
    )


_NUMBERS = ("status", "status_code", "http_code")
"""Where an HTTP status may stand in an error that has no code."""


def _kind_of(words: ProviderWords) -> FailureKind:
    code = _numeric(words.code)
    if code is not None and 400 <= code < 600:
        return status_kind(code)
    for word in (words.code, words.type):
        if word is not None and (kind := _BY_PLAIN_WORD.get(_plain(word))) is not None:
            return kind
    # Nobody can say whether an unknown error would pass, so it is not one of those that are retried.
    return "invalid_request"


def _facts(words: ProviderWords) -> str:
    facts = [
        f"{name} {value}"
        for name, value in (("type", words.type), ("code", words.code), ("request", words.request_id))
        if value
    ]
    return f" ({', '.join(facts)})" if facts else ""


def _numeric(code: str | None) -> int | None:
    return int(code) if code is not None and code.isascii() and code.isdigit() and len(code) < 6 else None


def _text(value: Any) -> str | None:
    return None if value is None or isinstance(value, bool) else whole_text(str(value)[:MOST_SHOWN])
