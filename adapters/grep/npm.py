"""Installs ripgrep with npm, once somebody has allowed it, and knows where npm puts it."""

import os
import platform
from collections.abc import Mapping

from norma.adapters.process.child import answer
from norma.domain.model.actions import ANY_EFFECT, Action
from norma.domain.policy.rules import command_rule

PACKAGE = "@vscode/ripgrep"
ROOT_S = 10.0
MACHINES = {
    "x86_64": "x64",
    "amd64": "x64",
    "aarch64": "arm64",
    "i686": "ia32",
    "i386": "ia32",
    "armv7l": "arm",
}
SECRET_WORDS = ("KEY", "SECRET", "PASSWORD", "TOKEN")


class Npm:
    """The npm at *program*."""

    def __init__(self, program: str, environ: Mapping[str, str], deadline_s: float) -> None:
        self.program = program
        self.environ = {name: value for name, value in environ.items() if is_npms_business(name)}
        self.deadline_s = deadline_s

    @property
    def command(self) -> tuple[str, ...]:
        """The installation, as it is asked about and run; npm is the first one on PATH."""
        return ("npm", "install", "-g", PACKAGE)

    @property
    def words(self) -> str:
        """The command in one line."""
        return " ".join(self.command)

    @property
    def action(self) -> Action:
        """What the installation is for those who permit it: a shell command, by the rules for such."""
        return Action(
            "Bash",
            ANY_EFFECT,
            shows=f"{self.words}\n(installs ripgrep, for faster searches, with {self.program})",
            rule=command_rule(self.words),
            command=self.words,
        )

    async def install(self) -> str:
        """Install ripgrep; what went wrong, or nothing."""
        try:
            status, said, complaint = await answer(
                (self.program, *self.command[1:]), environ=self.environ, deadline_s=self.deadline_s
            )
        except TimeoutError:
            return f"it was stopped after {self.deadline_s:g} s"
        except OSError as error:
            return f"it can't be started: {error.strerror or error}"
        return "" if status == 0 else f"status {status}: {' '.join((complaint or said).split())[:300]}"

    async def root(self) -> str:
        """The folder where npm keeps packages that are installed for everybody; empty if it doesn't say."""
        try:
            _, said, _ = await answer((self.program, "root", "-g"), environ=self.environ, deadline_s=ROOT_S)
        except (TimeoutError, OSError):
            return ""
        # npm may print notices in front.
        return next((line for line in reversed(said.split("\n")) if os.path.isabs(line)), "")


def installed(root: str) -> str | None:
    """The ripgrep below *root*, a folder of packages, in any of the places where it has been."""
    if not root:
        return None
    system = platform.system().lower()
    machine = platform.machine().lower()
    own = f"{PACKAGE}-{system}-{MACHINES.get(machine, machine)}"
    places = (f"{PACKAGE}/node_modules/{own}/bin/rg", f"{own}/bin/rg", f"{PACKAGE}/bin/rg")
    paths = (os.path.join(root, place) for place in places)
    return next((path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)), None)


def is_npms_business(name: str) -> bool:
    """Whether npm gets the variable called *name*: all but other people's secrets."""
    return name.upper().startswith("NPM_") or not any(word in name.upper() for word in SECRET_WORDS)
