"""
Which model answers: a configured one, one that a key in the environment pays for, one that a local
server offers, else the embedded one. What was chosen, and why, is told to the person.
"""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from attrs import evolve, field

from norma.adapters.http.limiter import Limiter, RateLimiter
from norma.adapters.wires.profiles import profile_for, profile_named
from norma.app.settings import EnvironmentName, ModelSettings, Settings, SettingsError, Url, Variable
from norma.domain.model.secrets import Secret
from norma.domain.model.values import frozen
from norma.ports.clock import Clock
from norma.ports.model import ChatModel

if TYPE_CHECKING:
    from norma.adapters.discovery.local import LocalServer

MakeModel = Callable[..., ChatModel]
"""Makes a model of base_url, model, api_key and profile."""


@frozen
class PaidBy:
    """What a key in the environment stands for; *base_variable* may name another address."""

    variable: str
    base_variable: str
    settings: ModelSettings


def paying_keys() -> tuple[PaidBy, ...]:
    """The keys that are looked for, in the order of preference."""
    return (
        PaidBy(
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            ModelSettings("anthropic", api_key_env=Variable("ANTHROPIC_API_KEY"), profile="anthropic"),
        ),
        PaidBy(
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            ModelSettings("openai-chat", api_key_env=Variable("OPENAI_API_KEY"), profile="openai"),
        ),
    )


VENDOR_URLS = {
    "anthropic": "https://api.anthropic.com",
    "openai-chat": "https://api.openai.com/v1",
    "openai-responses": "https://api.openai.com/v1",
}
"""Where a wire's own vendor is."""

DEFAULT_MODELS = {"anthropic": "claude-sonnet-5", "openai": "gpt-5.4-mini"}
"""By profile: the model that is taken when nobody named one."""


@frozen
class Choice:
    """
    The model that answers. *lines* say which one and why, for a person. *tools*: whether it gets any.
    *embedded*: it runs in a server of ours. *tokens_per_s* says how quick it last wrote, where it is known
    better than from the outside.
    """

    model: ChatModel
    lines: tuple[str, ...]
    tools: bool = True
    embedded: bool = False
    tokens_per_s: Callable[[], float | None] | None = None


@frozen
class Models:
    """
    Every way to a model. *wires* makes one of each wire; *clock* is what their limits go by; *local* makes
    one on this machine; *find_local* looks for a server; *embedded* makes the last resort.
    """

    settings: Settings
    environ: Mapping[str, str]
    environment: EnvironmentName
    wires: Mapping[str, MakeModel]
    clock: Clock
    local: MakeModel
    find_local: "Callable[[], Awaitable[LocalServer | None]]"
    embedded: Callable[[], Choice]
    made: dict[str, ChatModel] = field(factory=dict)

    async def choose(self, name: str | None = None) -> Choice:
        """
        The model *name* of the settings, or the best one that is to be had.

        Raises SettingsError if the one that was asked for can't be.
        """
        if name is not None or self.settings.models:
            model = self.configured(name)
            return Choice(model, (f"model: {model.name} (from the settings)",))
        if self.environment != "production":
            return self.embedded()
        for paid in paying_keys():
            if self.environ.get(paid.variable):
                return self._paid(paid)
        server = await self.find_local()
        if server is not None:
            profile = profile_for(server.program)
            model = self.local(base_url=server.base_url, model=server.model, api_key=None, profile=profile)
            line = f"model: {server.model} (from {server.program}, which answers at {server.base_url})"
            return Choice(model, (line,))
        return self.embedded()

    def configured(self, name: str | None) -> ChatModel:
        """
        The model *name*; None: the one called "default", else the first.

        Raises SettingsError if there is none, or it can't be made.
        """
        models = self.settings.models
        if name is None:
            name = "default" if "default" in models else next(iter(models), None)
        if name is None or name not in models:
            known = ", ".join(models) or "none"
            raise SettingsError(
                [f"models.{name or '<name>'}: no such model in the settings (there: {known})"]
            )
        if name not in self.made:
            self.made[name] = self.make(models[name], f"models.{name}")
        return self.made[name]

    def make(self, settings: ModelSettings, at: str) -> ChatModel:
        """The model that *settings* describe; *at* is where they stand. Raises SettingsError."""
        base_url = settings.base_url or VENDOR_URLS[settings.wire]
        model = settings.model or DEFAULT_MODELS.get(settings.profile or "")
        if model is None:
            raise SettingsError([f"{at}.model is missing: the provider's id of the model"])
        key = api_key(settings, self.environ, at)
        try:
            profile = profile_named(settings.profile) if settings.profile else None
            if settings.overrides:
                from norma.adapters.wires.overrides import overridden

                profile = profile or profile_for(urlsplit(base_url).netloc)
                profile = overridden(profile, model, settings.overrides)
            return self.wires[settings.wire](
                base_url=base_url, model=model, api_key=key, profile=profile, limiter=self._limiter(settings)
            )
        except ValueError as error:
            raise SettingsError([f"{at}: {error}"]) from error

    def _limiter(self, settings: ModelSettings) -> Limiter | None:
        """M4: one for each model, shared by all who ask it."""
        per_second, per_minute = settings.requests_per_second, settings.requests_per_minute
        if per_second is None and per_minute is None:
            return None
        return RateLimiter(self.clock, per_second=per_second, per_minute=per_minute)

    def _paid(self, paid: PaidBy) -> Choice:
        given = self.environ.get(paid.base_variable)
        base = Url(given) if given else None
        settings = evolve(paid.settings, base_url=base)
        model = self.make(settings, paid.variable)
        host = urlsplit(base or VENDOR_URLS[settings.wire]).hostname
        line = (
            f"model: {DEFAULT_MODELS[settings.profile or '']} at {host} ({paid.variable} is set; "
            "models.<name> in norma.toml names another)"
        )
        return Choice(model, (line,))


def api_key(settings: ModelSettings, environ: Mapping[str, str], at: str) -> Secret | None:
    """The key that *settings* refer to, None if to none. Raises SettingsError if it is not there."""
    if settings.api_key_env is not None:
        text = environ.get(settings.api_key_env, "").strip()
        if not text:
            raise SettingsError(
                [f"{at}.api_key_env: the environment variable {settings.api_key_env} is not set"]
            )
        return Secret(text)
    if settings.api_key_file is None:
        return None
    try:
        lines = Path(settings.api_key_file).read_text().split()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise SettingsError([f"{at}.api_key_file: {settings.api_key_file} can't be read: {why}"]) from error
    if not lines:
        raise SettingsError([f"{at}.api_key_file: {settings.api_key_file} is empty"])
    return Secret(lines[0])
