"""The models keep the promises of their port."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from norma.adapters.memory.gates import Forever
from norma.adapters.memory.model import Script, ScriptedModel, call, end, say, think
from norma.domain.model.failures import Failure
from norma.domain.model.replies import BlockEnded
from norma.ports.contracts import model
from norma.ports.contracts.model import ARGUMENTS, BEFORE, WORDS, ModelRig, Situation
from norma.ports.contracts.pytest import contract
from norma.ports.errors import ModelError
from norma.ports.model import ChatModel

_BEGINNING = tuple(event for event in say(BEFORE, 3) if not isinstance(event, BlockEnded))


def _script(situation: Situation) -> Script:
    match situation:
        case "words":
            return (think("Who am I?", signature="c2ln"), say(WORDS, 5), end())
        case "calls":
            calls = (call(f"call_{number}", "Look", made) for number, made in enumerate(ARGUMENTS))
            return (say(BEFORE), *calls, end("tool_use"))
        case "dropped":
            return _BEGINNING
        case "refused":
            return (ModelError(Failure("invalid_request", "no such model", "http", 400)),)
        case "stalled":
            return (*_BEGINNING, Forever())


class ScriptedRig(ModelRig):
    def __init__(self, *, alone: bool) -> None:
        self._alone = alone
        self._models: list[ScriptedModel] = []

    def model(self, situation: Situation) -> ChatModel:
        made = ScriptedModel(lambda request: _script(situation), alone=self._alone)
        self._models.append(made)
        return made

    def requests(self) -> int:
        return sum(len(made.requests) for made in self._models)

    def open(self) -> int:
        return sum(made.open for made in self._models)


@asynccontextmanager
async def scripted_in_bursts(folder: str) -> AsyncIterator[ModelRig]:
    yield ScriptedRig(alone=False)


@asynccontextmanager
async def scripted_alone(folder: str) -> AsyncIterator[ModelRig]:
    yield ScriptedRig(alone=True)


test_model = contract(model.CHECKS, scripted_in_bursts, scripted_alone)
