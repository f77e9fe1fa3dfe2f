"""Settings: from every source, checked all at once, and never showing a secret."""

from pathlib import Path

import attrs
import pytest

from norma.app import Settings, SettingsError
from norma.app.settings import ModelSettings


def faults(values: object, **more: object) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        Settings.from_mapping({**values, **more})  # type: ignore[dict-item]
    return list(caught.value.faults)


def test_every_key_of_the_design_is_accepted_with_its_type() -> None:
    backends = {
        name: {"url": "http://127.0.0.1:1", "api_key_env": "KEY", "model": "m"}
        for name in ("duckduckgo", "brave", "tavily", "deepseek")
    }
    settings = Settings.from_mapping(
        {
            "environment": "local",
            "models": {
                "main": {
                    "wire": "openai-chat",
                    "base_url": "http://127.0.0.1:1/v1",
                    "model": "m",
                    "api_key_env": "KEY",
                    "profile": "openai",
                },
                "claude": {"wire": "anthropic", "api_key_file": "key.txt"},
                "other": {"wire": "openai-responses"},
            },
            "network": {
                "proxy": "none",
                "ca_file": "ca.pem",
                "insecure_tls": True,
                "connect_timeout_s": 3,
                "idle_timeout_s": 0,
            },
            "fetch": {
                "allow_addresses": ["127.0.0.1/32"],
                "user_agent": "x",
                "timeout_s": 1.5,
                "proxy_fallback": "direct",
            },
            "search": {"backend": "brave", "limit": 20, **backends},
            "permissions": {"mode": "plan", "allow": ["Read"], "ask": ["Bash"], "deny": ["Edit(x)"]},
            "mcp": {
                "servers": {
                    "one": {"command": "x", "args": ["-a"], "env": {"K": "V"}},
                    "two": {"url": "https://h/mcp", "headers": {"H": "V"}},
                },
                "start_timeout_s": 5,
                "call_timeout_s": 6,
            },
            "workspace": {"roots": ["/a", "/b"]},
            "journal": {"path": "j.db", "durability": "power"},
            "embedded": {"gguf": "m.gguf", "port": 1, "context": 2, "threads": 3, "tools": "none"},
        }
    )
    assert list(settings.models) == ["main", "claude", "other"]
    assert settings.network.connect_timeout_s == 3.0
    assert settings.workspace.roots == ("/a", "/b")
    assert settings.search.brave.api_key_env == "KEY"


def test_all_faults_are_told_at_once_each_with_its_path() -> None:
    found = faults(
        {
            "models": {"a": {"wire": "x"}, "b": 5, "d": {}},
            "permissions": {"mode": "plann", "allow": "Read", "deny": [3]},
            "embedded": {"port": 70000},
            "network": {"connect_timeout_s": "long", "insecure_tls": 1},
            "modls": {},
        }
    )
    starts = sorted(fault.partition(":")[0] for fault in found)
    assert starts == sorted(
        [
            "models.a.wire",
            "models.b",
            "models.d.wire",
            "permissions.mode",
            "permissions.allow",
            "permissions.deny[0]",
            "embedded.port",
            "network.connect_timeout_s",
            "network.insecure_tls",
            "modls",
        ]
    )


def test_faults_come_in_the_order_of_the_keys_known_and_then_of_the_unknown() -> None:
    values = {
        "zeal": 1,
        "apple": 2,
        "models": {
            "a": {"model": 3, "key": "x"},
            "c": {"wire": "x"},
            "b": {"wire": "anthropic", "model": None},
        },
        "permissions": {"ask": ["Bash", None]},
        "mcp": {"servers": {"s": {"env": {"A": 1}, "args": "x"}}},
    }
    assert [fault.partition(";")[0] for fault in faults(values)] == [
        "models.a.wire: is missing (the host)",
        "models.a.model: expected text, got a number (the host)",
        "models.a.key: unknown key",
        "models.c.wire: expected one of anthropic, openai-chat, openai-responses (the host)",
        "permissions.ask[1]: expected text, got NoneType (the host)",
        "mcp.servers.s.args: expected a list, got text (the host)",
        "mcp.servers.s.env.A: expected text, got a number (the host)",
        "apple: unknown key",
        "zeal: unknown key",
    ]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"modls": {}}, "did you mean models?"),
        ({"network": {"prxy": "none"}}, "did you mean proxy?"),
        ({"models": {"m": {"wire": "openai-chat", "base_ur": "x"}}}, "did you mean base_url?"),
        ({"permissions": {"mode": "plann"}}, "did you mean plan?"),
        ({"permissions": {"deny": ["Bash("]}}, "permissions.deny[0]"),
        ({"mcp": {"servers": {"s": {}}}}, "either a command or a url"),
        ({"scopes": []}, "scopes: unknown key"),
        ({"network": {"connect_timeout_s": float("nan")}}, "above 0"),
        (
            {"models": {"m": {"wire": "anthropic", "requests_per_minute": 0}}},
            "expected a number above 0, got 0",
        ),
    ],
)
def test_a_fault_says_what_would_be_right(values: dict[str, object], says: str) -> None:
    assert says in "\n".join(faults(values))


