"""
Settings: what a person decides, as frozen values.

They are filled from `norma.toml`, the environment and arguments (see `sources`), checked all at
once (see `filling`), and read by the container and by nothing below it. Durations are seconds.
Paths are absolute by then: a relative one starts at the folder of the file that named it. Secrets
are not in here: settings name the variable or the file that holds one.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NewType, Self, TypeAlias

from attrs import field

from norma.domain.model.values import frozen

Wire: TypeAlias = Literal["anthropic", "openai-chat", "openai-responses"]
Mode: TypeAlias = Literal["default", "accept-edits", "plan", "dont-ask", "bypass"]
EnvironmentName: TypeAlias = Literal["test", "local", "production"]
Scope: TypeAlias = Literal["user", "project", "session"]
Protocol: TypeAlias = Literal["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
Offer: TypeAlias = Literal["roots", "sampling", "elicitation"]
Backend: TypeAlias = Literal["duckduckgo", "brave", "tavily", "deepseek", "searxng"]

# What each of these must be is checked where settings are filled.
Seconds = NewType("Seconds", float)  # more than 0
SecondsOrNever = NewType("SecondsOrNever", float)  # 0: never
Rate = NewType("Rate", float)  # more than 0
Count = NewType("Count", int)  # 1 or more
CountOrNone = NewType("CountOrNone", int)  # 0 or more
Port = NewType("Port", int)  # 0 to 65535
ResultLimit = NewType("ResultLimit", int)  # 1 to 20
Url = NewType("Url", str)  # http or https
Proxy = NewType("Proxy", str)  # "env", "none", or a URL
AllowRule = NewType("AllowRule", str)  # Tool or Tool(specifier)
AskRule = NewType("AskRule", str)
DenyRule = NewType("DenyRule", str)
FilePath = NewType("FilePath", str)  # absolute
Variable = NewType("Variable", str)  # the name of an environment variable
AddressRange = NewType("AddressRange", str)  # a host, an address, or a range of addresses
HeaderText = NewType("HeaderText", str)  # one line of printable ASCII


class SettingsError(Exception):
    """Settings that can't be used. *faults* lists all of them, each with its path and what would be right."""

    def __init__(self, faults: "tuple[str, ...] | list[str]") -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


def _without_credentials(url: object) -> str:
    """How a URL prints: what stands before an @ may be a password."""
    head, at, tail = str(url).rpartition("@")
    if not at:
        return repr(url)
    scheme, slashes, _ = head.partition("://")
    return repr(f"{scheme}{slashes}***@{tail}" if slashes else f"***@{tail}")


def _names_only(values: object) -> str:
    return "{" + ", ".join(f"{key!r}: ***" for key in values) + "}" if isinstance(values, Mapping) else "***"


@frozen
class ModelSettings:
    """
    A model to talk to.

    *base_url* defaults to the vendor's own. *model* defaults to the profile's. The key comes from
    the variable *api_key_env* or from the file *api_key_file* (its first line); with neither, none is sent.
    *overrides* are fields of the provider's profile, such as `token_limit_key` or `extra_headers`. Requests
    wait where *requests_per_second* or *requests_per_minute* would be exceeded; retries are not counted.
    """

    wire: Wire
    base_url: Url | None = field(default=None, repr=_without_credentials)
    model: str | None = None
    api_key_env: Variable | None = None
    api_key_file: FilePath | None = None
    profile: str | None = None
    overrides: Mapping[str, Any] = field(factory=dict, repr=_names_only)
    requests_per_second: Rate | None = None
    requests_per_minute: Rate | None = None


@frozen
class NetworkSettings:
    """*proxy* is "env", "none" or a URL. *idle_timeout_s* 0 switches the idle deadline off."""

    proxy: Proxy = field(default=Proxy("env"), repr=_without_credentials)
    ca_file: FilePath | None = None
    insecure_tls: bool = False
    connect_timeout_s: Seconds = Seconds(10.0)
    idle_timeout_s: SecondsOrNever = SecondsOrNever(300.0)


@frozen
class FetchSettings:
    """
    How pages are fetched; *allow_addresses* are hosts or ranges opened on purpose.

    *headers* are those of an answer that are shown. *cache_s* is how long a session keeps a page, 0 for not
    at all. *reader* "whole" loses nothing of a page's main part; "article" leaves less around it, and may
    leave out parts.
    """

    allow_addresses: tuple[AddressRange, ...] = ()
    user_agent: HeaderText = HeaderText("norma/0.4")
    timeout_s: Seconds = Seconds(30.0)
    proxy_fallback: Literal["fail", "direct"] = "fail"
    headers: tuple[str, ...] = (
        "content-type", "content-length", "last-modified", "location", "server", "date",
    )  # fmt: skip
    cache_s: SecondsOrNever = SecondsOrNever(900.0)
    reader: Literal["whole", "article"] = "whole"


@frozen
class BackendSettings:
    """Where one search backend is, and who pays."""

    url: Url | None = field(default=None, repr=_without_credentials)
    api_key_env: Variable | None = None
    model: str | None = None


