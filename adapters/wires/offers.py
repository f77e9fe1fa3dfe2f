"""Tools as a wire offers them: names it takes, schemas it takes (contract M13). Pure."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from norma.adapters.wires.losses import Loss
from norma.adapters.wires.names import WireNames
from norma.adapters.wires.schemas import cleaned
from norma.domain.model.requests import ToolSpec

Shape: TypeAlias = Callable[[str, str, Mapping[str, Any]], dict[str, Any]]
"""Makes a wire's tool of name, description and schema."""


class Offers:
    """
    Encodes tools, once for as long as they are the same objects.

    Raises ValueError, from `encode`, for a tool that the wire can't take; the message names it.
    """

    def __init__(self, shape: Shape, *, inline_refs: bool) -> None:
        self._shape = shape
        self._inline_refs = inline_refs
        self._known: tuple[ToolSpec, ...] = ()
        self._wire: list[dict[str, Any]] = []
        self._losses: list[Loss] = []

    def encode(
        self, tools: tuple[ToolSpec, ...], names: WireNames, losses: list[Loss]
    ) -> list[dict[str, Any]]:
        """The tools, shared with the next request: copy to change. What they lose is added to *losses*."""
        known = self._known
        if len(known) != len(tools) or any(one is not other for one, other in zip(known, tools, strict=True)):
            lost: list[Loss] = []
            self._wire = [self._tool(tool, names, lost) for tool in tools]
            self._known, self._losses = tools, lost
        losses += self._losses
        return self._wire

    def _tool(self, tool: ToolSpec, names: WireNames, losses: list[Loss]) -> dict[str, Any]:
        try:
            schema, lost = cleaned(tool.input_schema, inline_refs=self._inline_refs)
        except ValueError as error:
            raise ValueError(f"the tool {tool.name!r} can't be offered to this model: {error}") from None
        if lost:
            why = f"{tool.name}: {', '.join(lost)} at the top of a schema is refused on this wire"
            losses.append(Loss("schema", "translated", why))
        return self._shape(names.to_wire(tool.name), tool.description, schema)
