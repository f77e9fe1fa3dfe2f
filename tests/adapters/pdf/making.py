"""PDFs written byte by byte: whole ones, and ones that are wrong in one way each."""

import hashlib
import zlib
from collections.abc import Mapping, Sequence

from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

HELVETICA = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
PADDING = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
ID = bytes(range(16))

Objects = Mapping[int, bytes]


def pdf(objects: Objects, *, trailer: bytes = b"") -> bytes:
    """A file of *objects* by number, number 1 being the catalogue, with a table of where each begins."""
    out = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    places = {}
    for number, body in objects.items():
        places[number] = len(out)
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table, size = len(out), max(objects) + 1
    rows = [b"%010d 00000 n \n" % places[n] if n in places else b"0000000000 65535 f \n" for n in range(size)]
    out += b"xref\n0 %d\n" % size + b"".join(rows)
    out += b"trailer\n<< /Size %d /Root 1 0 R %b >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, table)
    return bytes(out)


def stream(data: bytes, *, packed: bool = False, more: bytes = b"") -> bytes:
    """A stream object, compressed if *packed*."""
    if packed:
        data, more = zlib.compress(data, 9), b"/Filter /FlateDecode " + more
    return b"<< /Length %d %b>>\nstream\n%b\nendstream" % (len(data), more, data)


def shows(text: str) -> bytes:
    """Drawing operations for the lines of *text*, in Windows-1252."""
    rows = [b"(%b) Tj T*" % escaped(line.encode("cp1252")) for line in text.split("\n")]
    return b"BT /F1 12 Tf 14 TL 72 720 Td " + b" ".join(rows) + b" ET"


def escaped(text: bytes) -> bytes:
    return text.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def pages(
    *contents: bytes, font: bytes = HELVETICA, packed: bool = False, more: Objects | None = None
) -> dict[int, bytes]:
    """The objects of a document with a page for each of *contents*, which draw with the font F1."""
    kids = b" ".join(b"%d 0 R" % (10 + 2 * number) for number in range(len(contents)))
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, len(contents)),
        3: font,
    }
    for number, content in enumerate(contents):
        objects[10 + 2 * number] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            b"/Resources << /Font << /F1 3 0 R >> /XObject << /X0 4 0 R >> >> /Contents %d 0 R >>"
            % (11 + 2 * number)
        )
        objects[11 + 2 * number] = stream(content, packed=packed)
    return {**objects, **(more or {})}


def document(*texts: str, packed: bool = False) -> bytes:
    """A page for each of *texts*; an empty one has nothing on it."""
    return pdf(pages(*(shows(text) if text else b"" for text in texts), packed=packed))


def with_unicode_map(text: str) -> bytes:
    """One page whose font numbers its glyphs as it likes, and has a table of what each means."""
    letters = sorted(set(text))
    rows = b"".join(
        b"<%04x> <%b>\n" % (code, letter.encode("utf-16-be").hex().encode())
        for code, letter in enumerate(letters, 1)
    )
    table = (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n"
        b"1 begincodespacerange <0000> <ffff> endcodespacerange\n"
        b"%d beginbfchar\n%bendbfchar\nendcmap end end" % (len(letters), rows)
    )
    font = (
        b"<< /Type /Font /Subtype /Type0 /BaseFont /Own /Encoding /Identity-H "
        b"/DescendantFonts [6 0 R] /ToUnicode 5 0 R >>"
    )
    descendant = b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Own /DW 600 >>"
    codes = b"".join(b"%04x" % (letters.index(letter) + 1) for letter in text)
    drawn = b"BT /F1 12 Tf 72 720 Td <" + codes + b"> Tj ET"
    return pdf(pages(drawn, font=font, more={5: stream(table, packed=True), 6: descendant}))


def encrypted(text: str, *, password: bytes = b"", aes: bool = False) -> bytes:
    """One page, locked with *password* (empty: everybody can open it) by RC4 or AES, of 128 bits."""
    plain = pages(shows(text))
    owner = hashlib.md5((b"owner" + PADDING)[:32]).digest()
    for _ in range(50):
        owner = hashlib.md5(owner).digest()
    owner_entry = _rounds(owner, (password + PADDING)[:32])
    key = hashlib.md5((password + PADDING)[:32] + owner_entry + (0xFFFFFFFC).to_bytes(4, "little") + ID)
    made = key.digest()
    for _ in range(50):
        made = hashlib.md5(made).digest()
    user_entry = _rounds(made, hashlib.md5(PADDING + ID).digest()) + bytes(16)
    body = _locked(shows(text), made, 11, aes=aes)
    kind = (
        b"/V 4 /R 4 /CF << /StdCF << /CFM /AESV2 /Length 16 >> >> /StmF /StdCF /StrF /StdCF"
        if aes
        else b"/V 2 /R 3"
    )
    lock = b"<< /Filter /Standard %b /Length 128 /P -4 /O <%b> /U <%b> >>" % (
        kind,
        owner_entry.hex().encode(),
        user_entry.hex().encode(),
    )
    identity = ID.hex().encode()
    return pdf(
        {**plain, 11: stream(body), 7: lock}, trailer=b"/Encrypt 7 0 R /ID [<%b> <%b>]" % (identity, identity)
    )


def _rounds(key: bytes, data: bytes) -> bytes:
    for number in range(20):
        data = Cipher(ARC4(bytes(byte ^ number for byte in key)), None).encryptor().update(data)
    return data


def _locked(data: bytes, key: bytes, number: int, *, aes: bool) -> bytes:
    seed = key + number.to_bytes(3, "little") + bytes(2) + (b"sAlT" if aes else b"")
    own = hashlib.md5(seed).digest()
    if not aes:
        return Cipher(ARC4(own), None).encryptor().update(data)
    fill = 16 - len(data) % 16
    cipher = Cipher(algorithms.AES(own), modes.CBC(ID)).encryptor()
    return ID + cipher.update(data + bytes([fill]) * fill) + cipher.finalize()


def laughing(depth: int = 60) -> bytes:
    """One page that draws a form twice, which draws another one twice, and so on: 2 ** *depth* drawings."""
    forms = {
        number: stream(
            b"/X0 Do /X0 Do",
            more=b"/Type /XObject /Subtype /Form /BBox [0 0 1 1] "
            b"/Resources << /XObject << /X0 %d 0 R >> >> " % (number + 1),
        )
        for number in range(100, 100 + depth)
    }
    last = stream(shows("ha"), more=b"/Type /XObject /Subtype /Form /BBox [0 0 1 1] ")
    first = {4: forms.pop(100)}
    return pdf(pages(b"/X0 Do", shows("after"), more={**first, **forms, 100 + depth: last}))


def page_tree(kids: Mapping[int, Sequence[int]]) -> bytes:
    """A document whose page tree has, under each number of *kids*, those; other numbers are pages."""
    objects = {
        number: b"<< /Type /Pages /Count 1 /Kids [%b] >>" % b" ".join(b"%d 0 R" % kid for kid in under)
        for number, under in kids.items()
    }
    leaves = {kid for under in kids.values() for kid in under} - set(kids)
    leaf = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>"
    return pdf({1: b"<< /Type /Catalog /Pages 2 0 R >>", **objects, **dict.fromkeys(leaves, leaf)})


def inflating(size: int) -> bytes:
    """One page whose drawing is *size* bytes once it is unpacked."""
    return pdf(pages(b"0 0 m\n" * (size // 6), packed=True))
