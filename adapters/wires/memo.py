"""What was made of a message once, so that a long history costs little to send again."""

import weakref
from typing import Generic, TypeVar

from norma.domain.model.messages import Message

T = TypeVar("T")


class Memo(Generic[T]):
    """Values kept by message (the object, not what equals it), each for as long as its message lives."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Message], T]] = {}

    def get(self, message: Message) -> T | None:
        """What was kept for *message*."""
        found = self._known.get(id(message))
        return None if found is None or found[0]() is not message else found[1]

    def put(self, message: Message, value: T) -> None:
        """Keep *value* for *message*."""
        key, known = id(message), self._known

        def forget(_: object) -> None:
            known.pop(key, None)

        known[key] = (weakref.ref(message, forget), value)

    def drop(self, message: Message) -> None:
        """Forget what was kept for *message*."""
        self._known.pop(id(message), None)

    def __len__(self) -> int:
        return len(self._known)
