"""Nothing raises out of the tool, whatever comes: random bodies, labels, headers and URLs (F2 to F4)."""

# ruff: noqa: E501 - rows of odd values

import random
from collections.abc import Callable

import pytest

from norma.adapters.urls.parser import StandardUrls
from norma.adapters.web_fetch.charsets import _CODECS
from norma.adapters.web_fetch.reading import Body, reading_of
from norma.adapters.web_search import brave, deepseek, duckduckgo, tavily
from norma.adapters.web_search.asking import Said
from norma.ports.page_fetch import MOST_CHARACTERS
from norma.ports.urls import BadUrl
from norma.ports.web_search import SearchAnswer

TAGS = [
    "a",
    "b",
    "body",
    "br",
    "base",
    "button",
    "caption",
    "code",
    "dd",
    "div",
    "dl",
    "dt",
    "em",
    "form",
    "frameset",
    "h1",
    "h6",
    "head",
    "hr",
    "html",
    "i",
    "iframe",
    "img",
    "input",
    "li",
    "link",
    "main",
    "math",
    "meta",
    "nav",
    "noscript",
    "ol",
    "option",
    "p",
    "pre",
    "script",
    "select",
    "span",
    "style",
    "summary",
    "svg",
    "table",
    "tbody",
    "td",
    "template",
    "textarea",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
    "video",
    "xmp",
    "article",
    "aside",
    "blockquote",
]
ATTRIBUTES = (
    "href",
    "src",
    "hidden",
    "style",
    "colspan",
    "rowspan",
    "start",
    "alt",
    "class",
    "role",
    "charset",
    "content",
)
VALUES = (
    "", "x", "http://[", "javascript:x", "//h", "\\\\h", "9" * 30, "-1", "display:none", "language-c++", "presentation",
    "0;url=http://[::1", "a b(c", "\u202e", "data:x,y", "#", "?", "http://h:99999/", "\x00", "main", "text/html;charset=x",
)  # fmt: skip
LABELS = (*_CODECS, "x-made-up", "rot13", "idna", "utf-7", "hex", "", "\udcff", "a" * 300, "hz-gb-2312")
MEDIA = (
    "text/html",
    "text/plain",
    "application/rss+xml",
    "application/json",
    "",
    "/",
    ";;",
    "image/png",
    "text/html;;",
    "\x00",
)
STARTS = (b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"%PDF-1.", b"\x89PNG\r\n\x1a\n", b"<?xml version='1.0'?><rss>", b"<feed>",
          b"<!doctype html>", b"<!DOCTYPE x [<!ENTITY a 'b'>]><rss><item>&a;", b"\x1f\x8b", b"<html><base href='http://['>")  # fmt: skip


def markup(chance: random.Random) -> str:
    out = []
    for _ in range(chance.randrange(30)):
        kind = chance.random()
        tag = chance.choice(TAGS)
        if kind < 0.6:
            more = "".join(
                f" {chance.choice(ATTRIBUTES)}={chance.choice(('', chr(34), chr(39)))}{chance.choice(VALUES)}"
                for _ in range(chance.randrange(3))
            )
            out.append(f"<{tag}{more}>")
        elif kind < 0.8:
            out.append(f"</{tag}>")
        else:
            out.append(
                chance.choice(
                    (
                        "words ",
                        "&amp;",
                        "&#0;",
                        "&#xD800;",
                        "|",
                        "`",
                        "* _x_",
                        "<!--",
                        "-->",
                        "<![CDATA[",
                        "\n",
                        "\U0001f600",
                    )
                )
            )
    return "".join(out)


def body(chance: random.Random) -> bytes:
    start = chance.choice(STARTS)
    match chance.randrange(4):
        case 0:
            return start + chance.randbytes(chance.randrange(200))
        case 1:
            return start + markup(chance).encode("utf-8", "replace")
        case 2:
            return start + markup(chance).encode(
                chance.choice(("utf-16", "cp949", "gb18030", "utf-8")), "replace"
            )
        case _:
            data = bytearray(markup(chance).encode("utf-8", "replace"))
            for _ in range(min(3, len(data))):
                data[chance.randrange(len(data))] = chance.randrange(256)
            return bytes(data)


def one_page(seed: int) -> None:
    chance = random.Random(seed)
    content_type = f"{chance.choice(MEDIA)}; charset={chance.choice(LABELS)}"
    given = Body(
        body(chance),
        content_type,
        "http://h.example/a/b?c#d",
        chance.random() < 0.3,
        chance.choice((None, "5", "x")),
    )
    reading = reading_of(
        given,
        extract=chance.random() < 0.3,
        reader="article" if chance.random() < 0.05 else "whole",
        stop=lambda: None,
    )
    assert len(reading.markdown) <= MOST_CHARACTERS
    reading.markdown.encode()
    "".join(reading.notes).encode()


def one_search(seed: int) -> None:
    chance = random.Random(seed)
    values: tuple[Callable[[], str], ...] = (
        lambda: chance.choice(("null", "[]", "{}", "1", '"x"', "true", "-1e999", '"\\ud800"')),
        lambda: (
            f'{{"url": {chance.choice(values)()}, "title": {chance.choice(values[:1])()}, "content": {values[0]()}}}'
        ),
        lambda: f"[{chance.choice(values)()}, {values[0]()}]",
        lambda: '{"url": "http://a.example/", "title": null, "error": {"code": []}}',
    )
    key = chance.choice(("web", "results", "error", "detail", "type", "content_block", "delta"))
    text = (
        f'{{"{key}": {chance.choice(values)()}, "results": {chance.choice(values)()}, "type": {values[0]()}}}'
    )
    data = text.encode() if chance.random() < 0.8 else chance.randbytes(50)
    headers = {
        chance.choice(("retry-after", "x-ratelimit-remaining", "x-ratelimit-reset")): chance.choice(
            ("x", "1, x", "9" * 40, "")
        )
    }
    status = chance.choice((200, 200, 202, 400, 401, 422, 429, 432, 500, 999))
    answers: list[SearchAnswer] = [
        read(Said(status, headers, data), chance.randrange(-3, 40))
        for read in (brave.read, tavily.read, duckduckgo.read)
    ]
    reader = deepseek.HitReader(5)
    reader.feed(b"data: " + data + b"\n\n")
    answers.append(reader.answer())
    for answer in answers:
        "".join([*answer.notes, *(hit.title + hit.url + hit.snippet for hit in answer.results)]).encode()
        assert all(hit.url.lower().startswith("http") for hit in answer.results)


def one_url(seed: int) -> None:
    chance = random.Random(seed)
    pieces = (
        "http",
        "://",
        "//",
        "\\",
        "h.example",
        ":",
        "80",
        "@",
        "[",
        "]",
        "::1",
        "%",
        "%2e",
        "..",
        "?",
        "#",
        "\udcff",
        "한",
        "0x",
        ".",
        "/",
    )
    text = "".join(chance.choice(pieces) for _ in range(chance.randrange(12)))
    urls = StandardUrls()
    base = urls.parse("http://h.example/a") if chance.random() < 0.5 else None
    try:
        url = urls.parse(text, base)
    except BadUrl:
        return
    assert urls.parse(str(url)).text == url.text


def run(first: int, count: int) -> None:
    for seed in range(first, first + count):
        try:
            one_page(seed)
            one_search(seed)
            one_url(seed)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}") from error


def test_F2_F4_W1_nothing_raises_over_a_few_random_answers() -> None:
    run(0, 2_000)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", range(10))
def test_F2_F4_W1_nothing_raises_over_100_000_random_answers(part: int) -> None:
    run(1_000_000 + part * 10_000, 10_000)
