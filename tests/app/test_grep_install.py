"""`norma grep` where ripgrep is missing and npm could install it (contract G4)."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rigs.command import Bench, Terminal
from tests.rigs.fixtures import fixture_folder

INSTALL = "npm install -g @vscode/ripgrep"
WITHOUT_RIPGREP = (
    "import sys; from norma.adapters.grep import finding; from norma.app.cli.main import main; "
    "finding.beside_the_interpreter = lambda: '/nowhere'; sys.argv[0] = 'norma'; sys.exit(main())"
)
"""`norma` as if its interpreter had no ripgrep beside it."""


class Machine:
    """A machine without ripgrep and with the fake npm *program* on PATH."""

    def __init__(self, bench: Bench, folder: Path, program: Path) -> None:
        self.bench = bench
        self.log = folder / "npm.log"
        tools = folder / "bin"
        tools.mkdir()
        for name in ("sh", "uname", "tr", "mkdir", "chmod", "bash"):
            (tools / name).symlink_to(str(shutil.which(name)))
        shutil.copyfile(program, tools / "npm")
        (tools / "npm").chmod(0o755)
        self.environ = {
            **bench.environ,
            "PATH": str(tools),
            "NPM_FAKE_ROOT": str(folder / "npm"),
            "NORMA_FIXTURE_LOG": str(self.log),
        }

    def calls(self) -> list[str]:
        """What npm was asked to do."""
        return self.log.read_text().splitlines() if self.log.exists() else []

    def terminal(self, *words: str) -> Terminal:
        """The command with somebody to ask."""
        return Terminal(
            [sys.executable, "-c", WITHOUT_RIPGREP, "grep", *words], self.bench.workspace, self.environ
        )


@pytest.fixture
def machine(bench: Bench, tmp_path: Path, pytestconfig: pytest.Config) -> Machine:
    (bench.workspace / "a.txt").write_text("needle\n")
    return Machine(bench, tmp_path, fixture_folder(pytestconfig, "grep") / "fake_bin" / "npm_new_layout")


def test_G4_a_person_at_the_terminal_is_asked_about_exactly_that_command(machine: Machine) -> None:
    with machine.terminal("needle") as terminal:
        terminal.expect(f"| {INSTALL}")
        terminal.expect("no, and say why")
        assert machine.calls() == []
        terminal.types("n\n")
        assert "a.txt" in terminal.expect("was not allowed")
        assert terminal.ends() == 0
    assert machine.calls() == []


def test_G4_a_yes_installs_it(machine: Machine) -> None:
    with machine.terminal("needle") as terminal:
        terminal.expect(f"| {INSTALL}")
        terminal.types("y\n")
        assert terminal.ends() == 0
    assert machine.calls() == [INSTALL, "npm root -g"]


@pytest.mark.parametrize(("rule", "calls"), [("--allow", [INSTALL, "npm root -g"]), ("--deny", [])])
def test_G4_T1_a_rule_answers_for_the_person(machine: Machine, rule: str, calls: list[str]) -> None:
    with machine.terminal("needle", rule, f"Bash({INSTALL})") as terminal:
        assert terminal.ends() == 0
        assert "wants to do this" not in terminal.seen
    assert machine.calls() == calls


def test_G4_with_nobody_to_ask_nothing_is_installed(machine: Machine) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_RIPGREP, "grep", "--json", "needle"],
        cwd=machine.bench.workspace,
        env=machine.environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=60,
    )
    answer = json.loads(done.stdout)
    assert (answer["backend"], answer["lines"]) == ("python", [{"path": "a.txt"}])
    assert f"`{INSTALL}` was not allowed" in answer["notes"][0]
    assert f"Bash({INSTALL}) would allow it" in answer["notes"][0]
    assert machine.calls() == []
