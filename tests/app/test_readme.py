"""The example of the README, as it stands there, run as a program."""

import re
import subprocess
import sys
from pathlib import Path

from tests.rigs.chat_server import ChatServer, calls, says, tool_messages
from tests.rigs.command import BOUND_S, Bench

README = Path(__file__).parents[2] / "README.md"


def test_the_example_runs_as_it_stands(bench: Bench) -> None:
    (example,) = re.findall(r"```python\n(.+?)```", README.read_text(), re.DOTALL)
    with ChatServer(calls(("Bash", {"command": "touch made"})), says("Hello ", "reader.")) as chat:
        (bench.workspace / "norma.toml").write_text(
            f'[models.main]\nwire = "openai-chat"\nbase_url = "{chat.url}"\nmodel = "m"\n'
        )
        (bench.workspace / "host.py").write_text(example)
        done = subprocess.run(
            [sys.executable, "host.py"],
            cwd=bench.workspace,
            env=bench.environ,
            capture_output=True,
            text=True,
            timeout=BOUND_S,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Hello reader.\ncompleted: Usage(")
    assert done.stderr == ""
    assert len(tool_messages(chat.bodies[1])) == 1
    assert not (bench.workspace / "made").exists()
