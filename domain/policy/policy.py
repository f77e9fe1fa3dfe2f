"""
The policy: one verdict on one action (rules T2 to T4).

The order, over the rules of all scopes at once: a deny rule denies. In the mode plan, what does not
only read is denied. An ask rule asks, unless a person has granted this very thing for the session:
that was the answer to its question. An allow rule or a grant allows. Then the mode decides, and
dont-ask denies what would ask.

Nothing depends on the order of the rules, in a file or between files: verdict and reason are the same.
Another deny or ask rule never makes a verdict milder.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

from attrs import Attribute, field

from norma.domain.model.actions import Action
from norma.domain.model.questions import Grant
from norma.domain.model.values import frozen
from norma.domain.policy.commands import Bearing
from norma.domain.policy.domains import labels_of
from norma.domain.policy.matching import bearing, covers
from norma.domain.policy.modes import MODES, Mode, by_mode, only_reads
from norma.domain.policy.paths import PathPattern, holds
from norma.domain.policy.rules import Decision, Rule, RuleError, RuleFault, parse_rule

__all__ = ["CurrentPolicy", "Mode", "Policy", "ScopeRules", "Verdict"]

ScopeName: TypeAlias = Literal["managed", "user", "project", "session"]

_SCOPES: tuple[str, ...] = ("managed", "user", "project", "session")
_LISTS: tuple[Decision, ...] = ("deny", "ask", "allow")


def _is_scope(_: object, __: "Attribute[str]", name: str) -> None:
    if name not in _SCOPES:
        raise ValueError(f"{name!r} is no scope; the scopes are {', '.join(_SCOPES)}")


def _is_tuple(_: object, attribute: "Attribute[tuple[str, ...]]", rules: object) -> None:
    if not isinstance(rules, tuple):  # a string would be read as one rule a letter
        raise TypeError(f"{attribute.name} must be a tuple of rules, got {rules!r}")


@frozen
class ScopeRules:
    """The rules of one scope, as text. Where they come from, and who trusts them, is the caller's matter."""

    name: str = field(validator=_is_scope)
    allow: tuple[str, ...] = field(default=(), validator=_is_tuple)
    ask: tuple[str, ...] = field(default=(), validator=_is_tuple)
    deny: tuple[str, ...] = field(default=(), validator=_is_tuple)


@frozen
class Verdict:
    """
    The policy's word on a call.

    *rule* decided it and stands in *scope*; both are None where the mode did. *why* is a sentence
    for a person and for the model.
    """

    decision: Decision
    rule: str | None
    scope: str | None
    why: str


@frozen
class ScopedRule:
    """A rule and where it stands."""

    scope: str
    rule: Rule


@frozen
class Policy:
    """Rules and a mode. Equal for equal rules, in whatever order they were given."""

    mode: Mode
    deny: tuple[ScopedRule, ...]
    ask: tuple[ScopedRule, ...]
    allow: tuple[ScopedRule, ...]

    @classmethod
    def of(cls, mode: Mode, scopes: Sequence[ScopeRules] = (), *, ignore_case: bool = False) -> "Policy":
        """
        The policy of these rules.

        *ignore_case* is for a workspace whose file system ignores the case of names: deny and ask
        rules then do, too.

        Raises RuleError with every rule that is none, ValueError for an unknown mode.
        """
        if mode not in MODES:
            raise ValueError(f"{mode!r} is no mode; the modes are {', '.join(MODES)}")
        faults: list[RuleFault] = []
        deny, ask, allow = (_read(scopes, decision, ignore_case, faults) for decision in _LISTS)
        if faults:
            raise RuleError(faults)
        return cls(mode, deny, ask, allow)

    def judge(self, action: Action, *, tool_digest: str, grants: Sequence[Grant] = ()) -> Verdict:
        """
        Whether *action* may run.

        *tool_digest* is that of the tool as it is now: a grant for the tool as it was does not count.
        """
        fault = _unreadable(action)
        if fault is not None:
            return Verdict("deny", None, None, fault)
        denied, doubtful = _first(self.deny, action, beneath=False)
        if denied is not None:
            return _by(denied, "deny", f"The {_named('deny', denied)} forbids it.")
        if self.mode == "plan" and not only_reads(action):
            return Verdict("deny", None, None, "The mode is plan: calls that do more than read are denied.")
        grant = _granted(action, tool_digest, grants)
        if grant is None:
            asked = self._asked(action, doubtful)
            if asked is not None:
                return asked
        return self._allowed(action, grant) or self._unruled(action)

    def hides(self, path: str, roots: tuple[str, ...]) -> bool:
        """
        Whether a deny rule of Read covers *path*, absolute and resolved: searches and lists leave it out.

        Raises ValueError if the path is not absolute or has `.` or `..` in it.
        """
        return any(_hides(one.rule, path, roots) for one in self.deny if one.rule.tool.casefold() == "read")

    def _asked(self, action: Action, doubtful: ScopedRule | None) -> Verdict | None:
        asking, unsure = _first(self.ask, action, beneath=True)
        if asking is not None:
            return self._question(action, asking, f"The {_named('ask', asking)} wants a question first.")
        if doubtful is not None:
            why = (
                f"It can't be told from the text whether the {_named('deny', doubtful)} forbids this command."
            )
            return self._question(action, doubtful, why)
        if unsure is not None:
            why = f"It can't be told from the text whether the {_named('ask', unsure)} means this command."
            return self._question(action, unsure, why)
        return None

    def _question(self, action: Action, source: ScopedRule, why: str) -> Verdict:
        if self.mode != "dont-ask":
            return _by(source, "ask", why)
        remedy = "Only without that rule, or in another mode, can it be allowed"
        return _by(source, "deny", f"{why} The mode is dont-ask, so it is denied. {remedy} ({action.rule}).")

    def _allowed(self, action: Action, grant: Grant | None) -> Verdict | None:
        allowing = next((one for one in self.allow if covers(one.rule, action)), None)
        if allowing is not None:
            return _by(allowing, "allow", f"The {_named('allow', allowing)} covers it.")
        if grant is not None:
            return Verdict(
                "allow", grant.rule, "session", f"The rule {grant.rule} was allowed for this session."
            )
        return None

    def _unruled(self, action: Action) -> Verdict:
        decision, why = by_mode(self.mode, action)
        if decision == "ask" and self.mode == "dont-ask":
            why = f"{why} The mode is dont-ask, so it is denied. The allow rule {action.rule} would allow it."
            decision = "deny"
        return Verdict(decision, None, None, why)


