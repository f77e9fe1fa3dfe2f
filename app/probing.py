"""Look for a model server on this machine."""

from norma.adapters.discovery.local import LocalServer, find_local_server
from norma.adapters.http.call import Call, CallFailed
from norma.adapters.http.egress import Egress
from norma.ports.errors import PortError

_MOST_BYTES = 1_000_000


async def local_server(loopback: Egress) -> LocalServer | None:
    """The first server that answers with a list of models, None if none does. Takes a moment at most."""

    async def get(url: str, seconds: float) -> tuple[int, bytes]:
        import asyncio

        async with asyncio.timeout(seconds):
            try:
                answer = await loopback.send(Call("GET", url))
                try:
                    body, _ = await answer.read_up_to(_MOST_BYTES)
                finally:
                    answer.close()
            except CallFailed as error:
                raise PortError(error.failure) from error
        return answer.status, body

    return await find_local_server(get)
