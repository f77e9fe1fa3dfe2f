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
from tests.contracts.rigs import workspace_rig


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
async def disk(folder: str) -> AsyncIterator[WorkspaceRig]:
    yield DiskRig(folder)


test_workspace = contract(workspace.CHECKS, workspace_rig(MemoryWorkspace), disk)
