"""What the requests of every wire have in common: their address, their headers, their end (M7, M8). Pure."""

from collections.abc import Mapping
from typing import Any

from norma.adapters.http.json_text import write
from norma.adapters.wires.encoded import EncodedRequest, merged_headers
from norma.adapters.wires.losses import Loss
from norma.adapters.wires.names import WireNames
from norma.adapters.wires.profiles import Profile
from norma.domain.model.requests import ReplyOptions
from norma.domain.model.secrets import Secret


class Posting:
    """Requests for one model of one provider. A wire's encoder subclasses this."""

    def __init__(self, *, url: str, model: str, api_key: Secret | None, profile: Profile) -> None:
        self._url = url
        self._model = model
        self._api_key = api_key
        self._profile = profile.for_model(model)

    def _posted(
        self, body: dict[str, Any], options: ReplyOptions, names: WireNames, losses: list[Loss]
    ) -> EncodedRequest:
        """The request with *body*, in which what somebody added wins."""
        added = {**self._profile.extra_body, **options.extra_body}
        body |= added
        self._make_room(body, added)
        stream = body.get("stream") is True
        ours: dict[str, str | Secret] = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream" if stream else "application/json",
            **self._own_headers(),
        }
        headers = merged_headers(ours, self._profile.extra_headers, options.extra_headers)
        return EncodedRequest("POST", self._url, headers, write(body), names, stream, tuple(losses))

    def _make_room(self, body: dict[str, Any], added: Mapping[str, Any]) -> None:
        """Take out of *body* what can't stand beside what somebody *added*."""

    def _own_headers(self) -> Mapping[str, str | Secret]:
        """The key, as most services want it."""
        if self._api_key is None:
            return {}
        if self._profile.auth == "bearer":
            return {"Authorization": Secret(f"Bearer {self._api_key.reveal()}")}
        return {"api-key": self._api_key}

    def _takes(self, name: str, losses: list[Loss]) -> bool:
        """Whether the model takes an option; one that it doesn't is reported."""
        if name not in self._profile.forbidden:
            return True
        losses.append(Loss(name, "dropped", f"{self._profile.name} refuses it for this model"))
        return False
