"""Unified diffs, with patch(1) as the judge of what they mean."""

import math
import random
import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from norma.domain.tools.comparing import MOST_COMPARED, equal_runs
from norma.domain.tools.diff import CONTEXT, MOST_CHARACTERS, placeless_diff, unified_diff

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "x\x0cy\n", "last"]), max_size=30).map("".join)


def applied(diff: str, old: str) -> str:
    """*old* after *diff*: context and removed lines must be what is there."""
    lines = old.split("\n")
    ends = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    out: list[str] = []
    place = 0
    rows = diff.split("\n")[2:]
    for number, row in enumerate(rows):
        bare = number + 1 < len(rows) and rows[number + 1].startswith("\\")
        text = row[1:] + ("" if bare else "\n")
        if row.startswith("@@"):
            start, _, count = row.split()[1][1:].partition(",")
            first = int(start) - (count != "0")
            out += ends[place:first]
            place = first
        elif row.startswith("+"):
            out.append(text)
        elif not row.startswith("\\"):
            assert ends[place] == text
            place += 1
            if row.startswith(" "):
                out.append(text)
    return "".join(out + ends[place:])


@given(TEXTS, TEXTS)
def test_a_diff_turns_the_old_text_into_the_new(old, new):
    diff = unified_diff(old, new, "f")
    assert (diff == "") == (old == new)
    if diff:
        assert applied(diff, old) == new


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs patch(1)")
def test_patch_understands_it(tmp_path):
    old = "".join(f"{number}\n" for number in range(100))
    new = old.replace("10\n", "ten\n").replace("80\n", "").replace("99\n", "end")
    (tmp_path / "f").write_text(old)
    subprocess.run(
        ["patch", "f"], input=unified_diff(old, new, "f") + "\n", text=True, cwd=tmp_path, check=True
    )
    assert (tmp_path / "f").read_text() == new


def test_a_large_change_is_one_block_and_takes_no_time():
    old = "".join(f"a{number % 7}\n" for number in range(50_000))
    new = "".join(f"a{number % 5}\n" for number in range(50_000))
    diff = unified_diff(old, new, "f")  # compared line by line it would take minutes
    assert len(diff) < MOST_CHARACTERS + 100
    assert "more lines]" in diff


def test_a_change_over_the_limit_still_applies():
    side = math.isqrt(MOST_COMPARED)
    old = "head\n" + "a\n" * (side + 1) + "tail\n"
    new = "head\n" + "b\n" * (side + 2) + "tail\n"
    assert applied(unified_diff(old, new, "f"), old) == new


def numbered_lines(count):
    return [f"line {number}\n" for number in range(count)]


@pytest.mark.parametrize("seed", range(20))
def test_changes_far_apart_in_a_large_file_are_shown_alone(seed):
    chance = random.Random(seed)
    lines = numbered_lines(5000)
    changed = sorted(chance.sample(range(0, 5000, 20), 5))
    new = [f"new {number}\n" if number in changed else line for number, line in enumerate(lines)]
    diff = unified_diff("".join(lines), "".join(new), "f")
    assert applied(diff, "".join(lines)) == "".join(new)
    rows = diff.split("\n")[2:]
    assert [row for row in rows if row.startswith("+")] == [f"+new {number}" for number in changed]
    assert sum(row.startswith("@@") for row in rows) == 5
    assert len(rows) <= 5 * (3 + 2 * CONTEXT)


BLOCKS = st.lists(st.integers(0, 400), max_size=60)


@given(BLOCKS, BLOCKS, st.integers(0, 20))
def test_a_diff_of_large_texts_turns_the_old_into_the_new(one, other, times):
    old, new = (
        "".join(f"{number % 390}\n" * (number % times if times else 1) for number in b) for b in (one, other)
    )
    long = "".join(f"same {number}\n" for number in range(300))
    for before, after in ((old + long + new, new + long + old), (long + old + long, new + long)):
        diff = placeless_diff(before, after, "f")
        numbered = unified_diff(before, after, "f")
        if "more lines]" not in numbered:
            assert (applied(numbered, before) if numbered else before) == after
            assert [re.sub("^@@.*", "@@ @@", row) for row in numbered.split("\n")] == diff.split("\n")


def test_lines_in_another_order_are_kept_as_far_as_they_rise():
    lines = numbered_lines(1000)
    runs = equal_runs(lines, lines[500:] + lines[:500])
    assert [(run.old, run.new, run.size) for run in runs] in ([(0, 500, 500)], [(500, 0, 500)])


def test_T5_a_diff_without_places_is_whole_and_stays_the_same_when_something_far_away_changes():
    lines = numbered_lines(3000)
    edited = [*lines[:2000], "new\n" * 9000, *lines[2001:]]
    shown = placeless_diff("".join(lines), "".join(edited), "f")
    assert shown.count("\n+new") == 9000
    assert shown.startswith("--- f\n+++ f\n@@ @@\n line 1997\n line 1998\n line 1999\n-line 2000\n+new\n")
    before = ["first\n", "second\n", *lines[1:]]
    assert placeless_diff("".join(before), "".join(["first\n", "second\n", *edited[1:]]), "f") == shown


def test_bytes_that_are_no_text_are_a_change_too():
    assert placeless_diff("a\udcff", "a\udcfe", "f").split("\n")[3:] == [
        "-a\ufffd",
        "\\ No newline at end of file",
        "+a\ufffd",
        "\\ No newline at end of file",
    ]
