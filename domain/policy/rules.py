"""
Rules as people write them: `Read`, `Read(src/**)`, `WebFetch(domain:*.example.com)`,
`Bash(git status)`, `mcp__server__tool`, `mcp__server__*`.

A tool that nobody knows is no fault, since tools come and go. A specifier that could never match is
one: it would look like protection.
"""

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

from norma.domain.model.values import frozen
from norma.domain.policy.commands import CommandPattern, exactly
from norma.domain.policy.domains import DomainPattern
from norma.domain.policy.families import head_of
from norma.domain.policy.paths import PathPattern, literal

Decision: TypeAlias = Literal["allow", "ask", "deny"]
Specifier: TypeAlias = PathPattern | DomainPattern | CommandPattern

_SHAPE = re.compile(r"(?P<tool>[^()\s]+)(?:\((?P<specifier>.*)\))?", re.DOTALL)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_SERVER = re.compile(r"mcp__(?P<server>[A-Za-z0-9_.-]+?)__(?P<tool>\*|[A-Za-z0-9_.-]+)")


@frozen
class RuleFault:
    """What is wrong with one rule; *scope* and *list* say where it stands, None where nobody knows."""

    rule: str
    fault: str
    scope: str | None = None
    list: Decision | None = None

    def __str__(self) -> str:
        place = f" in the {self.list} list of the {self.scope} scope" if self.scope else ""
        return f"rule {self.rule!r}{place}: {self.fault}"


class RuleError(ValueError):
    """Rules that are none; *faults* has all of them, the message too, a line each."""

    def __init__(self, faults: Iterable[RuleFault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, self.faults)))


@frozen
class Rule:
    """
    One rule, whatever list it stands in. *text* is as a person wrote it.

    *tool* ends in `*` for all tools of an MCP server. *where* narrows the rule, None if it is bare.
    """

    text: str
    tool: str
    where: Specifier | None = None


def parse_rule(text: str, decision: Decision | None = None, *, ignore_case: bool = False) -> Rule:
    """
    The rule that *text* says.

    With *decision*, the list it is to stand in, also what only fits some lists is a fault.
    *ignore_case* is for the file names in it.

    Raises RuleError with one fault.
    """
    try:
        rule = _parsed(text.strip(), ignore_case)
        if decision is not None:
            _refuse_misplaced(rule, decision)
    except ValueError as error:
        raise RuleError([RuleFault(text, str(error))]) from None
    return rule


def path_rule(head: Literal["Read", "Edit"], path: str, *, tree: bool = False) -> str:
    """
    The narrowest rule that allows *head* (or a tool that it binds) on *path*, absolute and resolved.

    With *tree* also on all beneath it, which is what a search needs.
    """
    pattern = literal(path)
    return f"{head}({pattern.rstrip('/')}/**)" if tree else f"{head}({pattern})"


def command_rule(command: str) -> str:
    """The narrowest rule that allows the shell *command*."""
    return f"Bash({exactly(command)})"


def _parsed(text: str, ignore_case: bool) -> Rule:
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        raise ValueError("a rule is a tool's name, or a name and a specifier as in Read(src/**)")
    tool, specifier = shape["tool"], shape["specifier"]
    _refuse_name(tool)
    if specifier is None:
        return Rule(text, tool)
    return Rule(text, tool, _specifier(tool, specifier, ignore_case))


def _refuse_name(tool: str) -> None:
    if tool.startswith("mcp__"):
        if not _SERVER.fullmatch(tool):
            raise ValueError("write mcp__server__tool for one tool, mcp__server__* for all of a server")
    elif tool == "*":
        raise ValueError("no rule stands for every tool; name the tools, or choose a mode")
    elif not _NAME.fullmatch(tool):
        raise ValueError(f"{tool} is no tool's name; only mcp__server__* may have a *")


def _specifier(tool: str, text: str, ignore_case: bool) -> Specifier:
    match tool:
        case "Read" | "Edit":
            return PathPattern.parse(text, ignore_case=ignore_case)
        case "WebFetch":
            if not text.startswith("domain:"):
                raise ValueError("write WebFetch(domain:example.com)")
            return DomainPattern.parse(text.removeprefix("domain:"))
        case "Bash":
            return CommandPattern.parse(text)
        case _:
            pass
    head = head_of(tool)
    if head is not None:
        raise ValueError(f"{tool} takes no specifier; {head}({text}) binds {tool} too")
    raise ValueError(f"{tool} takes no specifier; Read, Edit, WebFetch and Bash do. Write {tool} alone")


def _refuse_misplaced(rule: Rule, decision: Decision) -> None:
    where = rule.where
    if not isinstance(where, CommandPattern):
        return
    if decision == "allow" and where.prefix:
        raise ValueError(
            "a prefix can't allow commands yet, because that needs a shell parser to tell "
            f"{where.text!r} from {where.text + ' && anything'!r}; write the whole command, as in "
            f"Bash({where.text}), or Bash alone for every command"
        )
    if decision != "allow" and "*" in where.text:
        raise ValueError(
            "in a command * is only itself, so this would hardly ever match; write the words that "
            "the command begins with, as in Bash(rm:*)"
        )
