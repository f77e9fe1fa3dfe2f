"""What is kept of a command's output: its head and its tail, in bounded memory."""

from collections import deque


class HeadAndTail:
    """Keeps at most *limit* characters of what is added: the first half and the last."""

    def __init__(self, limit: int) -> None:
        self._head: list[str] = []
        self._head_room = limit - limit // 2
        self._tail: deque[str] = deque()
        self._tail_limit = limit // 2
        self._tail_size = 0
        self._dropped = 0

    def add(self, text: str) -> None:
        """Take the next piece."""
        if self._head_room:
            first = text[: self._head_room]
            self._head.append(first)
            self._head_room -= len(first)
            text = text[len(first) :]
        if not text:
            return
        self._tail.append(text)
        self._tail_size += len(text)
        while self._tail_size - len(self._tail[0]) >= self._tail_limit:
            gone = len(self._tail.popleft())
            self._tail_size -= gone
            self._dropped += gone

    @property
    def omitted(self) -> int:
        """How many characters `text` leaves out."""
        return self._dropped + max(0, self._tail_size - self._tail_limit)

    def text(self) -> str:
        """Head and tail; where characters were left out a line says how many."""
        tail = "".join(self._tail)
        mark = ""
        if self.omitted:
            mark = f"\n[… {self.omitted} characters left out …]\n"
            tail = tail[len(tail) - self._tail_limit :]
        return "".join(self._head) + mark + tail
