"""
Name look-ups that can be given up, and the guard over what they answer (contract F7, F9).

The system's look-up can't be cancelled. Here each has a thread of its own that nobody waits for at the end
of the process, so that names which hang hold up no other work (measured: forty in the loop's own pool stop
all file work). The answer is judged whole: one refused address refuses the name.
"""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Any

from norma.adapters.http.guard import TARGET, AddressGuard, is_local

MOST_THREADS = 64
"""Look-ups at once; more wait their turn, within their caller's deadline."""


class Lookups:
    """A resolver as aiohttp's connector wants it, under a guard. Used on one loop."""

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard
        self._free = asyncio.Semaphore(MOST_THREADS)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[Any]:
        """The addresses of *host*, all of them good. Raises AddressRefused, or OSError if there are none."""
        name = host.rstrip(".").lower()
        found: list[Any]
        if is_local(name):
            local = self._guard.local_addresses()
            found = [_entry(host, address, port) for address in local]
        elif self._guard.resolver is not None:
            found = list(await self._guard.resolver.resolve(host, port, family))
        else:
            found = await self._ask(host, port, family)
        if not found:
            raise OSError(None, "the name has no address")
        for entry in found:
            self._guard.check_address(host, entry["host"])
        return found

    async def close(self) -> None:
        """Nothing is kept; a look-up that hangs ends by itself."""

    async def _ask(self, host: str, port: int, family: socket.AddressFamily) -> list[Any]:
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[Any]] = loop.create_future()

        def done(result: list[Any] | OSError) -> None:
            self._free.release()
            if answer.done():
                return
            if isinstance(result, OSError):
                answer.set_exception(result)
            else:
                answer.set_result(result)

        def look() -> None:
            result: list[Any] | OSError
            try:
                result = _looked_up(host, port, family)
            except OSError as error:
                result = error
            except UnicodeError as error:
                result = OSError(None, f"the name can't be looked up: {error}")
            with contextlib.suppress(RuntimeError):  # the loop has been closed meanwhile
                loop.call_soon_threadsafe(done, result)

        threading.Thread(target=look, name="norma-lookup", daemon=True).start()
        return await answer


def guarded_socket(guard: AddressGuard) -> Callable[[Sequence[Any]], socket.socket]:
    """What opens the sockets of a guarded connector: the last look at the address, literals included."""

    def open_socket(info: Sequence[Any]) -> socket.socket:
        family, kind, protocol, _, where = info
        guard.check_address(TARGET.get(where[0]), where[0])
        if guard.open_socket is not None:
            return guard.open_socket(info)
        return socket.socket(family, kind, protocol)

    return open_socket


def _looked_up(host: str, port: int, family: socket.AddressFamily) -> list[Any]:
    rows = socket.getaddrinfo(host, port, family=family, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    return [_entry(host, str(where[0]), port) for _, _, _, _, where in rows]


def _entry(host: str, address: str, port: int) -> dict[str, Any]:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return {"hostname": host, "host": address, "port": port, "family": family, "proto": 0, "flags": flags}
