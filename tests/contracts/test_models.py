"""The models keep the promises of their port."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import get_args

from norma.adapters.http.egress import Egress, NetworkPolicy
from norma.adapters.memory.model import ScriptedModel
from norma.adapters.openai_chat.model import OpenAIChatModel
from norma.adapters.system.clock import SystemClock
from norma.domain.model.secrets import Secret
from norma.ports.contracts import model
from norma.ports.contracts.model import ModelRig, Situation
from norma.ports.contracts.pytest import contract
from norma.ports.model import ChatModel
from tests.contracts.chat_server import SituationServer, situation_server
from tests.contracts.rigs import model_rig


class ServerRig(ModelRig):
    """Models over one egress, each situation with a server of its own."""

    def __init__(self, egress: Egress, servers: Mapping[Situation, SituationServer]) -> None:
        self._egress = egress
        self._servers = servers

    def model(self, situation: Situation) -> ChatModel:
        url = self._servers[situation].url
        return OpenAIChatModel(
            self._egress, SystemClock(), base_url=url, model="m", api_key=Secret("sk-test")
        )

    def requests(self) -> int:
        return sum(server.requests for server in self._servers.values())

    def open(self) -> int:
        return sum(server.open for server in self._servers.values())


@asynccontextmanager
async def openai_chat(folder: str) -> AsyncIterator[ModelRig]:
    async with AsyncExitStack() as stack:
        situations: tuple[Situation, ...] = get_args(Situation)
        servers = {one: await stack.enter_async_context(situation_server(one)) for one in situations}
        egress = Egress(NetworkPolicy(), environ={})
        stack.push_async_callback(egress.aclose)
        yield ServerRig(egress, servers)


test_scripted_model_in_bursts = contract(model.CHECKS, model_rig(ScriptedModel, alone=False))
test_scripted_model_event_by_event = contract(model.CHECKS, model_rig(ScriptedModel, alone=True))
test_openai_chat_model = contract(model.CHECKS, openai_chat)
