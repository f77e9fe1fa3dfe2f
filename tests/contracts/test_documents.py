"""The double of the documents keeps the promises of their port; the reader of PDFs is beside its tests."""

from norma.adapters.memory.documents import ScriptedDocuments
from norma.ports.contracts import documents
from norma.ports.contracts.pytest import contract
from tests.contracts.rigs import documents_rig

test_scripted_documents = contract(documents.CHECKS, documents_rig(ScriptedDocuments))
