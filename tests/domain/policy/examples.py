"""Actions to judge, and policies to judge them by."""

from collections.abc import Sequence

from norma.domain.model.actions import ANY_EFFECT, Access, Action, Effects, HostUse, PathUse
from norma.domain.model.questions import Grant
from norma.domain.policy.policy import Mode, Policy, ScopeRules, Verdict

ROOT = "/project"


def use(path: str, access: Access = "read") -> PathUse:
    inside = path == ROOT or path.startswith(ROOT + "/")
    return PathUse(path, access, ROOT if inside else None)


def reading(*paths: str, tool: str = "Read") -> Action:
    return Action(tool, Effects(reads=True), " ".join(paths), f"Read({paths[0]})", tuple(map(use, paths)))


def editing(*paths: str, tool: str = "Edit") -> Action:
    uses = tuple(use(path, "write") for path in paths)
    return Action(tool, Effects(reads=True, writes=True), " ".join(paths), f"Edit({paths[0]})", uses)


def fetching(*hosts: str) -> Action:
    uses = tuple(HostUse(host, f"https://{host}/") for host in hosts)
    return Action("WebFetch", Effects(network=True), uses[0].url, f"WebFetch(domain:{hosts[0]})", hosts=uses)


def shell(command: str) -> Action:
    return Action("Bash", ANY_EFFECT, command, f"Bash({command})", command=command)


def remote(tool: str) -> Action:
    return Action(tool, ANY_EFFECT, tool, tool)


def pure(tool: str = "TodoWrite") -> Action:
    return Action(tool, Effects(), tool, tool)


def policy(
    mode: Mode = "default",
    *,
    allow: Sequence[str] = (),
    ask: Sequence[str] = (),
    deny: Sequence[str] = (),
    ignore_case: bool = False,
) -> Policy:
    scope = ScopeRules("user", tuple(allow), tuple(ask), tuple(deny))
    return Policy.of(mode, [scope], ignore_case=ignore_case)


def verdict(of: Policy, action: Action, grants: Sequence[Grant] = ()) -> Verdict:
    return of.judge(action, tool_digest="digest", grants=grants)


def decision(of: Policy, action: Action, grants: Sequence[Grant] = ()) -> str:
    return verdict(of, action, grants).decision
