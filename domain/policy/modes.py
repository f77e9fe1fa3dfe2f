"""What a mode says of a call that no rule speaks of (rule T4)."""

from typing import Literal, TypeAlias, get_args

from norma.domain.model.actions import Action
from norma.domain.policy.families import EDITORS
from norma.domain.policy.rules import Decision

Mode: TypeAlias = Literal["default", "accept-edits", "plan", "dont-ask", "bypass"]
"""
default: reading inside the workspace roots is allowed, the rest asks. accept-edits: editing files
there, too, but not norma.toml nor what is in a .git, which decide over what runs later. plan: only
reading, whatever rules allow. dont-ask: what would ask is denied. bypass: allows what no deny and no
ask rule names.
"""

MODES: tuple[Mode, ...] = get_args(Mode)


def only_reads(action: Action) -> bool:
    """Whether the call changes nothing and reaches nobody, by its effects and by all that it lists."""
    lists_more = action.hosts or action.command is not None
    return action.effects.read_only and not lists_more and all(use.access == "read" for use in action.paths)


def by_mode(mode: Mode, action: Action) -> tuple[Decision, str]:
    """The decision, and the reason in a sentence. "ask" here is what dont-ask turns into a denial."""
    if mode == "bypass":
        return "allow", "No rule forbids it, and the mode bypass allows the rest."
    unseen = _unseen(action)
    if only_reads(action):
        if unseen is None:
            return "allow", "It only reads, inside the workspace."
        return "ask", f"It only reads, but {unseen}."
    if mode == "accept-edits" and _edits_files(action):
        unseen = unseen or _decides(action)
        if unseen is None:
            return "allow", "It edits files inside the workspace, and the mode is accept-edits."
        return "ask", f"It edits files, but {unseen}."
    return "ask", f"No rule covers it, and it may {_effects(action)}."


def _unseen(action: Action) -> str | None:
    """What keeps the paths from being known to lie inside the workspace roots, None if they do."""
    outside = [use.path for use in action.paths if use.root is None]
    if outside:
        return f"{outside[0]} is outside the workspace"
    effects = action.effects
    if (effects.reads or effects.writes) and not action.paths:
        return "it does not say which files it touches"
    return None


def _decides(action: Action) -> str | None:
    """
    What keeps an edit from being like any other: settings and hooks say what will run later.

    Found by name at any depth and whatever the case: a folder further down may be a repository, or
    the place where Norma is started next.
    """
    for use in action.paths:
        names = use.path.casefold().split("/")
        inside = names[len((use.root or "").rstrip("/").split("/")) :]
        if ".git" in inside or inside[-1:] == ["norma.toml"]:
            return f"{use.path} decides over what runs"
    return None


def _edits_files(action: Action) -> bool:
    effects = action.effects
    beyond = effects.network or effects.processes or action.hosts or action.command is not None
    return action.tool in EDITORS and not beyond


def _effects(action: Action) -> str:
    """What the call may do besides reading, in words."""
    effects = action.effects
    does = {
        "change files": effects.writes or any(use.access == "write" for use in action.paths),
        "reach the network": effects.network or bool(action.hosts),
        "start a process": effects.processes or action.command is not None,
    }
    return " and ".join(words for words, holds in does.items() if holds)
