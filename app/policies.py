"""The permission policy that settings ask for."""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from norma.app.settings import Settings
from norma.domain.policy.paths import PathPattern, literal
from norma.domain.policy.policy import CurrentPolicy, Policy, ScopeRules
from norma.domain.policy.rules import parse_rule
from norma.ports.files import Workspace


def current_policy(settings: Settings, workspace: Workspace) -> CurrentPolicy:
    """
    The policy of all scopes and of the mode; the rules were checked when settings were filled.

    Rules are compared with resolved paths. So where a path in a deny or ask rule leads elsewhere through
    links (`secrets` to `.vault`), a second rule with that other spelling stands beside it. Links are
    followed once, here. In an allow rule they are not: it allows what it names and nothing more.
    """
    scopes = [
        ScopeRules(one.scope, one.allow, _both(one.ask, workspace), _both(one.deny, workspace))
        for one in settings.scopes
    ]
    mode = settings.permissions.mode
    return CurrentPolicy(Policy.of(mode, scopes, ignore_case=workspace.ignores_case))


def _both(rules: Sequence[str], workspace: Workspace) -> tuple[str, ...]:
    return tuple(spelling for rule in rules for spelling in (rule, *_elsewhere(rule, workspace)))


def _elsewhere(text: str, workspace: Workspace) -> Iterator[str]:
    """The rules of the places that the path in front of *text*'s wildcards really leads to."""
    rule = parse_rule(text)
    if not isinstance(rule.where, PathPattern):
        return
    front = list(takewhile(lambda part: isinstance(part, str), rule.where.parts))
    names = [name for name in _specifier(rule.text).split("/") if name not in {"", "."}]
    behind = names[len(front) :]
    starts = ("",) if rule.where.absolute else workspace.roots
    for start in starts:
        named = "/".join([start.rstrip("/"), *map(str, front)]) or "/"
        try:
            real = workspace.resolve(named).path
        except (OSError, ValueError):
            # What can't be followed can't be opened by a tool either; the rule as written stays.
            continue
        if real != named:
            yield f"{rule.tool}({'/'.join([literal(real).rstrip('/'), *behind]) or '/'})"


def _specifier(rule: str) -> str:
    return rule[rule.index("(") + 1 : -1]
