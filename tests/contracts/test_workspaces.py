"""The workspaces keep the promises of their port."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from norma.adapters.files.workspace import DiskWorkspace
from norma.adapters.memory.workspace import MemoryWorkspace
from norma.ports.contracts import workspace
from norma.ports.contracts.pytest import contract
from norma.ports.contracts.workspace import FILES, OUTSIDE, WorkspaceRig


class MemoryRig(WorkspaceRig):
    def __init__(self) -> None:
        self.outside = "/elsewhere/secret.txt"
        files = {f"/work/{name}": data for name, data in FILES.items()}
        self.workspace = self.made = MemoryWorkspace({**files, self.outside: OUTSIDE})

    def put(self, path: str, data: bytes) -> None:
        self.made.put(path, data)

    def look(self, path: str) -> bytes | None:
        return self.made.files.get(path)

    def link(self, path: str, target: str) -> None:
        self.made.link(path, target)


class DiskRig(WorkspaceRig):
    def __init__(self, folder: str) -> None:
        top = Path(folder).resolve()
        for name, data in FILES.items():
            (top / "root" / name).parent.mkdir(parents=True, exist_ok=True)
            (top / "root" / name).write_bytes(data)
        (top / "elsewhere").mkdir()
        self.outside = str(top / "elsewhere" / "secret.txt")
        Path(self.outside).write_bytes(OUTSIDE)
        self.workspace = DiskWorkspace([str(top / "root")])

    def put(self, path: str, data: bytes) -> None:
        Path(path).write_bytes(data)

    def look(self, path: str) -> bytes | None:
        return Path(path).read_bytes() if os.path.exists(path) else None

    def link(self, path: str, target: str) -> None:
        Path(path).unlink(missing_ok=True)
        os.symlink(target, path)


@asynccontextmanager
async def memory(folder: str) -> AsyncIterator[WorkspaceRig]:
    yield MemoryRig()


@asynccontextmanager
async def disk(folder: str) -> AsyncIterator[WorkspaceRig]:
    yield DiskRig(folder)


test_workspace = contract(workspace.CHECKS, memory, disk)
