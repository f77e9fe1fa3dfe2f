"""The source of a page or feed as libxml2 can read it and give it back."""

import re

_CONTROL = re.compile("[\\x00-\\x08\\x0b\\x0e-\\x1f\\ud800-\\udfff]")
_CONTROL_BYTES = bytes({*range(32)} - {*b"\t\n\f\r"})
_HALF = re.compile(
    r"&#(?:[xX]0*[dD][89a-fA-F][0-9a-fA-F]{2}(?![0-9a-fA-F])|"
    r"0*(?:5529[6-9]|55[3-9]\d\d|56\d{3}|57[0-2]\d\d|573[0-3]\d|5734[0-3])(?!\d));?"
)
"""References to half surrogate pairs: libxml2 takes them, and its own text can then not be read."""


def readable(text: str) -> str:
    """*text* with line feeds alone at its line ends, and U+FFFD for what is no letter."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if _has_controls(text):
        text = _CONTROL.sub("\ufffd", text)
    return _HALF.sub("\ufffd", text)


def _has_controls(text: str) -> bool:
    """Whether `_CONTROL` finds something; hardly any page has it, and this takes a third of the time."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return True
    return len(data.translate(None, _CONTROL_BYTES)) < len(data)
