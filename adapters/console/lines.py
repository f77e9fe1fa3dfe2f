"""
Lines from a terminal or a pipe, without holding up the event loop.

Above: the approver. Below: a file descriptor; a terminal hands over a line when Enter is pressed.
"""

import asyncio
import os

_CHUNK = 65536


class LineInput:
    """
    Reads lines from the descriptor *fd* (a terminal, a pipe or a socket), which stays its owner's.

    One reader at a time. What was read beyond a line is kept for the next one.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._rest = b""

    async def read(self) -> str | None:
        """
        The next line without its end; None at the end of the input.

        Cancelled, it has consumed no line. Raises OSError if the descriptor can't be read.
        """
        while b"\n" not in self._rest:
            data = await self._more()
            if not data:
                line, self._rest = self._rest, b""
                return line.decode(errors="replace") if line else None
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode(errors="replace")

    async def _more(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_reader(self._fd, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._fd)
        return os.read(self._fd, _CHUNK)
