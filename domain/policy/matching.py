"""
Whether a rule speaks of an action.

Two readings of the same rule. `covers` is for allowing: the rule must name the tool and all that
the call touches. `bearing` is for denying and asking: one thing that the call touches is enough.
A path is a path whatever tool touches it, so there a specifier of Read or Edit binds tools of
strangers, too.
"""

import re

from norma.domain.model.actions import Action, PathUse
from norma.domain.policy.commands import Bearing, CommandPattern
from norma.domain.policy.domains import DomainPattern
from norma.domain.policy.families import EDITORS, READERS, SEARCHERS, SHELLS, family_of
from norma.domain.policy.paths import PathPattern
from norma.domain.policy.rules import Rule

# Names in which server and tool can be told apart; others have to be allowed one by one.
_PLAIN_MCP = re.compile(r"(?P<server>mcp__(?!_)(?:(?!__).)+(?<!_)__)(?!_)(?:(?!__).)+")


def covers(rule: Rule, action: Action) -> bool:
    """
    Whether an allow rule takes in everything that *action* does.

    One that names no path covers nothing outside the workspace roots. A search needs a pattern
    that takes in all beneath the folder (`dir/**`).
    """
    if not _allows_tool(rule, action):
        return False
    match rule.where:
        case None:
            return all(use.root is not None for use in action.paths)
        case PathPattern() as pattern:
            fits = pattern.matches_tree if action.tool in SEARCHERS else pattern.matches
            return bool(action.paths) and all(fits(use.path, use.root) for use in action.paths)
        case DomainPattern() as pattern:
            return _only_fetches(action) and all(pattern.matches(use.host) for use in action.hosts)
        case CommandPattern() as pattern:
            return pattern.fits(action.command) and all(use.root is not None for use in action.paths)


def bearing(rule: Rule, action: Action, *, beneath: bool) -> Bearing:
    """
    Whether a rule that forbids or asks speaks of something that *action* does.

    With *beneath*, a search touches all that can be beneath the paths it names.
    """
    match rule.where:
        case None:
            return _yes(_names_tool(rule.tool, action.tool))
        case PathPattern() as pattern:
            wide = beneath and action.tool in SEARCHERS
            touches = pattern.reaches if wide else pattern.holds
            return _yes(any(touches(use.path, use.root) for use in action.paths if _binds(rule, use, action)))
        case DomainPattern() as pattern:
            named = action.tool == rule.tool
            return _yes(named and any(pattern.matches(use.host) for use in action.hosts))
        case CommandPattern() as pattern:
            return pattern.bearing(action.command) if action.tool in SHELLS else "no"


def _yes(speaks: bool) -> Bearing:
    return "yes" if speaks else "no"


def _allows_tool(rule: Rule, action: Action) -> bool:
    """Whether the rule's name takes in the tool, and what the name means takes in what it does."""
    if rule.tool.endswith("*"):
        name = _PLAIN_MCP.fullmatch(action.tool)
        return name is not None and name["server"] + "*" == rule.tool
    if action.tool not in family_of(rule.tool):
        return False
    if rule.tool in {"Read", "Edit"}:
        return not _goes_beyond_files(action) and (rule.tool == "Edit" or not _writes(action))
    return True


def _goes_beyond_files(action: Action) -> bool:
    effects = action.effects
    return effects.network or effects.processes or bool(action.hosts) or action.command is not None


def _writes(action: Action) -> bool:
    return action.effects.writes or any(use.access == "write" for use in action.paths)


def _only_fetches(action: Action) -> bool:
    effects = action.effects
    more = effects.writes or effects.processes or action.paths or action.command is not None
    return bool(action.hosts) and not more


def _names_tool(name: str, tool: str) -> bool:
    """Whether a bare rule that forbids binds *tool*; case aside, so that a deny of `bash` denies."""
    name, tool = name.casefold(), tool.casefold()
    if name.endswith("*"):
        return tool.startswith(name[:-1])
    families = {"read": READERS | EDITORS, "edit": EDITORS, "bash": SHELLS}
    return tool in {member.casefold() for member in families.get(name, {name})}


def _binds(rule: Rule, use: PathUse, action: Action) -> bool:
    """Whether it speaks of this use: Read of any, for who may not read may not edit; Edit of writing."""
    return rule.tool == "Read" or use.access == "write" or action.tool in EDITORS
