"""Random folders, patterns and queries: what both backends are compared on."""

import os
from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

from norma.ports.file_search import SearchQuery

T = TypeVar("T")

FOLDERS = (b"src", b"build", b"deep", b".cache", b"node modules")
NAMES = (
    *(b"a.py", b"b.py", b"a.txt", b"ab", b"b.txt", b".hidden", b".env.py", b"[x].txt", b"col:on:3:x.txt"),
    *(
        "é.txt".encode(),
        b"bad\xffname.py",
        b"new\nline.txt",
        b"-dash.txt",
        b"Makefile",
        b"x.log",
        b"keep.log",
    ),
)
RULES = (
    *("*.py", "!a.py", "/build", "build/", "src/*.txt", "**/deep", "a?", "{a,b}.txt", "[ab].py", "[!a].txt"),
    *(
        "\\#x",
        "# comment",
        "deep/**",
        "!deep/",
        "*",
        "!*/",
        "*.log  ",
        "!keep.log",
        "/src/**/a.py",
        "src/",
        "é*",
    ),
    *(
        "**/a.*",
        "a**b",
        "[",
        "{a",
        "\\!x",
        "**",
        "/*",
        "!/src",
        "x.log/",
        ".hidden",
        "a.{py,txt}",
        "build/**/b.py",
    ),
    *(
        "/**",
        "!/**",
        "**/",
        "/**/",
        "**/**",
        "***",
        "a/***",
        "a[",
        "[a",
        "[]",
        "[]a]",
        "[!a]*",
        "[a-",
        "[b-a]",
    ),
    *(
        "/",
        "//a.py",
        "src//a.py",
        "!",
        "!!a",
        "/!x",
        "\\",
        "a\\",
        "\\*",
        "a.py/",
        "*/*",
        "./a.py",
        "a}",
        "{a,",
    ),
)
GLOBS = (
    *(
        "*.py",
        "!*.py",
        "*.{py,txt}",
        "src/**",
        "**/a.*",
        "!build",
        "/src/*",
        "a*",
        "!.hidden",
        "[ab].*",
        "?.py",
    ),
    *("deep/", "**", "!**/deep/**", "*", "Makefile"),
)
TYPES = ("py", "txt", "make", "log")
WORDS = (
    *(
        "needle",
        "Needle",
        "NEEDLE",
        "foo_bar",
        "foo",
        "bar",
        "a",
        "aa",
        "b",
        "k",
        "K",
        "\u212a",
        "s",
        "\u017f",
    ),
    *(
        "i",
        "I",
        "\u0131",
        "\u0130",
        "é",
        "É",
        "naïve",
        "ß",
        "\u0416",
        "\u0436",
        "\u6f22",
        "0",
        "42",
        "\u0663",
        "_",
    ),
    *(
        " ",
        "\t",
        "\x0b",
        "\u00a0",
        "\u2003",
        ".",
        "*",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "\\",
        "$",
        "^",
        "-",
        "/",
        "\r",
    ),
    *("\x1c", "\x85", "x" * 1200, "\U0001f600"),
)
ENDS = (b"\n", b"\n", b"\n", b"\r\n", b"\n\n")
ATOMS = (
    *(
        "needle",
        "foo",
        "bar",
        "a",
        "b",
        "k",
        "s",
        "i",
        "é",
        "É",
        "ß",
        "\u0436",
        "\u6f22",
        "0",
        r"\d",
        r"\w",
        r"\s",
    ),
    *(
        r"\D",
        r"\W",
        r"\S",
        ".",
        "[ab]",
        "[^a]",
        "[a-z]",
        "[^a-z]",
        "[A-Z]",
        r"[\w.]",
        r"[^\w]",
        r"[\W\d]",
        r"[^\W_]",
    ),
    *(
        "[é-ü]",
        "[[:alpha:]]",
        "[]a]",
        "[^]a]",
        "[a-]",
        r"\.",
        r"\{",
        r"\(",
        r"\\",
        r"\t",
        r"\x41",
        "{",
        "]",
        "}",
    ),
    *(
        "(?:foo|bar)",
        "(a|b|)",
        "(?i:Needle)",
        "(?i:k)",
        "(?i:[s-t])",
        "(?P<n>foo)",
        r"[\S\s]",
        r"\r",
        "_",
        "x",
        "[[a]",
    ),
)
QUANTIFIERS = ("", "", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,1}", "{2,}", "*?", "+?", "??")
EDGES = ("", "", "", "^", r"\b", r"\B")


