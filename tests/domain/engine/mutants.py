"""
Engines that are wrong on purpose: what one is.

A mutant patches functions of the engine in this process, around the real ones, and names the suites (see
`suites`) that must notice. What it breaks is its docstring. The mutants themselves are in `wrong_machines`
and `wrong_drivers`.
"""

from collections.abc import Callable
from typing import TypeAlias

import pytest
from attrs import frozen

Patch: TypeAlias = pytest.MonkeyPatch
Install: TypeAlias = Callable[[Patch], None]


@frozen
class Mutant:
    """*install* makes the engine wrong; every suite of *caught_by* must notice."""

    name: str
    wrong: str
    install: Install
    caught_by: tuple[str, ...]


class Mutants(list[Mutant]):
    """Collects mutants: `@mutants.caught_by("tables")` on the function that installs one."""

    def caught_by(self, *suites: str) -> Callable[[Install], Install]:
        def added(install: Install) -> Install:
            name, wrong = install.__name__.replace("_", " "), (install.__doc__ or "").strip()
            self.append(Mutant(name, wrong, install, suites))
            return install

        return added
