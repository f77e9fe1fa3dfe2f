"""
How a line is shown: as text whatever its bytes, without its end, and cut around the match when it
is long.
"""

LONGEST = 1000
"""Bytes of a line that are shown whole; of a longer one this many are shown."""
LEAD = 200
"""Bytes before the match in what is shown of a long line."""


def shown(line: bytes, match_at: int = 0) -> str:
    r"""
    *line* (UTF-8 as far as it is valid) as text.

    A byte that is no UTF-8 is written `\xff`. A long line is cut to the surroundings of *match_at*,
    the offset in bytes of its first match, and says which bytes they are.
    """
    line = without_end(line)
    if len(line) <= LONGEST:
        return line.decode("utf-8", "backslashreplace")
    start = max(0, min(match_at - LEAD, len(line) - LONGEST))
    end = start + LONGEST
    while start > 0 and line[start] & 0xC0 == 0x80 and start > match_at - LEAD - 3:
        start -= 1
    while end < len(line) and line[end] & 0xC0 == 0x80 and end < start + LONGEST + 6:
        end += 1
    text = line[start:end].decode("utf-8", "backslashreplace")
    before = "…" if start else ""
    after = "…" if end < len(line) else ""
    return f"{before}{text}{after} [cut: bytes {start + 1} to {end} of {len(line)}]"


def without_end(line: bytes) -> bytes:
    """*line* without its LF or CR LF."""
    return line.removesuffix(b"\n").removesuffix(b"\r")
