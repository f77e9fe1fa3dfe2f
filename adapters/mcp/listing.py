"""
Lists that come in pages: what a page holds, and when to stop (contract P2). Pure.

A cursor is opaque, so the guard is the set of cursors that were seen.
"""

from collections.abc import Mapping
from typing import Any

from norma.adapters.mcp.schemas import usable_schema
from norma.ports.tool_server import Prompt, PromptArgument, Resource, ServerTool, ToolHints

MOST_PAGES = 100


class Pages:
    """Collects the items under *key* of one list."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._seen: set[str] = set()
        self._pages = 0
        self.items: list[Any] = []
        self.notes: list[str] = []

    def take(self, result: Any) -> str | None:
        """The next page; the cursor of the one to ask for, None at the end."""
        self._pages += 1
        items = result.get(self._key) if isinstance(result, Mapping) else None
        if isinstance(items, list):
            self.items += items
        else:
            self.notes.append(f"the server answered {self._key}/list without a list of {self._key}")
            return None
        cursor = result.get("nextCursor")
        if not isinstance(cursor, str):  # an empty text is a cursor like any other
            return None
        if cursor in self._seen:
            self.notes.append(
                f"the list of {self._key} repeats its cursor {cursor[:100]!r}; it was ended there"
            )
            return None
        if self._pages >= MOST_PAGES:
            self.notes.append(f"the list of {self._key} has over {MOST_PAGES} pages; the rest was left out")
            return None
        self._seen.add(cursor)
        return cursor


def tools_of(items: list[Any]) -> tuple[tuple[ServerTool, ...], list[str]]:
    """The tools that can be used, each name once, and a note on each that can't."""
    tools: dict[str, ServerTool] = {}
    notes: list[str] = []
    for item in items:
        name = item.get("name") if isinstance(item, Mapping) else None
        if not isinstance(name, str) or not name.strip():
            notes.append("a tool without a name was left out")
            continue
        tool, fault = _tool(name, item)
        if fault is None and name in tools:
            if tools[name] == tool:
                continue  # the same one twice, as in pages that overlap
            fault = "there are two of this name; the second"
        if tool is None or fault is not None:
            notes.append(f"tool {name[:100]!r}: {fault} was left out")
        else:
            tools[name] = tool
    return tuple(tools.values()), notes


def _tool(name: str, item: Mapping[str, Any]) -> tuple[ServerTool | None, str | None]:
    execution = item.get("execution")
    if isinstance(execution, Mapping) and execution.get("taskSupport") == "required":
        return None, "it can only be called as a task, which this client does not offer, so it"
    schema, fault = usable_schema(item.get("inputSchema"))
    if schema is None:
        return None, f"its schema can't be used ({fault}), so it"
    about = item.get("description")
    if not isinstance(about, str) or not about.strip():
        title = item.get("title")
        about = title if isinstance(title, str) and title.strip() else f"The tool {name} of a tool server."
    hints = item.get("annotations")
    hints = hints if isinstance(hints, Mapping) else {}
    said = ToolHints(hints.get("readOnlyHint") is True, hints.get("idempotentHint") is True)
    return ServerTool(name, about, schema, said), None


def resources_of(items: list[Any], *, template: bool) -> tuple[Resource, ...]:
    """The resources among *items*; what has no address is none."""
    found = []
    key = "uriTemplate" if template else "uri"
    for item in items:
        if isinstance(item, Mapping) and isinstance(item.get(key), str):
            media_type = item.get("mimeType")
            found.append(
                Resource(
                    item[key],
                    _word(item, "title") or _word(item, "name") or item[key],
                    _word(item, "description"),
                    media_type if isinstance(media_type, str) else None,
                    template,
                )
            )
    return tuple(found)


def prompts_of(items: list[Any]) -> tuple[Prompt, ...]:
    """The prompts among *items*; what has no name is none."""
    return tuple(
        Prompt(item["name"], _word(item, "description"), _arguments(item.get("arguments")))
        for item in items
        if isinstance(item, Mapping) and isinstance(item.get("name"), str)
    )


def _arguments(items: Any) -> tuple[PromptArgument, ...]:
    if not isinstance(items, list):
        return ()
    return tuple(
        PromptArgument(item["name"], _word(item, "description"), item.get("required") is True)
        for item in items
        if isinstance(item, Mapping) and isinstance(item.get("name"), str)
    )


def _word(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key)
    return value if isinstance(value, str) else ""
