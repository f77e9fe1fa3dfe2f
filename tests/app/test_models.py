"""Which model is chosen, in which order, and what the person is told of it."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any, get_args

import pytest

from norma.adapters.discovery.local import LocalServer
from norma.adapters.memory.clock import ManualClock
from norma.adapters.memory.model import ScriptedModel
from norma.adapters.wires.profiles import Profile
from norma.app import Settings, SettingsError
from norma.app.models import Choice, Models
from norma.app.settings import Wire
from norma.domain.model.secrets import Secret

TWO = {
    "big": {"wire": "openai-chat", "base_url": "http://big", "model": "big-model"},
    "small": {"wire": "openai-chat", "base_url": "http://small", "model": "small-model"},
}


class World:
    """What is to be had, and what was made and looked for."""

    def __init__(self, server: LocalServer | None = None) -> None:
        self.server = server
        self.made: list[dict[str, Any]] = []
        self.searches = 0
        self.clock = ManualClock()

    def make(self, **wanted: Any) -> ScriptedModel:
        self.made.append(wanted)
        return ScriptedModel(name=wanted["model"])

    async def find(self) -> LocalServer | None:
        self.searches += 1
        return self.server

    def models(self, values: Mapping[str, Any], **environ: str) -> Models:
        settings = Settings.from_mapping(values)
        last = Choice(ScriptedModel(name="embedded"), ("model: embedded",), embedded=True)
        return Models(
            settings,
            environ,
            settings.environment,
            {wire: partial(self.make, wire=wire) for wire in get_args(Wire)},
            self.clock,
            self.make,
            self.find,
            lambda: last,
        )


SERVER = LocalServer("Ollama", "http://127.0.0.1:11434/v1", "llama", ("llama",))


async def test_M4_a_model_of_the_settings_has_one_limiter_for_all_who_ask_it() -> None:
    world = World()
    slow = {"wire": "openai-chat", "base_url": "http://x", "model": "slow", "requests_per_minute": 2}
    models = world.models({"models": {"slow": slow, "free": {**TWO["big"], "model": "free"}}})
    assert models.configured("slow") is models.configured("slow")
    assert [made["limiter"] is None for made in world.made] == [False]
    limiter = world.made[0]["limiter"]
    await limiter.acquire()
    await limiter.acquire()
    third = asyncio.ensure_future(limiter.acquire())
    await world.clock.sleeping()
    assert not third.done(), "the third one waits"
    world.clock.advance(30.0)
    await third
    models.configured("free")
    assert world.made[1]["limiter"] is None


async def test_a_configured_model_comes_first() -> None:
    world = World(SERVER)
    choice = await world.models({"models": TWO}, OPENAI_API_KEY="k").choose()
    assert choice.model.name == "big-model"
    assert "from the settings" in choice.lines[0]
    assert world.searches == 0


async def test_the_one_called_default_comes_before_the_first() -> None:
    models = World().models({"models": {**TWO, "default": {**TWO["small"], "model": "the-default"}}})
    assert (await models.choose()).model.name == "the-default"
    assert (await models.choose("small")).model.name == "small-model"


async def test_a_key_in_the_environment_comes_before_a_local_server() -> None:
    world = World(SERVER)
    choice = await world.models({}, OPENAI_API_KEY="canary").choose()
    (made,) = world.made
    assert made["base_url"] == "https://api.openai.com/v1"
    assert made["api_key"] == Secret("canary")
    assert isinstance(made["profile"], Profile)
    assert made["profile"].name == "openai"
    assert made["model"] in choice.lines[0]
    assert "OPENAI_API_KEY" in choice.lines[0]
    assert "canary" not in str(choice.lines)
    assert world.searches == 0


async def test_the_address_in_the_environment_is_used() -> None:
    world = World()
    choice = await world.models({}, OPENAI_API_KEY="k", OPENAI_BASE_URL="http://127.0.0.1:9/v1").choose()
    assert world.made[0]["base_url"] == "http://127.0.0.1:9/v1"
    assert "127.0.0.1" in choice.lines[0]


async def test_anthropics_key_comes_before_openais() -> None:
    world = World(SERVER)
    choice = await world.models({}, OPENAI_API_KEY="k", ANTHROPIC_API_KEY="canary").choose()
    (made,) = world.made
    assert made["wire"] == "anthropic"
    assert made["base_url"] == "https://api.anthropic.com"
    assert made["profile"].name == "anthropic"
    assert made["model"] in choice.lines[0]
    assert "ANTHROPIC_API_KEY" in choice.lines[0]
    assert "canary" not in str(choice.lines)


@pytest.mark.parametrize("wire", ["anthropic", "openai-chat", "openai-responses"])
async def test_a_model_is_made_of_the_wire_that_it_names(wire: str) -> None:
    world = World()
    await world.models({"models": {"m": {"wire": wire, "model": "x"}}}).choose()
    assert world.made[0]["wire"] == wire


async def test_a_local_server_comes_before_the_embedded_model() -> None:
    world = World(SERVER)
    choice = await world.models({}, OPENAI_API_KEY="").choose()
    assert choice.model.name == "llama"
    assert "Ollama" in choice.lines[0]
    assert world.made[0]["profile"].name == "ollama"


async def test_the_embedded_model_is_the_last_resort() -> None:
    choice = await World().models({}).choose()
    assert choice.embedded
    assert choice.model.name == "embedded"


async def test_the_local_environment_asks_neither_keys_nor_servers() -> None:
    world = World(SERVER)
    choice = await world.models({"environment": "local"}, OPENAI_API_KEY="k").choose()
    assert choice.embedded
    assert world.searches == 0
    assert world.made == []


async def test_a_name_that_is_not_there_lists_those_that_are() -> None:
    with pytest.raises(
        SettingsError, match=r"models\.huge: no such model in the settings \(there: big, small\)"
    ):
        await World().models({"models": TWO}).choose("huge")


def test_a_configured_model_is_made_once() -> None:
    models = World().models({"models": TWO})
    assert models.configured("big") is models.configured(None)
    assert models.configured("big") is not models.configured("small")
