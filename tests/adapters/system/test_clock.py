"""The system clock."""

import asyncio
import re
import threading
import time
import uuid
from datetime import UTC, datetime

import pytest

from norma.adapters.system.clock import SystemClock


def test_now_is_utc_with_milliseconds():
    before = datetime.now(UTC).timestamp()
    said = SystemClock().now()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", said)
    assert before - 0.001 <= datetime.fromisoformat(said).timestamp() <= datetime.now(UTC).timestamp()


def test_monotonic_never_goes_back():
    clock = SystemClock()
    moments = [clock.monotonic() for _ in range(1000)]
    assert moments == sorted(moments)


@pytest.mark.parametrize("seconds", [0, -1])
async def test_a_sleep_of_nothing_is_one_pass_of_the_loop(seconds):
    passed: list[int] = []
    asyncio.get_running_loop().call_soon(passed.append, 1)
    await SystemClock().sleep(seconds)
    assert passed == [1]


async def test_a_cancel_passes_through_a_sleep():
    task = asyncio.create_task(SystemClock().sleep(3600))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_S3_identifiers_are_uuids_fit_for_session_names():
    made = uuid.UUID(SystemClock().new_id())
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", str(made))
    assert abs((made.int >> 80) - time.time_ns() // 1_000_000) < 60_000


def test_identifiers_differ_and_sort_by_time_over_threads():
    clock = SystemClock()
    made: list[list[str]] = [[] for _ in range(4)]

    def make(into: list[str]) -> None:
        into.extend(clock.new_id() for _ in range(5000))

    threads = [threading.Thread(target=make, args=(into,)) for into in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(each == sorted(each) for each in made)
    assert len({one for each in made for one in each}) == 20_000


def test_an_identifier_sorts_later_when_the_time_was_set_back(monkeypatch):
    clock = SystemClock()
    first = clock.new_id()
    monkeypatch.setattr(time, "time_ns", lambda: 1_000_000_000)
    assert clock.new_id() > first


def test_random_is_from_0_up_to_1():
    clock = SystemClock()
    drawn = [clock.random() for _ in range(1000)]
    assert all(0 <= each < 1 for each in drawn)
    assert len(set(drawn)) > 900
