"""The container: everything can be built, nothing is shared, and no double is where it should not be."""

import os
from pathlib import Path
from typing import Any

import pytest

from norma.app import Settings
from norma.app.container import Container
from norma.app.environments import doubles
from norma.app.running import container_of, open_norma
from norma.app.settings import EnvironmentName
from norma.domain.engine.engine import Engine
from norma.ports.documents import DocumentPage
from tests.adapters.pdf.making import document

PORTS = {
    "clock": "Clock",
    "schemas": "SchemaCompiler",
    "journal": "Journal",
    "workspace": "Workspace",
    "search": "FileSearch",
    "commands": "CommandRunner",
    "documents": "Documents",
    "tasks": "CommandTasks",
    "pages": "PageFetch",
    "web_search": "WebSearch",
    "embedded": "ChatModel",
}
ENVIRONMENTS: tuple[EnvironmentName, ...] = ("test", "local", "production")
OUTSIDE = {"wires", "local_wire"}
"""Providers that take arguments; `test_a_wire_makes_a_model` calls them."""


def container(tmp_path: Path, environment: EnvironmentName) -> Container:
    settings = Settings.from_mapping(
        {
            "environment": environment,
            "workspace": {"roots": [str(tmp_path)]},
            "journal": {"path": str(tmp_path / "journal.db")},
        }
    )
    built = container_of(settings, {"HOME": str(tmp_path)})
    built.model.override(built.embedded)
    return built


def every_part(built: Container) -> dict[str, Any]:
    return {name: provider() for name, provider in built.providers.items() if name not in OUTSIDE}


async def closed(parts: dict[str, Any]) -> None:
    for part in parts.values():
        if hasattr(part, "aclose"):
            await part.aclose()


@pytest.mark.parametrize("environment", ENVIRONMENTS)
async def test_every_provider_can_be_built(tmp_path: Path, environment: EnvironmentName) -> None:
    built = container(tmp_path, environment)
    built.check_dependencies()
    parts = every_part(built)
    assert isinstance(parts["engine"], Engine)
    await closed(parts)


@pytest.mark.parametrize("environment", ENVIRONMENTS)
async def test_each_port_is_bound_to_an_adapter_of_it(tmp_path: Path, environment: EnvironmentName) -> None:
    parts = every_part(container(tmp_path, environment))
    for name, port in PORTS.items():
        assert port in {kind.__name__ for kind in type(parts[name]).__mro__[1:]}, name
    await closed(parts)


@pytest.mark.parametrize("environment", ["local", "production"])
async def test_no_double_is_outside_the_test_environment(
    tmp_path: Path, environment: EnvironmentName
) -> None:
    assert doubles(environment) == {}
    parts = every_part(container(tmp_path, environment))
    assert not [
        name for name, part in parts.items() if type(part).__module__.startswith("norma.adapters.memory")
    ]
    await closed(parts)


async def test_the_test_environment_has_a_double_of_each_port_that_reaches_out(tmp_path: Path) -> None:
    parts = every_part(container(tmp_path, "test"))
    real = [name for name in PORTS if not type(parts[name]).__module__.startswith("norma.adapters.memory")]
    assert real == ["schemas"]
    await closed(parts)


@pytest.mark.parametrize("environment", ENVIRONMENTS)
async def test_two_containers_share_nothing(tmp_path: Path, environment: EnvironmentName) -> None:
    first = every_part(container(tmp_path, environment))
    second = every_part(container(tmp_path, environment))
    values = {"environ", "roots", "progress", "http_session", "approver", "settings", "network"}
    shared = [name for name in first if name not in values and first[name] is second[name]]
    assert shared == []
    await closed(first)
    await closed(second)


async def test_a_wire_makes_a_model(tmp_path: Path) -> None:
    built = container(tmp_path, "production")
    for make in (built.wires.providers["openai-chat"], built.local_wire):
        model = make(base_url="http://127.0.0.1:1/v1", model="m", api_key=None, profile=None)
        assert model.name == "m at 127.0.0.1:1"
    await closed(every_part(built))


async def test_the_documents_are_read_from_the_first_one_on(tmp_path: Path) -> None:
    built = container(tmp_path, "production")
    texts: list[str] = []

    def keep(page: DocumentPage) -> bool:
        texts.append(page.text)
        return True

    await built.documents().read(document("one", "two"), keep, first=2)
    assert texts == ["two"]
    await closed(every_part(built))


async def test_opening_the_test_environment_touches_neither_network_nor_disk(tmp_path: Path) -> None:
    settings = Settings.from_mapping({"environment": "test", "journal": {"path": str(tmp_path / "j.db")}})
    async with open_norma(settings, environ={"HOME": str(tmp_path), "OPENAI_API_KEY": "x"}) as norma:
        session = await norma.session()
        assert session.id
        assert norma.model().name == "scripted, guided"
    assert os.listdir(tmp_path) == []
