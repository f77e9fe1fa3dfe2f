"""
Finds the ripgrep to use: the one that was named, on PATH, beside the interpreter, or installed by npm.

The first that lies in one of these places is the one; if it doesn't answer `--version` as a ripgrep
that is new enough, none is used. A program is always started by its absolute path.
"""

import logging
import os
import re
import sys
from collections.abc import Mapping
from typing import NamedTuple

from norma.adapters.grep.npm import Npm, installed
from norma.adapters.process.child import answer

VERSION = re.compile(r"ripgrep (\d+)\.\d+")
OLDEST = 13
CHECK_S = 5.0
CHECK_ENVIRON = ("PATH", "HOME", "LANG")
log = logging.getLogger("norma.grep")


class Found(NamedTuple):
    """The absolute path of a ripgrep, or None, *why* in a clause, and the *npm* that could install one."""

    program: str | None
    why: str = ""
    npm: Npm | None = None


class Finder:
    """Looks for ripgrep, as told by *environ*, first at *named*."""

    def __init__(self, environ: Mapping[str, str], named: str | None, install_deadline_s: float) -> None:
        self.environ = environ
        self.check_environ = {name: value for name, value in environ.items() if name in CHECK_ENVIRON}
        self.named = named
        self.install_deadline_s = install_deadline_s

    async def find(self) -> Found:
        """Look in all places in their order; nothing is installed. Never raises but for cancellation."""
        if self.named is not None:
            return await self.checked(self.named)
        folders = (*search_path(self.environ), beside_the_interpreter())
        if program := program_in(folders, "rg"):
            return await self.checked(program)
        if self.environ.get("NORMA_RIPGREP_NO_INSTALL"):
            return Found(None, "there is no rg on PATH, and NORMA_RIPGREP_NO_INSTALL is set")
        npm = program_in(search_path(self.environ), "npm")
        if npm is None:
            return Found(None, "there is no rg on PATH, and no npm to install it with")
        if program := installed(os.path.join(os.path.dirname(os.path.dirname(npm)), "lib", "node_modules")):
            return await self.checked(program)
        way = Npm(npm, self.environ, self.install_deadline_s)
        return Found(None, f"there is no rg on PATH, and nobody to ask whether `{way.words}` may run", way)

    async def install(self, npm: Npm) -> Found:
        """Install with *npm*, which was allowed, and look again. Never raises but for cancellation."""
        trouble = await npm.install()
        program = (
            None if trouble else program_in(search_path(self.environ), "rg") or installed(await npm.root())
        )
        if program is not None:
            return await self.checked(program)
        trouble = f"failed: {trouble}" if trouble else "succeeded, but the program was not found afterwards"
        log.warning("`%s` %s", npm.words, trouble)
        return Found(None, f"there is no rg on PATH, and `{npm.words}` {trouble}")

    async def checked(self, program: str) -> Found:
        """*program* if it answers as a ripgrep that is new enough."""
        try:
            status, said, _ = await answer(
                (program, "--version"), environ=self.check_environ, deadline_s=CHECK_S
            )
        except TimeoutError:
            return Found(None, f"{program} did not answer --version within {CHECK_S:g} s")
        except OSError as error:
            return Found(None, f"{program} can't be started: {error.strerror or error}")
        version = VERSION.match(said)
        if status != 0 or version is None:
            return Found(None, f"{program} is no ripgrep: it answers --version with {said[:60].strip()!r}")
        if int(version[1]) < OLDEST:
            return Found(None, f"{program} is {version[0]}, and {OLDEST} is the oldest that is used")
        return Found(program)


def beside_the_interpreter() -> str:
    """Where the programs of installed Python packages lie."""
    return os.path.dirname(sys.executable)


def search_path(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The folders of PATH; one that is relative would depend on where we are and is left out."""
    return tuple(folder for folder in environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder))


def program_in(folders: tuple[str, ...], name: str) -> str | None:
    """The first program called *name* in *folders*."""
    paths = (os.path.join(folder, name) for folder in folders)
    return next((path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)), None)
