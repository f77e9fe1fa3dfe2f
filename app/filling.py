"""
Layers of plain values to `Settings`, with every fault of all layers told at once.

The fields of the classes of `settings` say what there may be; what a value must be is said here, one small
check per type.
A fault names the key, what would be right, and which source the value came from. It never shows
the value of a key that may hold a secret.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin
from urllib.parse import urlsplit

import attrs

from norma.app import settings as values
from norma.app.settings import RuleScope, Settings, SettingsError
from norma.app.sources import Layer, merged, with_absolute_paths

S = TypeVar("S", bound=Settings)
Path = tuple[str, ...]
Found = tuple[Path, str]


class Fault(ValueError):
    """What is wrong with one value, in words that go behind its path."""


def fill(kind: type[S], layers: Sequence[Layer]) -> S:
    """
    Settings of class *kind*; later layers win over earlier ones, rules add up.

    Raises:
        SettingsError: with every fault of every layer.
    """
    faults = [fault for layer in layers for fault in layer.faults]
    together: Any = {}
    origin: dict[Path, str] = {}
    for layer in layers:
        given = with_absolute_paths(layer)
        together = merged(together, given)
        origin.update((path, layer.name) for path in _paths(given))
    found: list[Found] = []
    filled = _filled(kind, together, (), found)
    if not found:
        found += _contradictions(filled)
    faults += [_told(path, what, origin) for path, what in found]
    if faults:
        raise SettingsError(faults)
    whole: S = attrs.evolve(filled, scopes=_scopes(layers))
    return whole


def _scopes(layers: Sequence[Layer]) -> tuple[RuleScope, ...]:
    """The rules of each layer under its name; the values are known to be right by now."""
    scopes = []
    for layer in layers:
        rules = layer.values.get("permissions", {})
        lists: Any = {name: tuple(rules.get(name, ())) for name in ("allow", "ask", "deny")}
        if any(lists.values()):
            scopes.append(RuleScope(layer.name, layer.scope, **lists))
    return tuple(scopes)


def _contradictions(filled: Settings) -> Iterator[Found]:
    """What is wrong between keys that are right by themselves."""
    for name, server in filled.mcp.servers.items():
        if (server.command is None) == (server.url is None):
            yield ("mcp", "servers", name), "needs either a command or a url"
    for name, value in filled.shell.env.items():
        if not name or "=" in name or "\0" in name + value:
            yield ("shell", "env", name), "no environment variable can be like this"
    for name, model in filled.models.items():
        if model.api_key_env and model.api_key_file:
            yield ("models", name), "has both api_key_env and api_key_file; one is enough"


# -- faults ------------------------------------------------------------------------------------------


def _paths(tree: Mapping[str, Any], at: Path = ()) -> Iterator[Path]:
    for key, value in tree.items():
        yield (*at, key)
        if isinstance(value, Mapping):
            yield from _paths(value, (*at, key))


def _told(path: Path, what: str, origin: Mapping[Path, str]) -> str:
    """The fault at *path*, with the source that gave the value (or the nearest table around it)."""
    known = path
    while known and known not in origin:
        known = known[:-1]
    source = f" ({origin[known]})" if known else ""
    return f"{'.'.join(path).replace('.[', '[') or 'settings'}: {what}{source}"


def _unknown(key: str, kind: type) -> str:
    if key in ("api_key", "key", "token", "secret"):
        return "unknown key; secrets don't stand in settings: name a variable with api_key_env"
    known = [field.name for field in _keys(kind)]
    return f"unknown key{_nearest(key, known) or '; known here: ' + ', '.join(known)}"


def _nearest(word: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, known, 1)
    return f"; did you mean {near[0]}?" if near else ""


# -- what each type accepts --------------------------------------------------------------------------


def _filled(kind: Any, value: Any, at: Path, found: list[Found]) -> Any:
    """*value* as a *kind*. What is wrong with it goes to *found*, and the result is of no use then."""
    try:
        if NoneType in get_args(kind):
            (kind,) = [one for one in get_args(kind) if one is not NoneType]
            return None if value is None else _filled(kind, value, at, found)
        if attrs.has(kind):
            return _table(kind, value, at, found)
        origin, inner = get_origin(kind), get_args(kind)
        if origin is Literal:
            return _one_of(inner, value)
        if origin is tuple:
            items = enumerate(_list(value))
            return tuple([_filled(inner[0], item, (*at, f"[{index}]"), found) for index, item in items])
        if origin is Mapping:
            return {key: _filled(inner[1], item, (*at, str(key)), found) for key, item in _pairs(value)}
        return _CHECKS[kind](value)
    except Fault as fault:
        found.append((at, str(fault)))
        return None


def _table(kind: Any, value: Any, at: Path, found: list[Found]) -> Any:
    given = dict(_pairs(value))
    before = len(found)
    filled = {}
    for field in _keys(kind):
        if field.name in given:
            item = given.pop(field.name)
            filled[field.name] = _filled(field.type, item, (*at, field.name), found)
        elif field.default is attrs.NOTHING:
            found.append(((*at, field.name), "is missing"))
    found += [((*at, key), _unknown(key, kind)) for key in sorted(map(str, given))]
    return kind(**filled) if len(found) == before else None


def _keys(kind: Any) -> list["attrs.Attribute[Any]"]:
    """The fields of a table that a source may give."""
    return [field for field in attrs.fields(kind) if field.name != "scopes"]


def _pairs(value: Any) -> Iterable[tuple[Any, Any]]:
    if not isinstance(value, Mapping):
        raise Fault(f"expected a table, got {_kind_of(value)}")
    return value.items()


def _list(value: Any) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise Fault(f"expected a list, got {_kind_of(value)}")
    return value


def _one_of(words: Sequence[str], value: Any) -> str:
    if value not in words or not isinstance(value, str):
        near = _nearest(value, words) if isinstance(value, str) else ""
        raise Fault(f"expected one of {', '.join(words)}{near}")
    return value


def _anything(value: Any) -> Any:
    return value


def _kind_of(value: Any) -> str:
    names = {bool: "true or false", str: "text", int: "a number", float: "a number"}
    names |= {list: "a list", tuple: "a list", dict: "a table"}
    return names.get(type(value), type(value).__name__)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Fault(f"expected text, got {_kind_of(value)}")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Fault(f"expected true or false, got {_kind_of(value)}")
    return value


def _whole(least: int, most: int | None = None) -> Callable[[Any], int]:
    bounds = f"a whole number, {least} or more" if most is None else f"a whole number from {least} to {most}"

    def check(value: Any) -> int:
        if type(value) is not int:
            raise Fault(f"expected {bounds}, got {_kind_of(value)}")
        if value < least or (most is not None and value > most):
            raise Fault(f"expected {bounds}, got {value}")
        return value

    return check


def _number(bounds: str, *, zero: bool = False) -> Callable[[Any], float]:
    def check(value: Any) -> float:
        if type(value) not in (int, float):
            raise Fault(f"expected {bounds}, got {_kind_of(value)}")
        if not (0 < value < float("inf") or (zero and value == 0)):
            raise Fault(f"expected {bounds}, got {value}")
        return float(value)

    return check


def _filled_text(what: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if not _text(value) or "\0" in value:
            raise Fault(f"expected {what}")
        return str(value)

    return check


def _url(value: Any) -> str:
    try:
        parts = urlsplit(_text(value))
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        if isinstance(error, Fault):
            raise
        usable = False  # the value is not shown: it may hold a password
    if not usable:
        raise Fault("expected a URL with http:// or https:// and a host")
    return str(value)


def _proxy(value: Any) -> str:
    if _text(value) in ("env", "none"):
        return str(value)
    try:
        _url(value if "://" in value else f"http://{value}")
    except Fault:
        raise Fault('expected "env", "none", or a URL with http:// or https://') from None
    return str(value)


def _variable(value: Any) -> str:
    if not _text(value) or "=" in value or any(mark.isspace() for mark in value):
        raise Fault("expected the name of an environment variable")
    return str(value)


def _rule(decision: Literal["allow", "ask", "deny"]) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        from norma.domain.policy.rules import RuleError, parse_rule

        try:
            parse_rule(_text(value), decision)
        except RuleError as error:
            raise Fault("; ".join(map(str, error.faults))) from error
        return str(value)

    return check


def _address_range(value: Any) -> str:
    from norma.adapters.http.guard import AddressGuard

    try:
        AddressGuard((_text(value),))
    except Fault:
        raise
    except ValueError as error:
        raise Fault(str(error)) from error
    return str(value)


def _header_text(value: Any) -> str:
    if not _text(value) or not value.isascii() or not value.isprintable():
        raise Fault("expected one line of printable ASCII")
    return str(value)


_CHECKS: Mapping[Any, Callable[[Any], Any]] = {
    values.AddressRange: _address_range,
    values.HeaderText: _header_text,
    Any: _anything,
    str: _text,
    bool: _flag,
    int: _whole(-(2**63)),
    values.Seconds: _number("a number of seconds above 0"),
    values.SecondsOrNever: _number("a number of seconds, 0 for never", zero=True),
    values.Rate: _number("a number above 0"),
    values.Count: _whole(1),
    values.CountOrNone: _whole(0),
    values.Port: _whole(0, 65535),
    values.ResultLimit: _whole(1, 20),
    values.Url: _url,
    values.Proxy: _proxy,
    values.AllowRule: _rule("allow"),
    values.AskRule: _rule("ask"),
    values.DenyRule: _rule("deny"),
    values.FilePath: _filled_text("a path"),
    values.Variable: _variable,
}
