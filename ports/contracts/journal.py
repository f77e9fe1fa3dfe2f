"""The promises of the journal port."""

from collections.abc import Awaitable, Callable

from norma.domain.model.actions import Action, Effects, PathUse, Traits
from norma.domain.model.blocks import Image, Opaque, Text, Thinking, ToolCall
from norma.domain.model.facts import (
    Answered,
    CallOffered,
    Deferred,
    Fact,
    Interrupted,
    Judged,
    LimitReached,
    Limits,
    Prompted,
    ReplyCut,
    ReplyEnded,
    Resumed,
    SessionOpened,
    Steered,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from norma.domain.model.failures import Failure, ProviderWords
from norma.domain.model.questions import Answer, Question
from norma.domain.model.replies import Stop
from norma.domain.model.usage import Usage
from norma.domain.model.values import frozen
from norma.ports.contracts.tasks import ended, raises, start, turn
from norma.ports.errors import JournalConflict, JournalFailed, UnknownSession
from norma.ports.journal import Journal

BAD_NAMES = ("", ".", "..", "../up", "a/b", "-a", "_a", ".hidden", "ä", "a b", "a\n", "a\0", "x" * 129)
GOOD_NAMES = ("a", "0", "a.b_c-d", "A" * 128)

OPENED = SessionOpened("2026-01-01T00:00:00.000Z", "/project")
ASKED = Prompted((Text("Look at\nthe code"),), Limits(3, 1.5))

_ACTION = Action(
    "Write", Effects(writes=True), "/project/a", "Edit(a)", (PathUse("/project/a", "write", "/project"),)
)
EVERY_FACT: tuple[Fact, ...] = (
    OPENED,
    ASKED,
    Steered((Text("and be quick"), Image("image/png", data="AAAA"))),
    CallOffered(
        (
            Thinking("hm", signature="c2ln", vendor="anthropic"),
            Opaque("anthropic", {"deep": [1, {"x": None}]}),
            ToolCall(
                "call_0", "Write", {"big": 2**80, "small": -1, "half": "\ud83d", "real": 0.1, "yes": True}
            ),
        )
    ),
    Judged("0.0", "ask", question=Question("q1", "0.0", _ACTION, "d1", "d2", "no rule"), traits=Traits(True)),
    Deferred("q1"),
    Answered("q1", Answer("deny", "not there")),
    ToolStarted("0.0", "call_0", "Write"),
    ToolEnded("0.0", "call_0", "Write", (Text("done \0 \u2028 😀"),), is_error=True),
    ReplyEnded((Text("so"),), Stop("tool_use", "tool_calls"), Usage(1, None, None, 2, None, "reported")),
    ReplyCut((), Failure("stream_dropped", "cut", "transport", None, ProviderWords("t", "c", "m", "r"), 2.5)),
    Interrupted(),
    LimitReached("timeout"),
    Resumed(),
    TurnEnded("waiting", "s", "so", Usage(), 2, Failure("internal", "x")),
)


@frozen
class JournalRig:
    """*journal* is empty. *another* opens a second one over the same storage, as another process would."""

    journal: Journal
    another: Callable[[], Journal]


async def check_what_was_appended_is_read(rig: JournalRig) -> None:
    """Every kind of fact comes back as it was, entry by entry."""
    assert await rig.journal.append("s", 0, EVERY_FACT) == 1, "the first entry makes version 1"
    for number, fact in enumerate(EVERY_FACT, 2):
        assert await rig.journal.append("s", number - 1, [fact]) == number, "each entry adds 1 to the version"
    record = await rig.journal.read("s")
    expected = (EVERY_FACT, *((fact,) for fact in EVERY_FACT))
    assert record.version == len(expected), "the version is the number of entries"
    for got, wanted in zip(record.entries, expected, strict=True):
        assert got == wanted, f"facts come back as they were: {got!r} instead of {wanted!r}"


async def check_what_does_not_exist_has_version_0(rig: JournalRig) -> None:
    """Reading is no error and makes nothing."""
    record = await rig.journal.read("nobody")
    assert (record.version, record.entries) == (0, ()), "an unknown session has version 0 and no entries"
    assert await rig.journal.sessions() == (), "reading a session does not make one"


async def check_s1_wrong_version_is_a_conflict(rig: JournalRig) -> None:
    """Whether it is too low or too high; nothing is written then."""
    await rig.journal.append("s", 0, [OPENED])
    await rig.journal.append("s", 1, [ASKED])
    for expected in (0, 1, 3, 9):
        error = await raises(
            JournalConflict,
            rig.journal.append("s", expected, [Interrupted()]),
            "another version is a conflict",
        )
        assert error.failure.kind == "conflict", "a conflict says that it is one"
    await raises(JournalConflict, rig.journal.append("new", 1, [OPENED]), "a new session has version 0")
    record = await rig.journal.read("s")
    assert record.entries == ((OPENED,), (ASKED,)), "a conflict writes nothing"
    assert (await rig.journal.read("new")).version == 0, "a conflict makes no session"


async def check_s1_one_of_two_writers_wins(rig: JournalRig) -> None:
    """Two that append after the same version: one does it, the other gets a conflict."""
    other = rig.another()
    try:
        await rig.journal.append("s", 0, [OPENED])
        for version in range(1, 6):
            journals = (rig.journal, other)
            tasks = [
                start(one.append("s", version, [Steered((Text(str(at)),))]))
                for at, one in enumerate(journals)
            ]
            for task in tasks:
                await ended(task, "an append is bounded in time")
            errors = [task.exception() for task in tasks]
            won = [at for at, error in enumerate(errors) if error is None]
            lost = [error for error in errors if isinstance(error, JournalConflict)]
            assert (len(won), len(lost)) == (1, 1), f"one writer wins, the other gets a conflict: {errors}"
            record = await other.read("s")
            assert record.version == version + 1, "one of them was written, once"
            assert record.entries[-1] == (Steered((Text(str(won[0])),)),), "the winner's entry stands there"
    finally:
        await other.aclose()


async def check_another_process_sees_it(rig: JournalRig) -> None:
    """What an append returned for is there for everybody."""
    other = rig.another()
    try:
        await rig.journal.append("s", 0, [OPENED, ASKED])
        assert (await other.read("s")).entries == ((OPENED, ASKED),), "an entry is there when append returns"
        await other.append("s", 1, [Interrupted()])
        assert (await rig.journal.read("s")).version == 2, "an entry is there when append returns"
    finally:
        await other.aclose()


async def check_s3_session_names(rig: JournalRig) -> None:
    """Anything but a plain name is a ValueError, wherever it is given."""
    for name in BAD_NAMES:
        await raises(ValueError, rig.journal.append(name, 0, [OPENED]), f"{name!r} is no session id")
        await raises(ValueError, rig.journal.read(name), f"{name!r} is no session id")
        await raises(ValueError, rig.journal.fork(name, 1, "ok"), f"{name!r} is no session id")
        await raises(ValueError, rig.journal.fork("ok", 1, name), f"{name!r} is no session id")
    for name in GOOD_NAMES:
        assert await rig.journal.append(name, 0, [OPENED]) == 1, f"{name!r} is a session id"


async def check_an_entry_has_facts(rig: JournalRig) -> None:
    """An entry of nothing would be a version without a cause."""
    await raises(ValueError, rig.journal.append("s", 0, []), "an entry has one fact or more")
    assert (await rig.journal.read("s")).version == 0, "an entry of nothing is not written"


async def check_an_entry_is_the_journals_own(rig: JournalRig) -> None:
    """A caller may use its list again."""
    batch: list[Fact] = [OPENED]
    await rig.journal.append("s", 0, batch)
    batch.append(Interrupted())
    assert (await rig.journal.read("s")).entries == ((OPENED,),), "an entry does not change after its append"


async def check_list_of_sessions(rig: JournalRig) -> None:
    """The one last written to first, each with what its facts say."""
    there = SessionOpened("2025-05-05T05:05:05.005Z", "/there")
    await rig.journal.append("one", 0, [OPENED, ASKED])
    await rig.journal.append("two", 0, [there])
    await rig.journal.append("three", 0, [OPENED, ASKED, TurnEnded("completed")])
    await rig.journal.append(
        "two", 1, [Prompted((Text("x" * 500),)), TurnEnded("waiting"), Prompted((Text("b"),))]
    )
    await rig.journal.append("one", 1, [TurnEnded("interrupted")])
    infos = await rig.journal.sessions()
    assert [info.id for info in infos] == ["one", "two", "three"], "the one last written to comes first"
    one, two, three = infos
    assert (one.outcome, two.outcome, three.outcome) == ("interrupted", None, "completed"), (
        "the outcome is the last turn's, None while one is open"
    )
    assert (one.turns, two.turns, three.turns) == (1, 2, 1), "turns counts the prompts"
    assert (one.workspace, two.workspace) == ("/project", "/there"), "the workspace is the session's"
    assert two.created == there.created, "a session knows when it was created"
    assert one.title.startswith("Look at"), "the title is the beginning of the first prompt"
    assert set(two.title) == {"x"}, "the title is the beginning of the first prompt"
    assert len(two.title) <= 200, "the title is a beginning only"
    assert "\n" not in one.title, "a title is one line"
    mine = await rig.journal.sessions("/project")
    assert [info.id for info in mine] == ["one", "three"], "a workspace lists its own sessions only"


async def check_fork(rig: JournalRig) -> None:
    """A fork has the first entries, and from then on a life of its own."""
    await rig.journal.append("s", 0, [OPENED, ASKED])
    await rig.journal.append("s", 1, [Interrupted()])
    await rig.journal.append("s", 2, [TurnEnded("interrupted")])
    await rig.journal.fork("s", 2, "f")
    assert (await rig.journal.read("f")).entries == ((OPENED, ASKED), (Interrupted(),)), (
        "a fork has the first entries"
    )
    await rig.journal.append("f", 2, [LimitReached("timeout")])
    assert (await rig.journal.read("s")).version == 3, "a fork leaves its origin as it is"
    assert (await rig.journal.read("f")).entries[2] == (LimitReached("timeout"),), "a fork goes on by itself"
    infos = {info.id: info for info in await rig.journal.sessions()}
    assert (infos["f"].turns, infos["f"].outcome) == (1, None), "a fork is listed as its entries are"
    await raises(UnknownSession, rig.journal.fork("nobody", 1, "g"), "what does not exist can't be forked")
    await raises(UnknownSession, rig.journal.fork("s", 4, "g"), "a session has no entries past its last")
    await raises(JournalConflict, rig.journal.fork("s", 1, "f"), "a fork never replaces a session")
    assert (await rig.journal.read("g")).version == 0, "a failed fork makes nothing"
    assert (await rig.journal.read("f")).version == 3, "a failed fork changes nothing"


async def check_s1_an_append_is_not_abandoned(rig: JournalRig) -> None:
    """Cancelled after its first step, it ends first; then a cancelled one was written."""
    version = 0
    for passes in range(1, 8):
        task = start(rig.journal.append("s", version, [Steered((Text("x" * passes * 50_000),))]))
        await turn(passes)
        task.cancel()
        await ended(task, "an append is bounded in time")
        record = await rig.journal.read("s")
        assert record.version == version + 1, "a cancelled append that had begun was written when it ends"
        version = record.version


async def check_many_at_once(rig: JournalRig) -> None:
    """Sessions do not disturb each other."""
    tasks = [start(_three(rig.journal, f"s{number}")) for number in range(20)]
    for task in tasks:
        await ended(task, "an append is bounded in time")
        task.result()
    for number in range(20):
        assert (await rig.journal.read(f"s{number}")).version == 3, "all that was appended is there"


async def check_closed(rig: JournalRig) -> None:
    """After `aclose` calls fail and change nothing; closing twice does nothing."""
    await rig.journal.append("s", 0, [OPENED])
    await rig.journal.aclose()
    await rig.journal.aclose()
    calls: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: rig.journal.append("s", 1, [ASKED]),
        lambda: rig.journal.read("s"),
        rig.journal.sessions,
        lambda: rig.journal.fork("s", 1, "f"),
    )
    for call in calls:
        error = await raises(JournalFailed, call(), "a closed journal says so")
        assert error.failure.kind == "journal", "a failure of the journal says that it is one"
    other = rig.another()
    try:
        assert (await other.read("s")).version == 1, "closing loses nothing"
    finally:
        await other.aclose()


async def _three(journal: Journal, session: str) -> None:
    for version in range(3):
        await journal.append(session, version, [OPENED if not version else Interrupted()])


CHECKS = (
    check_what_was_appended_is_read,
    check_what_does_not_exist_has_version_0,
    check_s1_wrong_version_is_a_conflict,
    check_s1_one_of_two_writers_wins,
    check_another_process_sees_it,
    check_s3_session_names,
    check_an_entry_has_facts,
    check_an_entry_is_the_journals_own,
    check_list_of_sessions,
    check_fork,
    check_s1_an_append_is_not_abandoned,
    check_many_at_once,
    check_closed,
)
