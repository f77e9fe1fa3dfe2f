"""Histories by chance: any blocks in any message, as no honest engine would make them."""

from typing import Any

from hypothesis import strategies as st

from norma.domain.model.blocks import Audio, Document, Image, Opaque, Text, Thinking, ToolCall, ToolResult
from norma.domain.model.messages import Message

_VENDORS = st.sampled_from([None, "deepseek", "x", "anthropic", "openai"])
_CITATIONS = st.sampled_from([(), ({"url": "u"},), ({"type": "page_location", "url": "u"},)])
_PAYLOADS = st.sampled_from(
    [
        {"k": 1},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
    ]
)

BLOCKS: dict[str, st.SearchStrategy[Any]] = {
    "text": st.builds(Text, st.text(max_size=5), _CITATIONS),
    "thinking": st.builds(
        Thinking,
        st.text(max_size=5),
        st.none() | st.just("sig"),
        st.none() | st.just("enc"),
        st.none() | st.just("red"),
        vendor=_VENDORS,
    ),
    "tool_call": st.builds(
        ToolCall,
        st.sampled_from(["a", "b", "c d", ""]),
        st.sampled_from(["f", "g.h", ""]),
        st.just({"n": 2**70}),
        st.booleans(),
        st.just("raw"),
    ),
    "image": st.builds(
        Image,
        st.sampled_from(["image/png", "image/tiff"]),
        st.none() | st.just("AA=="),
        st.none() | st.just("http://i"),
    ),
    "audio": st.builds(Audio, st.sampled_from(["audio/wav", "audio/ogg"]), st.none() | st.just("AA==")),
    "document": st.builds(
        Document,
        st.sampled_from(["application/pdf", "text/plain"]),
        st.none() | st.sampled_from(["AA==", "aGk=", "no base64"]),
        st.none() | st.just("http://d"),
    ),
    "opaque": st.builds(Opaque, st.sampled_from(["v", "anthropic", "openai"]), _PAYLOADS),
}
BLOCKS["tool_result"] = st.builds(
    ToolResult,
    st.sampled_from(["a", "b", "c d", "", "gone"]),
    st.lists(
        st.one_of(*(BLOCKS[kind] for kind in ("text", "image", "audio", "document", "opaque"))), max_size=2
    ).map(tuple),
    st.booleans(),
)
HISTORY = st.lists(
    st.builds(
        Message,
        st.sampled_from(["user", "assistant", "tool"]),
        st.lists(st.one_of(*BLOCKS.values()), max_size=3).map(tuple),
    ),
    max_size=7,
)
