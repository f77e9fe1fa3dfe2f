"""The examples of the README, as they stand there, run as programs and as tests."""

import re
import subprocess
import sys
from pathlib import Path

from tests.rigs.chat_server import ChatServer, calls, says, tool_messages
from tests.rigs.command import BOUND_S, Bench

README = Path(__file__).parents[2] / "README.md"
EMBED, *FILES = re.findall(r"```python\n(.+?)```", README.read_text(), re.DOTALL)


def test_the_embedding_example_runs_as_it_stands(bench: Bench) -> None:
    with ChatServer(calls(("Bash", {"command": "touch made"})), says("Hello ", "reader.")) as chat:
        (bench.workspace / "norma.toml").write_text(
            f'[models.main]\nwire = "openai-chat"\nbase_url = "{chat.url}"\nmodel = "m"\n'
        )
        (bench.workspace / "host.py").write_text(EMBED)
        done = run(bench, "host.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Hello reader.\ncompleted: Usage(")
    assert done.stderr == ""
    assert len(tool_messages(chat.bodies[1])) == 1
    assert not (bench.workspace / "made").exists()


def test_the_other_examples_pass_as_tests(bench: Bench) -> None:
    for text in FILES:
        name = re.match(r"# (\w+\.py)\n", text)
        assert name is not None, "each further example begins with its file's name"
        (bench.workspace / name[1]).write_text(text)
    asyncio = ("-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function")
    done = run(bench, "-m", "pytest", "-q", *asyncio, "-p", "no:cacheprovider", ".")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\d+ passed", done.stdout, re.MULTILINE)


def test_the_readme_names_the_two_commands_and_links_to_what_is_there() -> None:
    text = README.read_text()
    assert "    make run" in text
    assert "    make test" in text
    for target in re.findall(r"\]\((\S+?)\)", text):
        assert (README.parent / target).exists(), target


def run(bench: Bench, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=bench.workspace,
        env=bench.environ | {"PYTHONPATH": str(bench.workspace)},
        capture_output=True,
        text=True,
        timeout=BOUND_S,
    )
