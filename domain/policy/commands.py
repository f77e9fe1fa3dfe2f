"""
Patterns of shell commands: `git status` (that text), `git push:*` (commands that begin with those words).

There is no shell parser yet, so nobody here knows what a command line will run. Hence: allowing takes
the exact text. Forbidding takes words, and where a command is not plain words, or the forbidden
words stand in it somewhere else than in front, the answer is "unsure", which asks. Rules on text
are a help and no boundary: they can't see what a program does.
"""

import re
from typing import Literal, TypeAlias

from norma.domain.model.values import frozen

Bearing: TypeAlias = Literal["no", "unsure", "yes"]
"""Whether a rule that forbids speaks of a call."""

_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./ -]+")


def exactly(command: str) -> str:
    """The pattern that is just *command*."""
    return command[:-2] + "\\:*" if command.endswith(":*") else command


@frozen
class CommandPattern:
    """*words* in front of whatever follows if *prefix*, else the *text* itself."""

    text: str
    words: tuple[str, ...]
    prefix: bool

    @classmethod
    def parse(cls, text: str) -> "CommandPattern":
        """
        A backslash before a last `:*` makes that a part of the command.

        Raises ValueError saying what is wrong with *text* and what would be right.
        """
        is_literal = text.endswith("\\:*")
        prefix = text.endswith(":*") and not is_literal
        command = text[:-2] if prefix else text[:-3] + ":*" if is_literal else text
        words = tuple(command.split())
        if not words:
            raise ValueError("there is no command in it; write Bash alone for every command")
        return cls(command, words, prefix)

    def fits(self, command: str | None) -> bool:
        """Whether *command* is, to the letter, what the pattern names."""
        return not self.prefix and command == self.text

    def bearing(self, command: str | None) -> Bearing:
        """Whether *command* runs what the pattern names, as far as its words tell."""
        if command is None:
            return "unsure"
        words = command.split()
        if tuple(words[: len(self.words)] if self.prefix else words) == self.words:
            return "yes"
        if not words or not _PLAIN.fullmatch(command) or "=" in words[0]:
            return "unsure"
        # Behind a wrapper (timeout 5 rm x), by its path (/bin/rm x), behind an option (git -C . push).
        said = {word.casefold() for word in words} | {_program(word) for word in words}
        wanted = {_program(self.words[0]), *(word.casefold() for word in self.words[1:])}
        return "unsure" if wanted <= said else "no"


def _program(word: str) -> str:
    return word.rsplit("/", maxsplit=1)[-1].casefold()
