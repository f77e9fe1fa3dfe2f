"""The models keep the promises of their port."""

from norma.adapters.memory.model import ScriptedModel
from norma.ports.contracts import model
from norma.ports.contracts.pytest import contract
from tests.contracts.rigs import model_rig

test_scripted_model_in_bursts = contract(model.CHECKS, model_rig(ScriptedModel, alone=False))
test_scripted_model_event_by_event = contract(model.CHECKS, model_rig(ScriptedModel, alone=True))
