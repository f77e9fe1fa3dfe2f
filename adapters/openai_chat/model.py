"""A model behind the OpenAI Chat Completions wire."""

from norma.adapters.http.call import host_of
from norma.adapters.http.egress import Egress
from norma.adapters.http.limiter import Limiter
from norma.adapters.http.retry import RetryPolicy
from norma.adapters.openai_chat.codec import ChatCodec
from norma.adapters.wires.http_model import AS_CONTRACTED, HttpModel
from norma.adapters.wires.profiles import Profile, profile_for
from norma.domain.model.secrets import Secret
from norma.ports.clock import Clock


class OpenAIChatModel(HttpModel):
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
        retry: RetryPolicy = AS_CONTRACTED,
        limiter: Limiter | None = None,
    ) -> None:
        profile = profile_for(host_of(base_url)) if profile is None else profile
        codec = ChatCodec(base_url=base_url, model=model, api_key=api_key, profile=profile)
        name = f"{model} at {codec.host}"
        super().__init__(egress, clock, codec, name=name, api_key=api_key, retry=retry, limiter=limiter)
