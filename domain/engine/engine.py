"""The engine: what a host builds once, and opens sessions from."""

from collections.abc import Sequence

from norma.domain.engine.gate import Toolbox
from norma.domain.engine.session import Session
from norma.domain.engine.world import World
from norma.domain.model.facts import USUAL_LIMITS, Limits
from norma.domain.model.requests import ReplyOptions, SystemSegment
from norma.domain.policy.policy import CurrentPolicy
from norma.ports.approver import Approver
from norma.ports.clock import Clock
from norma.ports.journal import Journal
from norma.ports.model import ChatModel
from norma.ports.schemas import SchemaCompiler
from norma.ports.tool import Tool
from norma.ports.tool_source import ToolSource


class Engine:
    """
    Sessions over one set of ports. Two engines in one process share nothing.

    The ports stay their owner's: the engine closes none of them. See `World` for *approver*,
    *tool_timeout_s* and *grace_s*.
    """

    def __init__(
        self,
        *,
        model: ChatModel,
        tools: Sequence[Tool],
        policy: CurrentPolicy,
        approver: Approver | None,
        journal: Journal,
        clock: Clock,
        schemas: SchemaCompiler,
        sources: Sequence[ToolSource] = (),
        system: tuple[SystemSegment, ...] = (),
        options: ReplyOptions | None = None,
        limits: Limits | None = None,
        workspace: str | None = None,
        tool_timeout_s: float | None = 600.0,
        grace_s: float = 2.0,
    ) -> None:
        self._world = World(
            model=model,
            toolbox=Toolbox(tools, schemas, sources),
            policy=policy,
            approver=approver,
            journal=journal,
            clock=clock,
            system=system,
            options=options or ReplyOptions(),
            limits=limits or USUAL_LIMITS,
            workspace=workspace,
            tool_timeout_s=tool_timeout_s,
            grace_s=grace_s,
        )

    async def session(self, session_id: str | None = None) -> Session:
        """
        A new session, or the one of that id as its journal has it (new, too, if there is none).

        Raises ValueError for an id that can't be one, JournalFailed if it can't be read.
        """
        if session_id is None:
            return Session(self._world, self._world.clock.new_id())
        session = Session(self._world, session_id)
        await session.load()
        return session
