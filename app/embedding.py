"""
The embedded model: its server, the wire to it, and how it works with tools.

Joined here because vendor adapters don't know each other: the server's adapter gets the chat wire handed in.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Literal

from norma.adapters.embedded.fetch import fetch_model
from norma.adapters.embedded.lazy import EmbeddedModel
from norma.adapters.embedded.server import EmbeddedServer, Endpoint
from norma.adapters.wires.profiles import profile_named
from norma.app.models import Choice
from norma.app.settings import EmbeddedSettings
from norma.ports.clock import Clock
from norma.ports.model import ChatModel

if TYPE_CHECKING:
    from norma.adapters.embedded.model import Speed


def embedded_model(
    settings: EmbeddedSettings,
    *,
    models_folder: str,
    progress: Callable[[str], None],
    wire: Callable[..., ChatModel],
) -> EmbeddedModel:
    """
    The model behind a server of our own, both got at the first reply. Its owner closes it.

    *wire* makes a model of an address, a model's name, a key and a profile.
    """

    async def weights() -> str:
        return settings.gguf or await fetch_model(models_folder, progress=progress)

    def chat(endpoint: Endpoint) -> ChatModel:
        return wire(
            base_url=endpoint.base_url,
            model=endpoint.model,
            api_key=endpoint.api_key,
            profile=profile_named("llama.cpp"),
        )

    server = partial(EmbeddedServer, port=settings.port, threads=settings.threads, context=settings.context)
    if settings.gguf is None:
        return EmbeddedModel(weights, chat, make_server=server)
    from pathlib import PurePath

    return EmbeddedModel(weights, chat, name=f"{PurePath(settings.gguf).stem}, embedded", make_server=server)


def way_with_tools(settings: EmbeddedSettings) -> Literal["guided", "schema", "none"]:
    """How the embedded model works with tools."""
    if settings.tools == "auto":
        return "guided" if settings.gguf is None else "schema"
    return settings.tools


def embedded_choice(model: ChatModel, settings: EmbeddedSettings, clock: Clock) -> Choice:
    """The embedded *model* as the engine sees it, and what a person should know of it."""
    from norma.adapters.embedded.model import BANNER, GuidedModel, SchemaToolsModel, Speed

    line = f"model: {model.name} (nothing else is configured, paid for or running)"
    match way_with_tools(settings):
        case "guided":
            speeds: list[Speed] = []
            guided = GuidedModel(model, clock=clock, report=speeds.append)
            return Choice(guided, (line, BANNER), embedded=True, tokens_per_s=lambda: _last(speeds))
        case "schema":
            return Choice(SchemaToolsModel(model), (line,), embedded=True)
        case "none":
            return Choice(model, (line,), tools=False, embedded=True)


def _last(speeds: list["Speed"]) -> float | None:
    """The last of *speeds*, which are forgotten then."""
    if not speeds:
        return None
    last = speeds[-1].tokens_per_s
    speeds.clear()
    return last
