"""
Bytes to text by the web's own table of labels (the Encoding standard), as browsers do it.

A label from the net is looked up here and nowhere else: Python's codec of the same name often knows fewer
letters (`euc-kr` means cp949, `gb2312` gb18030, `latin1` cp1252), and some of its codecs are no charsets.
"""

import re

from norma.domain.model.values import frozen

_NAMES = {
    "utf-8": "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
    "cp866": "866 cp866 csibm866 ibm866",
    "iso8859-2": "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "iso8859-3": "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "iso8859-4": "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "iso8859-5": "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 "
    "iso_8859-5:1988",
    "iso8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e "
    "iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
    "iso8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 "
    "iso_8859-7 iso_8859-7:1987 sun_eu_greek",
    "iso8859-8": "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 "
    "iso_8859-8 iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical",
    "iso8859-10": "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso8859-15": "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8-u": "koi8-ru koi8-u",
    "mac-roman": "csmacintosh mac macintosh x-mac-roman",
    "cp874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "cp1250": "cp1250 windows-1250 x-cp1250",
    "cp1251": "cp1251 windows-1251 x-cp1251",
    "cp1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
    "iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252",
    "cp1253": "cp1253 windows-1253 x-cp1253",
    "cp1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 "
    "latin5 windows-1254 x-cp1254",
    "cp1255": "cp1255 windows-1255 x-cp1255",
    "cp1256": "cp1256 windows-1256 x-cp1256",
    "cp1257": "cp1257 windows-1257 x-cp1257",
    "cp1258": "cp1258 windows-1258 x-cp1258",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gb18030": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk gb18030",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc_jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "iso2022_jp": "csiso2022jp iso-2022-jp",
    "cp932": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "cp949": "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 "
    "windows-949",
    "utf-16-be": "unicodefffe utf-16be",
    "utf-16-le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
}
_CODECS = {label: codec for codec, labels in _NAMES.items() for label in labels.split()}
_UNREADABLE = frozenset(
    {"csiso2022kr", "hz-gb-2312", "iso-2022-cn", "iso-2022-cn-ext", "iso-2022-kr", "replacement"}
)
"""The standard reads none of these, since they hide markup from filters."""

_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_LABEL = re.compile(r"charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s;\"',]+))", re.IGNORECASE)
_META = re.compile(rb"<meta[\s/][^>]*?charset\s*=\s*[\"']?\s*([^\s\"'/>;]+)", re.IGNORECASE)
_XML = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([^\"']+)[\"']")
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_EARLY = 1024
_LONGEST_LETTER = 4


@frozen
class Decoded:
    """Text, and a note for each thing that was guessed or lost."""

    text: str
    notes: tuple[str, ...] = ()


def label_of(content_type: str) -> str | None:
    """The charset that a Content-Type names."""
    found = _LABEL.search(content_type)
    return next((group.strip() for group in found.groups() if group), None) if found else None


def codec_of(label: str) -> str | None:
    """Python's codec for a label of the web; None for one that the standard does not have."""
    return _CODECS.get(label.strip(" \t\n\f\r").lower())


def decode(body: bytes, content_type: str, *, markup: bool, cut: bool = False) -> Decoded:
    """
    The text of *body*: by its byte order mark, then the header, then (for *markup*) its own declaration.

    With *cut* the body ends anywhere, so half a letter at its end is left out. Never raises.
    """
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return _decoded(body[len(mark) :], codec, cut, ())
    notes: list[str] = []
    for label in _labels(body, content_type, markup):
        codec_found = codec_of(label)
        if codec_found is not None:
            return _decoded(body, codec_found, cut, tuple(notes))
        if label.lower() in _UNREADABLE:
            notes.append(f"the charset {label[:40]!r} is not read on the web")
        else:
            notes.append(f"the charset {label[:40]!r} is unknown")
    return _guessed(body, cut, markup, notes)


def _labels(body: bytes, content_type: str, markup: bool) -> list[str]:
    labels = [label_of(content_type)]
    if markup:
        labels.append(_declared(body[:_EARLY]))
    return [label for label in labels if label]


def _declared(start: bytes) -> str | None:
    """What the markup itself says; it was read as bytes, so UTF-16 can't be meant."""
    start = _COMMENT.sub(b"", start)
    found = _XML.match(start) or _META.search(start)
    if found is None:
        return None
    label = found[1].decode("ascii", "replace")
    return "utf-8" if (codec_of(label) or "").startswith("utf-16") else label


def _guessed(body: bytes, cut: bool, markup: bool, notes: list[str]) -> Decoded:
    whole = _whole_letters(body) if cut else body
    try:
        return Decoded(whole.decode("utf-8"), tuple(notes))
    except UnicodeDecodeError:
        late = _declared(body) if markup else None
    codec = codec_of(late) if late else None
    guess = codec or "cp1252"
    notes.append(f"no usable charset was named and the text is no UTF-8; it was read as {guess}")
    return _decoded(body, guess, cut, tuple(notes))


def _decoded(body: bytes, codec: str, cut: bool, notes: tuple[str, ...]) -> Decoded:
    if cut and codec == "utf-8":
        body = _whole_letters(body)
    text = body.decode(codec, "replace")
    if cut and text.endswith("\ufffd"):
        text = text[:-1]
    lost = text.count("\ufffd")
    if lost and codec == "utf-8":
        lost -= body.count(b"\xef\xbf\xbd")
    if lost > 0:
        notes = (*notes, f"{lost} bytes or letters that are no {codec} are shown as \ufffd")
    return Decoded(text, notes)


def _whole_letters(body: bytes) -> bytes:
    """*body* without the beginning of a UTF-8 letter at its end."""
    for back in range(1, min(_LONGEST_LETTER, len(body)) + 1):
        byte = body[-back]
        if byte & 0xC0 != 0x80:
            wanted = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
            return body[:-back] if wanted > back else body
    return body
