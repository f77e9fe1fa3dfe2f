"""The file searches keep the promises of their port."""

from norma.adapters.memory.search import ScriptedSearch
from norma.ports.contracts import file_search
from norma.ports.contracts.pytest import contract
from tests.contracts.rigs import search_rig

test_scripted_search = contract(file_search.CHECKS, search_rig(ScriptedSearch))
