"""Tool-call ids that a wire takes (contract M13). Pure."""

from hashlib import sha256
from re import Pattern


class WireIds:
    """
    The ids of one conversation on one wire.

    A provider's id is kept where it is legal and new; else one is derived from it and from how often it
    came before, so the same conversation always gets the same ids.

    *legal* is what an id must match in full. Derived ids have *length* characters of 0-9 and a-f.
    """

    def __init__(self, legal: Pattern[str], *, length: int = 24, prefix: str = "call_") -> None:
        self._legal = legal
        self._length = length
        self._prefix = prefix
        self._taken: set[str] = set()
        self._times: dict[str, int] = {}

    def claim(self, call_ids: tuple[str, ...]) -> bool:
        """Take *call_ids*, known to be legal, as they are; False, and nothing is taken, if one is not new."""
        taken = self._taken
        if not taken.isdisjoint(call_ids):
            return False
        taken.update(call_ids)
        for call_id in call_ids:
            self._times[call_id] = self._times.get(call_id, 0) + 1
        return True

    def for_call(self, call_id: str) -> str:
        """The id on the wire of the next call that calls itself *call_id*."""
        times = self._times[call_id] = self._times.get(call_id, 0) + 1
        if call_id not in self._taken and self._legal.fullmatch(call_id):
            found = call_id
        else:
            found = self._derived(call_id, times)
        self._taken.add(found)
        return found

    def _derived(self, call_id: str, times: int) -> str:
        tries = 0
        while True:
            seed = f"{times}.{tries}.{call_id}".encode("utf-8", "replace")
            found = self._prefix + sha256(seed).hexdigest()[: self._length]
            if found not in self._taken:
                return found
            tries += 1