def one(random: Random, choices: Sequence[T]) -> T:
    return random.choice(choices)


def some(random: Random, choices: Sequence[T], most: int) -> list[T]:
    return [random.choice(choices) for _ in range(random.randint(0, most))]


def content(random: Random) -> bytes:
    """The bytes of a file; now and then of a kind that needs care."""
    kind = random.random()
    text = b"".join(
        "".join(some(random, WORDS, 5)).encode() + one(random, ENDS) for _ in range(random.randint(0, 8))
    )
    if kind < 0.1:
        text = text.rstrip(b"\r\n")
    if kind < 0.2:
        text += one(random, (b"caf\xe9 needle\n", b"\xff\xfe\xff", b"\xed\xa0\x80a\n", b"foo\xc3\n"))
    elif kind < 0.25:
        text = b"line\n" + text + b"\0needle\n"
    elif kind < 0.3:
        text = text.decode("utf-8").encode(one(random, ("utf-16", "utf-8-sig")))
    return text


def grow(random: Random, root: bytes) -> None:
    """Fill the empty folder *root*."""
    folders = [root]
    for _ in range(random.randint(0, 5)):
        folder = os.path.join(one(random, folders), one(random, FOLDERS))
        os.makedirs(folder, exist_ok=True)
        folders.append(folder)
    for folder in folders:
        for name in {one(random, NAMES) for _ in range(random.randint(0, 6))}:
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content(random))
        for name in (b".gitignore", b".ignore", b".rgignore"):
            if random.random() < 0.25:
                with open(os.path.join(folder, name), "wb") as file:
                    file.write("\n".join(some(random, RULES, 4)).encode())
        if random.random() < (0.6 if folder == root else 0.1):
            os.makedirs(os.path.join(folder, b".git"), exist_ok=True)
        if random.random() < 0.1 and not os.path.lexists(os.path.join(folder, b"link")):
            os.symlink(one(random, (b".", b"a.txt", b"/nowhere")), os.path.join(folder, b"link"))


def pattern(random: Random) -> str:
    """A pattern of the shared dialect, most of the time one that matches something."""
    if random.random() < 0.3:
        return one(random, ("needle", "foo", "a", "é", "k", "s$", "^a", "needle$", "^$", r"\w+", "."))
    parts = [
        one(random, EDGES) + one(random, ATOMS) + one(random, QUANTIFIERS)
        for _ in range(random.randint(1, 4))
    ]
    if random.random() < 0.2:
        parts.insert(random.randint(0, len(parts)), "|")
    return "".join(parts) + ("$" if random.random() < 0.15 else "")


def query(random: Random, root: str) -> SearchQuery:
    """A query over the tree in *root* or a part of it."""
    path = root
    entries = sorted(entry.path for entry in os.scandir(root) if not entry.is_symlink())
    if entries and random.random() < 0.15:
        path = one(random, entries)
    wishes: dict[str, Any] = {
        "mode": one(random, ("files", "content", "content", "count")),
        "ignore_case": random.random() < 0.3,
        "globs": tuple(some(random, GLOBS, 2)) if random.random() < 0.4 else (),
        "types": tuple(some(random, TYPES, 2)) if random.random() < 0.2 else (),
        "before": one(random, (0, 0, 1, 3)),
        "after": one(random, (0, 0, 1, 2)),
        "multiline": random.random() < 0.3,
        "limit": one(random, (0, 1, 3, 250)),
        "offset": one(random, (0, 0, 0, 1, 5)),
        "hidden": random.random() < 0.3,
        "no_ignore": random.random() < 0.2,
    }
    return SearchQuery(pattern(random), path, **wishes)
