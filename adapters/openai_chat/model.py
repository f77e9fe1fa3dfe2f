"""A model behind the OpenAI Chat Completions wire."""

from norma.adapters.http.call import host_of
from norma.adapters.http.egress import Egress
from norma.adapters.http.limiter import Limiter
from norma.adapters.http.retry import RetryPolicy
from norma.adapters.openai_chat.codec import ChatCodec
from norma.adapters.wires.encoded import EncodedRequest
from norma.adapters.wires.profiles import Profile, profile_for
from norma.adapters.wires.reply import HttpReply
from norma.domain.model.requests import ReplyRequest
from norma.domain.model.secrets import Secret
from norma.ports.clock import Clock
from norma.ports.model import ChatModel, Reply

_AS_CONTRACTED = RetryPolicy()


class OpenAIChatModel(ChatModel):
    """
    A model at *base_url*, to which `/chat/completions` is appended once.

    *profile* says how its provider differs; None: as the host of the base URL tells. The egress belongs
    to the caller. Raises ValueError for a base URL that is none.
    """

    def __init__(
        self,
        egress: Egress,
        clock: Clock,
        *,
        base_url: str,
        model: str,
        api_key: Secret | None,
        profile: Profile | None = None,
        retry: RetryPolicy = _AS_CONTRACTED,
        limiter: Limiter | None = None,
    ) -> None:
        self._egress = egress
        self._clock = clock
        self._model = model
        self._secrets = () if api_key is None else (api_key,)
        self._retry = retry
        self._limiter = limiter
        profile = profile_for(host_of(base_url)) if profile is None else profile
        self._codec = ChatCodec(base_url=base_url, model=model, api_key=api_key, profile=profile)

    @property
    def name(self) -> str:
        return f"{self._model} at {self._codec.host}"

    def encode(self, request: ReplyRequest) -> EncodedRequest:
        """
        The request that `reply` would send, without sending it.

        Raises ValueError for what the wire can't be asked.
        """
        return self._codec.encode(request)

    def reply(self, request: ReplyRequest) -> Reply:
        return HttpReply(
            self._egress,
            self._clock,
            self._codec,
            request,
            retry=self._retry,
            limiter=self._limiter,
            secrets=self._secrets,
        )