@frozen
class SearchSettings:
    """How the web is searched; *limit* counts results, 20 at most."""

    backend: Backend = "duckduckgo"
    limit: ResultLimit = ResultLimit(5)
    duckduckgo: BackendSettings = BackendSettings()
    brave: BackendSettings = BackendSettings()
    tavily: BackendSettings = BackendSettings()
    deepseek: BackendSettings = BackendSettings()
    searxng: BackendSettings = BackendSettings()


@frozen
class ServerSettings:
    """
    A tool server: a program to start, or a URL. *env* and *headers* may hold secrets and print as ***.

    `${NAME}` and `${NAME:-default}` in their values stand for variables of our environment. *cwd* None: the
    first workspace root. *protocol* None: what the server and Norma agree on.
    """

    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(factory=dict, repr=_names_only)
    url: Url | None = field(default=None, repr=_without_credentials)
    headers: Mapping[str, str] = field(factory=dict, repr=_names_only)
    cwd: FilePath | None = None
    protocol: Protocol | None = None


@frozen
class McpSettings:
    """
    The tool servers, by name, and how long their start and a call may take.

    *restarts* is how often a server that dies may be started again within five minutes. *offer* is what
    servers may ask of Norma: the workspace "roots", an answer of the model ("sampling"), a person's
    ("elicitation"); the last two are asked about each time.
    """

    servers: Mapping[str, ServerSettings] = field(factory=dict)
    start_timeout_s: Seconds = Seconds(60.0)
    call_timeout_s: SecondsOrNever = SecondsOrNever(600.0)
    restarts: CountOrNone = CountOrNone(3)
    offer: tuple[Offer, ...] = ()


@frozen
class PermissionSettings:
    """The mode, and all rules of all scopes together (`Settings.scopes` keeps them apart)."""

    mode: Mode = "default"
    allow: tuple[AllowRule, ...] = ()
    ask: tuple[AskRule, ...] = ()
    deny: tuple[DenyRule, ...] = ()


@frozen
class RuleScope:
    """The rules that one *source* of settings gave, and the policy's scope (rule T2) that it speaks in."""

    source: str
    scope: Scope
    allow: tuple[AllowRule, ...] = ()
    ask: tuple[AskRule, ...] = ()
    deny: tuple[DenyRule, ...] = ()


@frozen
class WorkspaceSettings:
    """The folders that tools work in. None given: the folder that the process was started in."""

    roots: tuple[FilePath, ...] = ()


@frozen
class ShellSettings:
    """
    How commands run: *env* is added to their small environment, and may hold secrets, so it prints as ***.

    *background* False: no command is left running, and a slow one is ended at its time limit.
    """

    env: Mapping[str, str] = field(factory=dict, repr=_names_only)
    background: bool = True


@frozen
class JournalSettings:
    """
    Where sessions are kept. *path* None: norma/journal.db in the user's state folder.

    *durability* "process" survives the death of the process, "power" a power cut too.
    """

    path: FilePath | None = None
    durability: Literal["process", "power"] = "process"


@frozen
class EmbeddedSettings:
    """
    The model that runs on this machine.

    *gguf* None: the one that Norma fetches. *port* 0: any free one. *context* counts tokens.
    *threads* None: one a core, 8 at most. *tools* is how it works with them: "guided" follows a plan of
    ours and lets the model add a sentence, "schema" holds its replies to JSON, "none" gives it none;
    "auto" is guided for the model that Norma fetches and schema for another.
    """

    gguf: FilePath | None = None
    port: Port = Port(0)
    context: Count = Count(8192)
    threads: Count | None = None
    tools: Literal["auto", "guided", "schema", "none"] = "auto"


@frozen
class Settings:
    """All settings. `models` keeps the order in which they were written."""

    environment: EnvironmentName = "production"
    models: Mapping[str, ModelSettings] = field(factory=dict)
    network: NetworkSettings = NetworkSettings()
    fetch: FetchSettings = FetchSettings()
    search: SearchSettings = SearchSettings()
    permissions: PermissionSettings = PermissionSettings()
    mcp: McpSettings = McpSettings()
    workspace: WorkspaceSettings = WorkspaceSettings()
    shell: ShellSettings = ShellSettings()
    journal: JournalSettings = JournalSettings()
    embedded: EmbeddedSettings = EmbeddedSettings()
    scopes: tuple[RuleScope, ...] = ()

    @classmethod
    def load(cls, path: str | Path, *, environ: Mapping[str, str] | None = None) -> Self:
        """
        Read the file *path*, then `NORMA__SECTION__KEY` from *environ* (None: the process's own) over it.

        The file was named, so all of it counts; no other file is read.

        Raises:
            SettingsError: with every fault of both.
        """
        import os

        from norma.app.filling import fill
        from norma.app.sources import environment_layer, file_layer

        read = [file_layer(Path(path)), environment_layer(os.environ if environ is None else environ)]
        return fill(cls, read)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """
        Settings from plain values, nested as in the file; neither a file nor the environment is read.

        Raises:
            SettingsError: with every fault.
        """
        from norma.app.filling import fill
        from norma.app.sources import Layer

        return fill(cls, [Layer("the host", values, Path.cwd())])
