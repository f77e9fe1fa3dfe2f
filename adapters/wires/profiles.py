"""
Provider profiles as data (contract M15): how services that speak a common wire differ.

A profile is chosen by name or by the host of the base URL; `attrs.evolve` overrides any field.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from itertools import takewhile
from typing import Any, Literal, TypeAlias

from attrs import evolve, field

from norma.domain.model.values import frozen

Replay: TypeAlias = Literal["never", "calls", "always"]
"""Whether thinking goes back to its provider: never, with messages that hold tool calls, or always."""

MessagesThinking: TypeAlias = Literal["budget", "adaptive"]
"""How a wish to think is said on the Messages wire: with a budget of tokens, or the model decides."""

ThinkingForm: TypeAlias = Literal["none", "type", "enable_thinking", "reasoning"]
"""
How a wish to think is said on the chat wire: not at all; `thinking: {type}`; `enable_thinking` with
`thinking_budget`; or `reasoning: {…}`.
"""


@frozen
class ModelRule:
    """Fields that differ for models whose name fits *pattern* (as file names do)."""

    pattern: str
    changes: Mapping[str, Any]

    def fits(self, name: str) -> bool:
        """Whether *name* is one of them."""
        # Most names differ before the first sign that stands for others, and then nothing is compiled.
        start = "".join(takewhile(lambda sign: sign not in "*?[", self.pattern))
        return name.startswith(start) and fnmatchcase(name, self.pattern)


@frozen
class Profile:
    """
    One service.

    *vendor* marks what only it understands; None: the host of the base URL does. *hosts* are names whose
    subdomains count too. *forbidden* are body fields that it refuses. *id_pattern* is what it takes as a
    tool-call id; derived ones are *id_prefix* and *id_length* hexadecimal digits. *messages_effort*: it takes
    an effort on the Messages wire. *extra_body* and *extra_headers* go into each request.
    """

    name: str
    vendor: str | None = None
    hosts: tuple[str, ...] = ()
    auth: Literal["bearer", "api-key"] = "bearer"
    system_role: Literal["system", "developer"] = "system"
    token_limit_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    stream_usage: bool = True
    reasons: bool = False
    thinking_form: ThinkingForm = "none"
    messages_thinking: MessagesThinking = "budget"
    messages_effort: bool = True
    reasoning_field: str = "reasoning_content"
    reasoning_replay: Replay = "never"
    reasoning_placeholder: str | None = None
    forbidden: frozenset[str] = frozenset()
    most_stops: int | None = None
    id_pattern: str = r"[^\s]{1,40}"
    id_prefix: str = "call_"
    id_length: int = 24
    inline_refs: bool = False
    images: bool = True
    audio: bool = False
    documents: bool = False
    extra_headers: Mapping[str, str] = field(factory=dict)
    extra_body: Mapping[str, Any] = field(factory=dict)
    models: tuple[ModelRule, ...] = ()

    def for_model(self, model: str) -> "Profile":
        """The profile with the rules for *model* applied."""
        name = model.rpartition("/")[2].lower()
        found = self
        for rule in self.models:
            if rule.fits(name):
                found = evolve(found, **rule.changes)
        return found


_REASONS = {
    "reasons": True,
    "token_limit_key": "max_completion_tokens",
    "forbidden": frozenset({"temperature", "stop"}),
}
_REASONERS = tuple(ModelRule(pattern, _REASONS) for pattern in ("o1*", "o3*", "o4*", "gpt-5*"))
"""OpenAI's reasoning models answer 400 to a temperature, to stop words and to `max_tokens`."""

_ADAPTIVE = {"messages_thinking": "adaptive", "messages_effort": True, "forbidden": frozenset()}
_BUDGETED = {"messages_thinking": "budget", "messages_effort": False, "forbidden": frozenset()}

