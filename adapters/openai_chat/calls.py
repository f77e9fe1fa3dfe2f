"""
Which tool call a fragment belongs to (contract C7). Pure.

A valid index is the identity of a call. Providers leave it out, or put every call at index 0, repeat ids
and names with each fragment, or leave out ids; so beside the index an id that is new begins a new call,
and without any of these a fragment goes on with the call that was opened last.
"""

from collections.abc import Mapping
from typing import Any

from norma.adapters.wires.assembly import Assembly


class Calls:
    """Hands the fragments of one reply to its assembly."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._by_index: dict[int, int] = {}
        self._by_id: dict[str, int] = {}
        self._last: int | None = None
        self._count = 0

    def take(self, delta: Mapping[str, Any], *, is_whole: bool) -> None:
        """
        The calls in one delta, or (*is_whole*) in a whole message, where each entry is a call.

        Raises LateArguments.
        """
        entries = delta.get("tool_calls")
        if not is_whole and self.goes_on(entries):
            return
        in_this_delta: set[int] = set()
        for entry in _entries(delta):
            if isinstance(entry, dict):
                in_this_delta.add(self._entry(entry, in_this_delta, is_whole=is_whole))
        legacy = delta.get("function_call")
        if isinstance(legacy, dict) and not entries:
            self._entry({"function": legacy}, in_this_delta, is_whole=is_whole)

    def goes_on(self, entries: object) -> bool:
        """
        Take the common case: one more piece of arguments for a call that its index names, and nothing else.

        False, and nothing is taken, if *entries* are anything else. Raises LateArguments.
        """
        if type(entries) is not list or len(entries) != 1 or type(entries[0]) is not dict:
            return False
        entry = entries[0]
        function, index = entry.get("function"), entry.get("index")
        if type(index) is not int or type(function) is not dict or len(function) != 1 or entry.get("id"):
            return False
        if "extra_content" in entry:
            return False
        place, arguments = self._by_index.get(index), function.get("arguments")
        if place is None or type(arguments) is not str:
            return False
        self._last = place
        self._assembly.arguments(place, arguments)
        return True

    def _entry(self, entry: dict[str, Any], in_this_delta: set[int], *, is_whole: bool) -> int:
        function = _function(entry)
        call_id, name = _text(entry.get("id")), _text(function.get("name"))
        arguments = function.get("arguments")
        brings = bool(arguments.strip()) if isinstance(arguments, str) else arguments is not None
        index = None if is_whole else _index(entry.get("index"))
        place = None
        if not is_whole:
            place = self._find(index, call_id, name, in_this_delta, brings=brings)
        if place is None:
            place = self._open(call_id, name, index)
        self._assembly.name_call(place, call_id, name)
        if index is not None:
            self._by_index[index] = place
        if call_id:
            self._by_id.setdefault(call_id, place)
        self._last = place
        if isinstance(arguments, str):
            self._assembly.arguments(place, arguments)
        else:
            self._assembly.set_arguments(place, arguments)
        extra = entry.get("extra_content")
        if isinstance(extra, dict):
            self._assembly.call_extra(place, {"extra_content": extra})
        return place

    def _find(
        self, index: int | None, call_id: str, name: str, in_this_delta: set[int], *, brings: bool
    ) -> int | None:
        """The call that a fragment goes on with; None: it begins one."""
        if index is not None:
            known = self._by_index.get(index)
            if known is None and not name and call_id in self._by_id:
                return self._by_id[call_id]  # some servers count their fragments
            return None if known is None or self._is_another(known, call_id, name, brings=brings) else known
        if call_id and call_id in self._by_id:
            return self._by_id[call_id]
        last = self._last
        if last is None or (name and last in in_this_delta):
            return None
        return None if self._is_another(last, call_id, name, brings=brings) else last

    def _is_another(self, known: int, call_id: str, name: str, *, brings: bool) -> bool:
        """Whether a fragment at the place of *known* begins a call of its own."""
        known_id, known_name = self._assembly.name_of_call(known)
        if not name or (call_id and call_id == known_id):
            return False  # some servers make up a new id for each fragment, but then say no name
        if call_id and known_id:
            return True
        if name != known_name and known_name and self._assembly.has_arguments(known):
            return True
        return brings and self._assembly.arguments_are_whole(known)

    def _open(self, call_id: str, name: str, index: int | None) -> int:
        place = self._count
        self._count += 1
        self._assembly.open_call(place, call_id, name, index)
        return place


def holds_objects(delta: Mapping[str, Any]) -> bool:
    """Whether a delta has a call whose arguments are a value instead of text."""
    called = [_function(entry) for entry in _entries(delta) if isinstance(entry, dict)]
    if isinstance(legacy := delta.get("function_call"), dict):
        called.append(legacy)
    return any(not isinstance(function.get("arguments"), str | None) for function in called)


def _entries(delta: Mapping[str, Any]) -> list[Any]:
    """The calls in a delta; one alone may come without a list around it."""
    entries = delta.get("tool_calls")
    if isinstance(entries, dict):
        return [entries]
    return entries if isinstance(entries, list) else []


def _function(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is called; some servers leave out the object around it."""
    function = entry.get("function")
    if isinstance(function, dict):
        return function
    return entry if function is None else {}


def _index(value: object) -> int | None:
    """A valid index, which some servers write as text."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 6:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _text(value: object) -> str:
    """A word; an id may be a number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else ""
