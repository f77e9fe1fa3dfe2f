"""Charsets, labels that lie, and what is no page (F4)."""

import pytest

from norma.adapters.web_fetch.charsets import codec_of, decode, label_of
from norma.adapters.web_fetch.kinds import kind_of
from norma.adapters.web_fetch.reading import Body, reading_of
from norma.adapters.web_fetch.source import readable
from tests.rigs.web import Hostile, fetcher

KOREAN = "한글 본문입니다. 문장이 하나 더 있습니다."


@pytest.mark.parametrize(
    ("form", "text"),
    [
        *(
            (form, KOREAN)
            for form in ("header-euckr", "meta-euckr", "meta-httpequiv", "header-wins", "bom-wins")
        ),
        *((form, KOREAN) for form in ("utf16-bom", "quoted", "none-utf8", "unknown", "late-meta")),
        ("ksc5601", "똠방각하"),
        ("gb2312-is-gb18030", "朱镕基"),
        ("latin1-is-1252", "\u201cquoted\u201d \u20ac 5"),
        ("bad-bytes", "then more text"),
        ("cut-multibyte", "가가가"),
    ],
)
async def test_F4_every_charset_form_of_the_server_arrives(hostile: Hostile, form: str, text: str) -> None:
    async with fetcher() as fetch:
        page = await fetch.get(f"{hostile.a}/charset/{form}")
    assert text in page.markdown
    guessed = form in ("unknown", "late-meta", "bad-bytes")
    assert any("charset" in note or "\ufffd" in note for note in page.notes) == guessed
    assert ("\ufffd" in page.markdown) == (form == "bad-bytes")


@pytest.mark.parametrize(
    ("path", "shown", "hidden"),
    [
        ("pdf-as-html", "PDF document, version 1.4", "stream"),
        ("png-as-text", "PNG image", "IHDR"),
        ("html-as-octet", "# Title", "<h1>"),
        ("no-type", "# Title", "<h1>"),
        ("json", '{"a":[1,2,{"b":"한글"}]}', "binary"),
        ("rss", "[One](http://example.com/1)", "<item>"),
    ],
)
async def test_F4_the_first_bytes_say_more_than_the_label(
    hostile: Hostile, path: str, shown: str, hidden: str
) -> None:
    async with fetcher() as fetch:
        page = await fetch.get(f"{hostile.a}/{path}")
    assert shown in page.markdown
    assert hidden not in page.markdown


def shown(data: bytes, content_type: str = "text/html; charset=utf-8", **more: bool) -> str:
    body = Body(data, content_type, "http://h.example/d/p.html", more.pop("cut", False))
    return reading_of(body, extract=more.get("extract", False), reader="whole", stop=lambda: None).markdown


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("EUC-KR", "cp949"), ("ks_c_5601-1987", "cp949"), ("GB2312", "gb18030"), ("Latin1", "cp1252"),
        ("us-ascii", "cp1252"), ("shift_jis", "cp932"), ("utf8", "utf-8"), ("iso-8859-9", "cp1254"),
        ("tis-620", "cp874"), (" UTF-8\n", "utf-8"), ("rot13", None), ("zip", None), ("idna", None),
        ("base64_codec", None), ("unicode_escape", None), ("utf-7", None), ("hz-gb-2312", None),
    ],
)  # fmt: skip
def test_F4_labels_are_those_of_the_web_and_no_codec_of_python(label: str, codec: str | None) -> None:
    assert codec_of(label) == codec


def test_F4_a_label_is_found_however_it_is_written() -> None:
    for text in ('text/html;charset="utf-8"', "text/html; Charset = utf-8 ; x=y", "a/b;charset='utf-8'"):
        assert label_of(text) == "utf-8"
    assert label_of("text/html") is None


@pytest.mark.parametrize("cut", range(1, 12))
def test_F4_a_cut_leaves_no_half_letter(cut: int) -> None:
    for codec in ("utf-8", "euc-kr", "utf-16le", "gb18030"):
        text = decode("가나다라".encode(codec)[:cut], f"text/plain; charset={codec}", markup=False, cut=True)
        assert "\ufffd" not in text.text, codec
        assert "가나다라".startswith(text.text)


def test_F4_text_that_names_no_charset_and_is_no_utf8_is_read_with_a_note() -> None:
    decoded = decode(b"caf\xe9 \x80", "text/plain", markup=False)
    assert decoded.text == "café €"
    assert decoded.notes


@pytest.mark.parametrize(
    ("data", "content_type", "kind"),
    [
        (b"<!doctype html><p>x", "", "html"),
        (b"  <!-- c -->\n<HTML>", "application/octet-stream", "html"),
        (b"<p>x", "text/plain", "text"),
        (b"x = 1", "application/javascript", "text"),
        (b"\x00\x01\x02", "text/html", "binary"),
        (b"\xff\xfeh\x00i\x00", "text/plain", "text"),
        (b"h\x00i\x00", "text/plain; charset=utf-16le", "text"),
        (b"BM is how this text begins", "text/plain", "text"),
        (b"ID3 tags explained", "text/plain", "text"),
        (b"\x1b$B1!2$\x1b(B", "text/plain; charset=iso-2022-jp", "text"),
        (b"<?xml version='1.0'?>\n<feed xmlns='x'>", "text/html", "feed"),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "image/webp", "binary"),
        (b"", "text/html", "html"),
    ],
)
def test_F4_kinds(data: bytes, content_type: str, kind: str) -> None:
    assert kind_of(data, content_type) == kind


def test_F4_plain_text_is_shown_as_it_is() -> None:
    text = "# no heading\n  indented *stars* <b>&amp;\n\ttab"
    assert shown(text.encode(), "text/plain") == text


def test_F4_a_feed_is_shown_by_its_entries() -> None:
    atom = (
        '<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>'
        '<entry><title>First</title><link rel="self" href="/self"/><link href="/one"/>'
        "<updated>2026-01-02</updated>"
        '<summary type="html">&lt;p&gt;A &lt;b&gt;bold&lt;/b&gt; word&lt;/p&gt;</summary>'
        "</entry></feed>"
    )
    text = shown(atom.encode(), "application/atom+xml")
    for part in ("# News", "## [First](http://h.example/one)", "2026-01-02", "A **bold** word"):
        assert part in text


def test_F4_a_feed_expands_no_entity() -> None:
    bomb = (
        '<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a "boom"><!ENTITY b SYSTEM "file:///etc/hostname">]>'
        "<rss><channel><title>T</title><item><title>x &a; &b;</title></item></channel></rss>"
    )
    text = shown(bomb.encode(), "application/rss+xml")
    assert "boom" not in text
    assert "# T" in text


def test_F2_a_long_text_is_cut_with_a_note() -> None:
    body = Body(b"word \n" * 20_000, "text/plain", "http://h.example/")
    reading = reading_of(body, extract=False, reader="whole", stop=lambda: None)
    assert len(reading.markdown) <= 46_000
    assert any(note.startswith("cut: ") for note in reading.notes)


def test_F4_a_character_that_no_page_may_have_is_replaced_alone() -> None:
    controls = {chr(code) for code in (*range(32), *range(0xD800, 0xE000))} - set("\t\n\f\r")
    for letter in (*controls, *"\t\n\f aé한\x7f\x85\ufffd\U0001f517"):
        assert readable(f"a{letter}b") == ("a\ufffdb" if letter in controls else f"a{letter}b")
