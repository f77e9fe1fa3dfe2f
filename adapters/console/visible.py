"""
Text from a model, a file or a command, made safe to show.

A terminal obeys control characters: they could hide the end of a command behind its beginning, or
draw a question that nobody asked. They are shown as escapes instead, and so are the marks that turn
the direction of writing around.
"""

import re

_TRICKS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def visible(text: str) -> str:
    """*text* with every control character but newline and tab as an escape, such as `\\x1b`."""
    return _TRICKS.sub(lambda found: found.group().encode("unicode_escape", "surrogatepass").decode(), text)


def one_line(text: str, width: int) -> str:
    """The beginning of *text* on one line of *width* characters at most; a cut is marked."""
    line = " ".join(visible(text[: 4 * width]).split())
    return line if len(line) <= width and len(text) <= 4 * width else line[: width - 1] + "…"
