"""Unified diffs, with patch(1) as the judge of what they mean."""

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from norma.domain.tools.diff import MOST_CHARACTERS, MOST_COMPARED, unified_diff

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
    old = "head\n" + "a\n" * (MOST_COMPARED + 1) + "tail\n"
    new = "head\n" + "b\n" * (MOST_COMPARED + 2) + "tail\n"
    assert applied(unified_diff(old, new, "f"), old) == new
