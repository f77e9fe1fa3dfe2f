"""What an engine is made of: the ports it was given and how it was told to use them."""

from norma.domain.engine.gate import Toolbox
from norma.domain.model.facts import USUAL_LIMITS, Limits
from norma.domain.model.requests import ReplyOptions, SystemSegment
from norma.domain.model.values import frozen
from norma.domain.policy.policy import CurrentPolicy
from norma.ports.approver import Approver
from norma.ports.clock import Clock
from norma.ports.journal import Journal
from norma.ports.model import ChatModel


@frozen
class World:
    """
    Shared by the sessions of one engine.

    *approver* None: questions go to the host as events. *tool_timeout_s* bounds each run of a tool,
    None for no bound. *grace_s* is how long a cancelled tool may take to end before it is left
    behind as "outcome unknown".
    """

    model: ChatModel
    toolbox: Toolbox
    policy: CurrentPolicy
    approver: Approver | None
    journal: Journal
    clock: Clock
    system: tuple[SystemSegment, ...] = ()
    options: ReplyOptions = ReplyOptions()
    limits: Limits = USUAL_LIMITS
    workspace: str | None = None
    tool_timeout_s: float | None = 600.0
    grace_s: float = 2.0
