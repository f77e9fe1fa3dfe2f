"""Small pieces of Markdown: text that means only itself, code fences, links, and tidy lines."""

import re
from collections.abc import Callable
from urllib.parse import urljoin

HARD_SPACE = "\2"
"""Stands for a blank of an indentation, which is not tidied away, until all is written."""

SPACE = re.compile(r"[ \t\n\r\f]+")
_STARS = re.compile(r"(?<![\s*])\*|\*(?![\s*])")
_UNDERSCORE = re.compile(r"(?<!\w)_(?=\S)|(?<=\S)_(?!\w)")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_LINE_START = re.compile(r"^(\s*)(?:(#{1,6}|[-+>])(?=\s)|(\d{1,9})([.)])(?=\s))", re.MULTILINE)
_TICKS = re.compile(r"`+")
_EMPTY_LINES = re.compile("\n\n\n+")
_BLANKS = re.compile("  +")
_LINE_MARKS = ("# ", "## ", "### ", "#### ", "##### ", "###### ", "- ", "> ")
_WEB = ("http://", "https://")
_KEPT = (*_WEB, "mailto:", "tel:", "ftp://", "sms:", "magnet:", "geo:")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")


def plain(text: str) -> str:
    """*text* of a page so that none of it reads as a mark, white space as one space."""
    if "\n" in text:
        text = text.replace("\n", " ")  # `tidy` makes one blank of many
    if "\t" in text or "\f" in text:
        text = SPACE.sub(" ", text)
    if "*" in text and text.count("*") > 1:
        text = _STARS.sub(r"\\*", text)
    if "_" in text and text.count("_") > 1:
        text = _UNDERSCORE.sub(r"\\_", text)
    if "`" in text:
        text = text.replace("`", "\\`")
    if "<" in text:
        text = _TAG.sub(r"\\<", text)
    return text


def line_safe(text: str) -> str:
    """The text of a block, which must not begin as a heading, a list or a quotation."""
    return _LINE_START.sub(_escaped_start, text, count=1)


def _escaped_start(found: "re.Match[str]") -> str:
    if found[2]:
        return f"{found[1]}\\{found[2]}"
    return f"{found[1]}{found[3]}\\{found[4]}"


def code(text: str) -> str:
    """Code inside a line, between enough back-ticks."""
    text = SPACE.sub(" ", text)
    if not text.strip():
        return text
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fenced(text: str, language: str) -> str:
    """A block of code byte for byte, in a fence longer than any in it."""
    runs = re.findall(r"^\s*(`{3,})", text, re.MULTILINE)
    inner = max((len(run) for run in _TICKS.findall(text)), default=0) if runs or "```" in text else 0
    fence = "`" * max(3, inner + 1)
    end = "" if text.endswith("\n") else "\n"
    return f"{fence}{language}\n{text}{end}{fence}"


def linked(text: str, target: str) -> str:
    """A link around *text*; where that is several blocks, around the first line of words in it."""
    lead, words, trail = _apart(text)
    if "\n" not in words:
        return f"{lead}{_bracketed(words, target)}{trail}"
    lines = words.split("\n")
    for place, line in enumerate(lines):
        if line.strip() and "\0" not in line:
            lines[place] = _bracketed(line.strip(), target)
            break
    joined = "\n".join(lines)
    return f"\n\n{joined}\n\n" if "\n\n" in words else f"{lead}{joined}{trail}"


def _bracketed(words: str, target: str) -> str:
    if words.startswith(_LINE_MARKS):
        mark, _, words = words.partition(" ")
        return f"{mark} [{words}]({target})"
    return f"[{words}]({target})"


def emphasised(text: str, mark: str) -> str:
    """*text* between *mark* and *mark*; blocks and code are left as they are."""
    lead, words, trail = _apart(text)
    if not words or "\n\n" in words or "\0" in words:
        return text
    return f"{lead}{mark}{words}{mark}{trail}"


def _apart(text: str) -> tuple[str, str, str]:
    """The blanks before, the words, and the blanks behind."""
    words = text.strip()
    if not words:
        return text, "", ""
    start = text.index(words[0])
    return text[:start], words, text[start + len(words) :]


def tidy(text: str) -> str:
    """Without blanks at the ends of lines, and with one empty line at most between two."""
    if "  " in text:
        text = _BLANKS.sub(" ", text)
    if "\n" in text:
        # Lines are split and joined: a pattern that begins with a blank would be tried at each one.
        text = "\n".join([line.strip(" \t") for line in text.split("\n")])
        text = _EMPTY_LINES.sub("\n\n", text)
    return text.strip()


def link_maker(page: str, base: str | None) -> Callable[[str], str | None]:
    """
    What makes the links of *page* absolute against its first base element; None: no link to follow.

    They are only shown: one that is fetched later is taken apart by the URL parser like any other.
    """
    root = page
    if base:
        joined = _joined(page, base)
        root = joined if joined and joined.startswith(_WEB) else page

    here = root.partition("#")[0]
    site = "/".join(root.split("/", 3)[:3])
    folder = here.partition("?")[0].rpartition("/")[0] + "/"
    folder = folder if folder.startswith(site + "/") else site + "/"

    def absolute(href: str) -> str | None:
        href = href.strip()
        # The common forms first: to join them takes a tenth of what the whole rules take.
        if href.startswith(_WEB):
            return _safe(href)
        first = href[:1]
        if first == "#":
            return _safe(here + href)
        if "/." not in href and "\\" not in href:
            if first == "/" and href[1:2] != "/":
                return _safe(site + href)
            if first.isalnum() and ":" not in href:
                return _safe(folder + href)
        scheme = _SCHEME.match(href)
        if scheme is not None and scheme[0].lower() not in ("http:", "https:"):
            return _safe(href) if href.lower().startswith(_KEPT) else None
        return _safe(_joined(root, href))

    return absolute


def _joined(base: str, href: str) -> str | None:
    try:
        return urljoin(base, href.replace("\\", "/"))
    except ValueError:
        return None


def _safe(url: str | None) -> str | None:
    """*url* as it may stand in round brackets."""
    if url is None:
        return None
    if "\n" in url or "\t" in url or "\r" in url:
        url = re.sub(r"[\t\n\r]", "", url)
    if " " in url:
        url = url.replace(" ", "%20")
    if "<" in url or ">" in url:
        url = url.replace("<", "%3C").replace(">", "%3E")
    if url.count("(") != url.count(")"):
        url = url.replace("(", "%28").replace(")", "%29")
    return url