_CLAUDES = (
    *(
        ModelRule(pattern, {**_ADAPTIVE, "forbidden": frozenset({"temperature"})})
        for pattern in ("claude-*-[5-9]*", "claude-mythos-*", "claude-fable-*")
    ),
    ModelRule("claude-*-4-6*", _ADAPTIVE),
    *(
        ModelRule(pattern, _BUDGETED)
        for pattern in ("claude-3*", "claude-opus-4-[0125]*", "claude-sonnet-4-[025]*", "claude-haiku-4-*")
    ),
    ModelRule("claude-opus-4-5*", {"messages_effort": True}),
)
"""The newest decide themselves how much to think, and take no temperature; the older want a budget."""

COMPATIBLE = Profile("compatible", models=(*_REASONERS, *_CLAUDES))
"""A service nobody described: what nearly all of them take. Names of models say what is behind a gateway."""

PROFILES: tuple[Profile, ...] = (
    COMPATIBLE,
    Profile(
        "openai",
        vendor="openai",
        hosts=("api.openai.com",),
        token_limit_key="max_completion_tokens",
        most_stops=4,
        audio=True,
        documents=True,
        models=_REASONERS,
    ),
    Profile(
        "azure",
        vendor="openai",
        hosts=("openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com"),
        auth="api-key",
        token_limit_key="max_completion_tokens",
        most_stops=4,
        models=_REASONERS,
    ),
    Profile("anthropic", vendor="anthropic", hosts=("api.anthropic.com",), reasons=True, models=_CLAUDES),
    Profile(
        "deepseek",
        vendor="deepseek",
        hosts=("api.deepseek.com",),
        thinking_form="type",
        reasoning_replay="calls",
        images=False,
    ),
    Profile(
        "kimi",
        vendor="kimi",
        hosts=("api.moonshot.ai", "api.moonshot.cn"),
        thinking_form="type",
        reasoning_replay="calls",
    ),
    Profile(
        "minimax", vendor="minimax", hosts=("api.minimax.io", "api.minimaxi.com"), reasoning_replay="calls"
    ),
    Profile("glm", vendor="glm", hosts=("api.z.ai", "open.bigmodel.cn"), thinking_form="type", most_stops=1),
    Profile(
        "qwen",
        vendor="qwen",
        hosts=("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"),
        thinking_form="enable_thinking",
        forbidden=frozenset({"reasoning_effort"}),
    ),
    Profile(
        "mistral",
        vendor="mistral",
        hosts=("api.mistral.ai",),
        stream_usage=False,
        forbidden=frozenset({"reasoning_effort"}),
        id_pattern="[a-zA-Z0-9]{9}",
        id_prefix="",
        id_length=9,
    ),
    Profile(
        "gemini",
        vendor="gemini",
        hosts=("generativelanguage.googleapis.com",),
        inline_refs=True,
    ),
    Profile(
        "groq",
        vendor="groq",
        hosts=("api.groq.com",),
        token_limit_key="max_completion_tokens",
        reasoning_field="reasoning",
        most_stops=4,
    ),
    Profile(
        "openrouter",
        vendor="openrouter",
        hosts=("openrouter.ai",),
        thinking_form="reasoning",
        reasoning_field="reasoning",
        reasoning_replay="calls",
        forbidden=frozenset({"reasoning_effort"}),
        documents=True,
    ),
    Profile("ollama", hosts=("ollama.com",), reasoning_field="reasoning"),
    Profile("llama.cpp", reasoning_replay="calls", inline_refs=True),
    Profile("vllm", reasoning_field="reasoning"),
)


def profile_for(name_or_host: str) -> Profile:
    """
    The profile of that name; else the one of that host; else `COMPATIBLE`.

    The host may have a port.
    """
    wanted = name_or_host.strip().lower()
    for profile in PROFILES:
        if wanted == profile.name:
            return profile
    host = wanted.partition(":")[0]
    for profile in PROFILES:
        if any(host == known or host.endswith(f".{known}") for known in profile.hosts):
            return profile
    return COMPATIBLE


def profile_named(name: str) -> Profile:
    """The profile of that name. Raises ValueError that lists the names."""
    found = next((profile for profile in PROFILES if profile.name == name), None)
    if found is None:
        raise ValueError(
            f"no profile is called {name!r}; there are {', '.join(profile.name for profile in PROFILES)}"
        )
    return found
