"""When to try again, and how long to wait (M1), and how often to ask at all (M4)."""

import asyncio

import pytest

from norma.adapters.http.limiter import RateLimiter
from norma.adapters.http.retry import RetryPolicy, asked_wait_s, forbids_retry
from norma.adapters.memory.clock import ManualClock

NOW = "2026-01-01T00:00:00.000Z"


def test_M1_waits_double_from_half_a_second_up_to_eight() -> None:
    policy = RetryPolicy(jitter=False)
    assert [policy.wait_s(retry, 0.9) for retry in (1, 2, 3, 4, 5, 6, 99)] == [0.5, 1, 2, 4, 8, 8, 8]
    assert policy.retries == 3


def test_M1_jitter_is_between_half_the_wait_and_the_whole() -> None:
    policy = RetryPolicy()
    assert policy.wait_s(3, 0.0) == 1.0
    assert policy.wait_s(3, 0.5) == 1.5
    assert policy.wait_s(3, 0.999) == pytest.approx(2.0, abs=0.01)


def test_M1_what_the_server_asks_is_a_floor_with_a_cap() -> None:
    policy = RetryPolicy(jitter=False)
    assert policy.wait_s(1, 0, asked_s=5) == 5
    assert policy.wait_s(4, 0, asked_s=1) == 4
    assert policy.wait_s(1, 0, asked_s=3600) == 60
    assert RetryPolicy(most_asked_wait_s=2).wait_s(1, 0, asked_s=3600) == 2


def test_M1_the_statuses_that_are_tried_again() -> None:
    assert sorted(RetryPolicy().statuses) == [408, 429, 500, 502, 503, 504, *range(520, 525), 529]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:30 GMT"}, 30),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1_000"}, None),
        ({"retry-after": "1e3"}, None),
        ({"retry-after": "\u0661\u0662"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after": "Thu, 99 Foo 9999 00:00:30 GMT"}, None),
        ({}, None),
    ],
)
def test_M1_the_wait_that_an_answer_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    assert asked_wait_s(headers, NOW) == seconds


def test_M1_a_server_can_forbid_another_try() -> None:
    assert forbids_retry({"x-should-retry": "False"})
    assert not forbids_retry({"x-should-retry": "true"})
    assert not forbids_retry({})


async def test_M4_the_limiter_lets_a_burst_through_and_then_the_rate() -> None:
    clock = ManualClock()
    waits: list[float] = []
    limiter = RateLimiter(clock, per_second=2, on_wait=waits.append)
    await limiter.acquire()
    await limiter.acquire()
    third = asyncio.create_task(limiter.acquire())
    await clock.sleeping()
    assert waits == [0.5]
    clock.advance(0.5)
    await third
    clock.advance(1)
    await limiter.acquire()
    await limiter.acquire()
    assert waits == [0.5]


async def test_M4_a_minute_has_its_own_bound() -> None:
    clock = ManualClock()
    limiter = RateLimiter(clock, per_minute=1)
    await limiter.acquire()
    second = asyncio.create_task(limiter.acquire())
    await clock.sleeping()
    assert clock.sleeps == [60]
    clock.advance(60)
    await second


async def test_M4_who_is_cancelled_while_waiting_has_taken_no_turn() -> None:
    clock = ManualClock()
    limiter = RateLimiter(clock, per_second=1)
    await limiter.acquire()
    cancelled = asyncio.create_task(limiter.acquire())
    await clock.sleeping()
    cancelled.cancel()
    await asyncio.gather(cancelled, return_exceptions=True)
    next_one = asyncio.create_task(limiter.acquire())
    await clock.sleeping()
    assert clock.sleeps == [1, 1]
    clock.advance(1)
    await next_one


def test_M4_a_rate_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 0"):
        RateLimiter(ManualClock(), per_second=0)
