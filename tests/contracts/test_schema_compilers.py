"""The schema compilers keep the promises of their port."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from norma.adapters.memory.schemas import PlainSchemas
from norma.adapters.schemas.checks import SchemaChecks
from norma.ports.contracts import schemas
from norma.ports.contracts.pytest import contract
from norma.ports.contracts.schemas import SchemaRig
from tests.contracts.rigs import schema_rig


@asynccontextmanager
async def full(folder: str) -> AsyncIterator[SchemaRig]:
    yield SchemaRig(SchemaChecks())


test_schema_compiler = contract(schemas.CHECKS, schema_rig(PlainSchemas), full)