class CurrentPolicy:
    """The policy in force. Engine and tools share one; each call is judged by what it holds just then."""

    __slots__ = ("policy",)

    def __init__(self, policy: Policy) -> None:
        self.policy = policy


def _read(
    scopes: Iterable[ScopeRules], decision: Decision, ignore_case: bool, faults: list[RuleFault]
) -> tuple[ScopedRule, ...]:
    """The rules of one list in an order of their own; *faults* gets what is no rule."""
    # For allowing, names are compared to the letter: other letters may be another file after all.
    loose = ignore_case and decision != "allow"
    rules: set[tuple[int, str]] = set()
    for scope in scopes:
        for text in getattr(scope, decision):
            try:
                rules.add((_SCOPES.index(scope.name), parse_rule(text, decision, ignore_case=loose).text))
            except RuleError as error:
                faults += [RuleFault(one.rule, one.fault, scope.name, decision) for one in error.faults]
    return tuple(
        ScopedRule(_SCOPES[rank], parse_rule(text, ignore_case=loose)) for rank, text in sorted(rules)
    )


def _first(
    rules: Iterable[ScopedRule], action: Action, *, beneath: bool
) -> tuple[ScopedRule | None, ScopedRule | None]:
    """The first rule that speaks of *action*, and the first of which that can't be told."""
    unsure = None
    for one in rules:
        speaks: Bearing = bearing(one.rule, action, beneath=beneath)
        if speaks == "yes":
            return one, unsure
        if speaks == "unsure" and unsure is None:
            unsure = one
    return None, unsure


def _granted(action: Action, tool_digest: str, grants: Iterable[Grant]) -> Grant | None:
    fitting = (grant for grant in grants if grant.tool_digest == tool_digest)
    return next((grant for grant in fitting if _covers(grant.rule, action)), None)


def _covers(text: str, action: Action) -> bool:
    rule = _grant_rule(text)
    return rule is not None and covers(rule, action)


@lru_cache(maxsize=1024)
def _grant_rule(text: str) -> Rule | None:
    """A grant that is no rule (of another version, say) grants nothing: the person is asked again."""
    try:
        return parse_rule(text)
    except RuleError:
        return None


def _hides(rule: Rule, path: str, roots: tuple[str, ...]) -> bool:
    if not isinstance(rule.where, PathPattern):
        return True
    if rule.where.absolute:
        return rule.where.holds(path, None)
    return any(rule.where.holds(path, root) for root in roots if holds(root, path))


def _unreadable(action: Action) -> str | None:
    """What in *action* can't be compared with rules; such a call is denied, since no deny could bind it."""
    for use in action.paths:
        try:
            inside = holds("/" if use.root is None else use.root, use.path)
        except ValueError as error:
            return f"The tool {action.tool} named a path that rules can't be compared with: {error}."
        if not inside:
            return f"The tool {action.tool} named {use.path} as inside {use.root}, where it is not."
    for host in action.hosts:
        if not host.host.isascii() or not all(labels_of(host.host)):
            return f"The tool {action.tool} named {host.host!r} as a host, which is no name in ASCII form."
    return None


def _by(source: ScopedRule, decision: Decision, why: str) -> Verdict:
    return Verdict(decision, source.rule.text, source.scope, why)


def _named(word: Decision, source: ScopedRule) -> str:
    return f"{word} rule {source.rule.text} ({source.scope} scope)"
