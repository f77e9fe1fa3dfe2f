"""A model behind an HTTP wire: its codec, joined to the egress. The same for all wires."""

from typing import TYPE_CHECKING

from norma.adapters.http.limiter import Limiter
from norma.adapters.http.retry import RetryPolicy
from norma.adapters.wires.encoded import EncodedRequest
from norma.adapters.wires.reply import HttpReply
from norma.adapters.wires.wire import Wire
from norma.domain.model.requests import ReplyRequest
from norma.domain.model.secrets import Secret
from norma.ports.clock import Clock
from norma.ports.model import ChatModel, Reply

if TYPE_CHECKING:
    from norma.adapters.http.egress import Egress

AS_CONTRACTED = RetryPolicy()


class HttpModel(ChatModel):
    """Asks one model by *wire*. The egress belongs to the caller; *api_key* appears in no error."""

    def __init__(
        self,
        egress: "Egress",
        clock: Clock,
        wire: Wire,
        *,
        name: str,
        api_key: Secret | None,
        retry: RetryPolicy,
        limiter: Limiter | None,
    ) -> None:
        self._egress = egress
        self._clock = clock
        self._wire = wire
        self._name = name
        self._secrets = () if api_key is None else (api_key,)
        self._retry = retry
        self._limiter = limiter

    @property
    def name(self) -> str:
        return self._name

    def encode(self, request: ReplyRequest) -> EncodedRequest:
        """
        The request that `reply` would send, without sending it.

        Raises ValueError for what the wire can't be asked.
        """
        return self._wire.encode(request)

    def reply(self, request: ReplyRequest) -> Reply:
        return HttpReply(
            self._egress,
            self._clock,
            self._wire,
            request,
            retry=self._retry,
            limiter=self._limiter,
            secrets=self._secrets,
        )
