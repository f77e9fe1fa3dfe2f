"""
What tool servers may ask of Norma, as the settings offer it (`mcp.offer`).

A server that asks is a stranger: an answer of the model is judged by the policy and asked about each time,
and a form is shown to a person or left unanswered.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from norma.app.settings import Settings
from norma.domain.model.actions import Action, Effects, action_digest
from norma.domain.model.blocks import Text, text_of
from norma.domain.model.questions import Answer, Later, Question
from norma.domain.model.replies import BlockEnded, ReplyFinished
from norma.domain.model.requests import ReplyRequest
from norma.domain.policy.policy import CurrentPolicy
from norma.domain.tools.remote_names import ELICITATION, SAMPLING, own_name, server_parts
from norma.ports.approver import Approver
from norma.ports.clock import Clock
from norma.ports.errors import Refused
from norma.ports.model import ChatModel
from norma.ports.tool_server import Filled, Offers, Sampled


def server_offers(
    settings: Settings,
    roots: Sequence[str],
    policy: CurrentPolicy,
    approver: Approver | None,
    model: Callable[[], ChatModel],
    clock: Clock,
) -> Offers:
    """The offers of these settings; *model* is asked for when a server wants an answer, not before."""
    offered = settings.mcp.offer
    host = _Host(tuple(settings.mcp.servers), policy, approver, model, clock)
    return Offers(
        tuple(roots) if "roots" in offered else None,
        host.sample if "sampling" in offered else None,
        host.elicit if "elicitation" in offered else None,
    )


class _Host:
    """Answers servers for a person."""

    def __init__(
        self,
        servers: Sequence[str],
        policy: CurrentPolicy,
        approver: Approver | None,
        model: Callable[[], ChatModel],
        clock: Clock,
    ) -> None:
        self._parts = server_parts(servers)
        self._policy = policy
        self._approver = approver
        self._model = model
        self._clock = clock

    async def sample(self, server: str, request: ReplyRequest) -> Sampled:
        """Let the model answer, if policy and person agree."""
        model = self._model()
        said = "\n".join(f"{message.role}: {text_of(message.blocks)}" for message in request.messages)
        shows = (
            f"let {model.name} answer the tool server {server}, which then gets to read the answer:\n{said}"
        )
        await self._permitted(self._action(server, SAMPLING, shows))
        texts: list[str] = []
        stop = "other"
        async with model.reply(request) as reply:
            async for event in reply:
                if isinstance(event, BlockEnded) and isinstance(event.block, Text):
                    texts.append(event.block.text)
                elif isinstance(event, ReplyFinished):
                    stop = event.stop.reason
        return Sampled(Text("\n\n".join(texts)), model.name, stop)

    async def elicit(self, server: str, message: str, schema: Mapping[str, Any]) -> Filled:
        """
        Show a form. A person accepts it with `yes` and, as the reason, the answer: JSON, or the words for its
        only field.
        """
        fields = _fields(schema)
        shows = f"the tool server {server} asks:\n{message}"
        if fields:
            shows += f"\nfields: {json.dumps(fields, ensure_ascii=False)}"
        action = self._action(server, ELICITATION, shows)
        verdict = self._policy.policy.judge(action, tool_digest=action_digest(action))
        if verdict.decision == "deny":
            return Filled("decline")
        answer = await self._asked(action, "A tool server wants to know something.")
        if answer is None:
            return Filled("cancel")
        if not answer.allows:
            return Filled("cancel" if answer.word == "stop" else "decline")
        values = _values(answer.feedback, fields, schema)
        return Filled("cancel") if values is None else Filled("accept", values)

    def _action(self, server: str, what: str, shows: str) -> Action:
        name = own_name(self._parts[server], what)
        return Action(name, Effects(network=True), shows, name)

    async def _permitted(self, action: Action) -> None:
        verdict = self._policy.policy.judge(action, tool_digest=action_digest(action))
        if verdict.decision == "deny":
            raise Refused(verdict.why)
        if verdict.decision == "allow":
            return
        answer = await self._asked(action, verdict.why)
        if answer is None:
            raise Refused(f"nobody can be asked; the rule {action.rule} would allow it")
        if not answer.allows:
            raise Refused(answer.feedback or "it was denied")

    async def _asked(self, action: Action, why: str) -> Answer | None:
        """A person's word; None if there is none to be had."""
        if self._approver is None:
            return None
        digest = action_digest(action)
        question = Question(f"mcp:{self._clock.new_id()}", action.tool, action, digest, digest, why)
        answer = await self._approver.ask(question)
        return answer if isinstance(answer, Answer) and not isinstance(answer, Later) else None


def _fields(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _values(
    said: str | None, fields: Mapping[str, Any], schema: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """What a person filled in; None if a field that must be filled is not."""
    values: Any = {}
    if said:
        try:
            values = json.loads(said)
        except ValueError:
            values = said
        if not isinstance(values, Mapping):
            values = {next(iter(fields)): values} if len(fields) == 1 else {}
    values = {key: value for key, value in values.items() if key in fields}
    required = schema.get("required")
    missing = [key for key in required if key not in values] if isinstance(required, list) else []
    return None if missing else values
