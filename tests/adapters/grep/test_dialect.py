"""The shared dialect: what is refused in the same words by both, and what each engine is given."""

import re
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from norma.adapters.grep.expression import PatternError, lowered, minds_no_case
from norma.adapters.grep.literals import needles
from norma.adapters.grep.parser import parse
from norma.adapters.grep.spelling import for_python, for_ripgrep
from norma.adapters.grep.worker.linear import LinearLines
from tests.adapters.grep.rigs import real_ripgrep


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(", "at character 1, this ( is never closed"),
        ("a)", "at character 2, this ) closes no group"),
        ("[a", "this [ is never closed"),
        ("*a", "there is nothing to repeat"),
        ("a**", "this repeats a repetition"),
        ("a++", "this repeats a repetition"),
        ("^*", "an edge can't be repeated"),
        ("a{3,2}", "the wrong way round"),
        ("a{2000}", "too long"),
        ("(?:(?:a{100}){100}){100}", "too long"),
        ("(?=a)", "look-around is not supported"),
        ("(?<!a)b", "look-around is not supported"),
        (r"(a)\1", "back-references are not supported"),
        (r"(?P<x>a)(?P=x)", "back-references are not supported"),
        (r"\p{L}", r"\p is not supported"),
        (r"\Aa", "use ^"),
        ("a\\", "ends in a backslash"),
        ("[z-a]", "no end above its start"),
        ("[[:alphabet:]]", "no known class"),
        (r"a\nb", "multiline"),
        (r"[\n]", "multiline"),
        (r"a\x00", "NUL can't match"),
        (r"\x{110000}", "no character's number"),
        ("(?>a)", "this kind of group is not supported"),
        ("(?-m)a", "m can't be switched off"),
        ("\udcff", "not valid Unicode"),
        ("(" * 60 + ")" * 60, "nested too deep"),
    ],
)
def test_G7_what_is_outside_the_dialect_is_refused_with_a_place_and_a_way_out(
    pattern: str, words: str
) -> None:
    with pytest.raises(PatternError) as caught:
        parse(pattern)
    message = str(caught.value)
    assert words in message
    assert "; " in message


@pytest.mark.parametrize(
    ("pattern", "line", "matches"),
    [
        ("interface{}", "type any = interface{}", True),
        ("a{,2}b", "b", True),
        ("[[]", "[", True),
        ("[]a]", "]", True),
        ("[a-]", "-", True),
        (r"[\w.]+@", "a.b@", True),
        (r"\bfoo\b", "a foo.", True),
        (r"\bfoo\b", "food", False),
        ("(?i)NEEDLE", "a needle", True),
        ("(?i:k)elvin", "\u212aelvin", True),
        ("(?i:i)", "\u0131", False),
        ("(?i)x(?-i)Y", "Xy", False),
        ("^$", "\r", True),
        ("needle$", "needle\r", True),
        (r"\s", "\x1c", False),
        (r"\w", "\u6f22", True),
        (".", "\udcff", False),
        ("[^a]", "\udcff", False),
        (r"[\W\d]", "\n", False),
        (r"[^\W_]", "_", False),
        (r"\u00e9|\x{6f22}|\U0001F600", "\U0001f600", True),
        ("(?P<name>a|b)+?c", "abc", True),
    ],
)
def test_G6_both_engines_of_python_read_the_dialect_alike(pattern: str, line: str, matches: bool) -> None:
    tree = parse(pattern)
    wide = re.compile(for_python(tree, multiline=False, wide=True), re.MULTILINE)
    assert bool(wide.search(line)) is matches
    assert LinearLines(tree).has_match(line) is matches
    if line.isascii():
        narrow = re.compile(for_python(tree, multiline=False, wide=False), re.MULTILINE | re.ASCII)
        assert bool(narrow.search(line)) is matches