@pytest.mark.parametrize(
    "values",
    [
        {"models": {"m": {"wire": "openai-chat", "api_key": "sk-canary"}}},
        {"network": {"proxy": "socks5://user:canary@host"}},
        {"models": {"m": {"wire": "openai-chat", "base_url": "ftp://user:canary@host"}}},
        {"models": {"m": {"wire": "openai-chat", "base_url": "http://user:canary@[host"}}},
        {"mcp": {"servers": {"s": {"command": "x", "env": {"K": ["canary"]}}}}},
    ],
)
def test_N5_a_fault_never_shows_what_may_be_a_secret(values: dict[str, object]) -> None:
    assert "canary" not in "\n".join(faults(values))


def test_N5_settings_print_without_secrets() -> None:
    settings = Settings.from_mapping(
        {
            "network": {"proxy": "http://user:canary@host:3128"},
            "models": {"m": {"wire": "openai-chat", "base_url": "http://u:canary@host/v1"}},
            "mcp": {
                "servers": {
                    "a": {"command": "x", "env": {"KEY": "canary"}},
                    "b": {"url": "http://canary@host", "headers": {"Authorization": "canary"}},
                }
            },
        }
    )
    assert "canary" not in repr(settings)
    assert "***@host:3128" in repr(settings)
    assert settings.network.proxy == "http://user:canary@host:3128"


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "norma.toml"
    file.write_text('[journal]\npath = "a.db"\ndurability = "power"\n')
    environ = {
        "NORMA__JOURNAL__PATH": '"/b.db"',
        "NORMA__MODELS__MAIN__WIRE": '"openai-chat"',
        "NORMA__MODELS__MAIN__MODEL": '"m"',
        "NORMA_DISABLE_RIPGREP": "1",
        "NORMAL": "x",
    }
    settings = Settings.load(file, environ=environ)
    assert settings.journal.path == "/b.db"
    assert settings.journal.durability == "power"
    assert settings.models["main"].model == "m"


def test_faults_of_file_and_environment_come_together_and_name_their_source(tmp_path: Path) -> None:
    file = tmp_path / "norma.toml"
    file.write_text("[journal]\ndurability = 1\n")
    with pytest.raises(SettingsError) as caught:
        Settings.load(file, environ={"NORMA__FETCH__TIMEOUT_S": "soon", "NORMA__SEARCH__LIMIT": "99"})
    first, second, third = sorted(caught.value.faults)
    assert first.startswith("NORMA__FETCH__TIMEOUT_S: the value is not TOML")
    assert second.startswith("journal.durability")
    assert str(file) in second
    assert third == "search.limit: expected a whole number from 1 to 20, got 99 (the environment)"


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"a = = 1", "not TOML"), (b"\xff\xfe", "not UTF-8"), (None, "can't be read")],
)
def test_a_file_that_can_not_be_read_is_one_clear_fault(
    tmp_path: Path, content: bytes | None, says: str
) -> None:
    file = tmp_path / "norma.toml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SettingsError, match=says) as caught:
        Settings.load(file, environ={})
    assert len(caught.value.faults) == 1
    assert str(file) in caught.value.faults[0]


def test_relative_paths_start_at_the_folder_of_their_file(tmp_path: Path) -> None:
    file = tmp_path / "sub" / "norma.toml"
    file.parent.mkdir()
    file.write_text(
        '[journal]\npath = "j.db"\n[workspace]\nroots = [".", "/x"]\n[embedded]\ngguf = "~/m.gguf"\n'
    )
    settings = Settings.load(file, environ={})
    assert settings.journal.path == str(tmp_path / "sub" / "j.db")
    assert settings.workspace.roots == (str(tmp_path / "sub"), "/x")
    assert settings.embedded.gguf == str(Path.home() / "m.gguf")


def test_the_page_on_settings_has_every_key() -> None:
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text()
    sections = [field for field in attrs.fields(Settings) if attrs.has(type(field.default))]
    keys = [
        f".{key}`"
        for section in sections
        for key in type(section.default).__annotations__
        if key != "duckduckgo"
    ]
    keys += [f".{key}`" for key in ModelSettings.__annotations__]
    backends = {".brave`", ".tavily`", ".deepseek`"}  # stand there as <backend>
    assert len(keys) > 30
    assert [key for key in keys if key not in page and key not in backends] == []
