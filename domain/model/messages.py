"""Messages: who said what."""

from typing import Literal, TypeAlias

from norma.domain.model.blocks import Block
from norma.domain.model.tags import tagged
from norma.domain.model.values import frozen

Role: TypeAlias = Literal["user", "assistant", "tool"]


@tagged("message")
@frozen
class Message:
    """
    One message of a conversation.

    A *tool* message holds the results of the assistant message before it and nothing else.
    *cut* marks an assistant message that did not come to its end, and says why
    ("interrupted", "stream dropped", …).
    """

    role: Role
    blocks: tuple[Block, ...]
    cut: str | None = None