def patterns() -> st.SearchStrategy[str]:
    atoms = st.sampled_from(
        [
            "a",
            "b",
            "k",
            "é",
            ".",
            r"\w",
            r"\W",
            r"\s",
            "[ab]",
            "[^a]",
            r"[^\W\d]",
            r"\d",
            "(?i:K)",
            r"\b",
            r"\B",
        ]
    )
    repeats = st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,3}", "*?", "{2,}"])

    def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        grouped = inner.map(lambda text: f"(?:{text})")
        piece = st.builds(
            lambda atom, repeat: atom + repeat * (atom[:2] not in ("\\b", "\\B")), atoms | grouped, repeats
        )
        sequence = st.lists(piece, min_size=1, max_size=4).map("".join)
        return st.lists(sequence, min_size=1, max_size=3).map("|".join)

    edges = st.sampled_from(["", "", "^", "$"])
    return st.builds(
        lambda before, body, after: before + body + after * (after == "$"),
        edges.map(lambda edge: edge * (edge == "^")),
        st.recursive(atoms, grow, max_leaves=8),
        edges,
    )


# `re` before Python 3.14 finds no \\B in a text without a character; no file that is searched is such a text.
LINES = st.text(st.sampled_from("aabbk\u212a\u0131é_ 1.-\r\udcff"), min_size=1, max_size=12)


@given(patterns(), st.lists(LINES, min_size=1, max_size=5))
def test_G7_the_linear_engine_finds_exactly_what_re_finds(pattern: str, lines: list[str]) -> None:
    try:
        tree = parse(pattern)
    except PatternError:
        return
    wide = re.compile(for_python(tree, multiline=False, wide=True), re.MULTILINE)
    linear = LinearLines(tree)
    for line in lines:
        assert linear.has_match(line) == bool(wide.search(line)), (pattern, line)


@given(patterns(), LINES)
def test_G6_a_file_without_the_needles_of_a_pattern_has_no_match(pattern: str, line: str) -> None:
    try:
        tree = parse(pattern)
    except PatternError:
        return
    if not re.compile(for_python(tree, multiline=False, wide=True), re.MULTILINE).search(line):
        return
    data = line.encode("utf-8", "surrogateescape")
    for needle in needles(tree):
        texts = needle.texts if data.isascii() or not needle.folded else needle.plain_parts
        assert any(text in (data.lower() if needle.folded else data) for text in texts), (
            pattern,
            line,
            needle,
        )


@given(patterns(), LINES)
def test_G6_a_text_in_lower_case_is_searched_with_the_same_answer(pattern: str, line: str) -> None:
    try:
        tree = parse(pattern, ignore_case=True)
    except PatternError:
        return
    line = line.encode("ascii", "replace").decode().title()
    narrow, lower = (
        re.compile(for_python(node, multiline=False, wide=False), re.MULTILINE | re.ASCII)
        for node in (tree, lowered(tree))
    )
    assert minds_no_case(tree)
    found, same = narrow.search(line), lower.search(line.lower())
    assert (found and found.span()) == (same and same.span())


def test_G7_a_pattern_that_takes_re_for_ever_takes_the_linear_engine_no_time() -> None:
    linear = LinearLines(parse("(?:(?:a+)+)+$"))
    assert not linear.has_match("a" * 100_000 + "!")
    assert linear.has_match("a" * 100_000)


def test_G7_the_linear_engine_forgets_what_would_fill_the_memory() -> None:
    linear = LinearLines(parse("(?:a|b)*a(?:a|b){14}c"))
    text = "".join("ab"[number.bit_count() % 2] for number in range(40_000))
    assert not linear.has_match(text)
    assert len(linear.states) <= 4000


@pytest.mark.parametrize("pattern", [r"\w{200}", r"(?:\w\s){100}", r"(?i)[a-zà-ÿ]{300}", r"\W{150}x"])
def test_G6_ripgrep_takes_the_largest_patterns_that_the_dialect_allows(pattern: str) -> None:
    written = for_ripgrep(parse(pattern))
    done = subprocess.run(
        [real_ripgrep(), "--no-config", f"--regexp={written}", "-"],
        input=b"x\n",
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, b"")
