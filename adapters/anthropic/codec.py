"""The codec of the Messages wire: neutral requests in, bytes out; bytes in, neutral events out. Pure."""

from collections.abc import Callable

from norma.adapters.anthropic.answer import AnswerDecoder
from norma.adapters.anthropic.request import SUFFIX, VERSION_PART, RequestEncoder
from norma.adapters.http.call import host_of
from norma.adapters.wires.encoded import EncodedRequest
from norma.adapters.wires.profiles import Profile
from norma.adapters.wires.urls import endpoint
from norma.adapters.wires.wire import Wire
from norma.domain.model.requests import ReplyRequest
from norma.domain.model.secrets import Secret


class MessagesCodec(Wire):
    """One model at one base URL. Raises ValueError for a base URL that is none."""

    empty_is_asked_again = False

    def __init__(self, *, base_url: str, model: str, api_key: Secret | None, profile: Profile) -> None:
        url = endpoint(base_url, SUFFIX, version=VERSION_PART)
        self.host = host_of(url)
        self._vendor = profile.vendor or self.host
        # A host that nobody described may well lead to the wire's own vendor, which wants its proofs back.
        own = {self._vendor} if profile.vendor else {self._vendor, "anthropic"}
        self._requests = RequestEncoder(
            url=url, model=model, api_key=api_key, profile=profile, own=frozenset(own)
        )

    def encode(self, request: ReplyRequest) -> EncodedRequest:
        return self._requests.encode(request)

    def decoding(
        self, encoded: EncodedRequest, new_id: Callable[[], str], statuses: frozenset[int]
    ) -> AnswerDecoder:
        return AnswerDecoder(
            host=self.host,
            new_id=new_id,
            vendor=self._vendor,
            tool_name=encoded.names.from_wire,
            statuses=statuses,
        )
