"""Questions to a tree of elements that libxml2 answers without an object for each element."""

from functools import cache
from typing import Any


@cache
def xpath(path: str) -> Any:
    """A path that is compiled once. One thread uses it at a time; others wait, by lxml's own lock."""
    from lxml import etree

    return etree.XPath(path)


def text_of(node: Any) -> str:
    """All text of *node* byte for byte, without comments."""
    return str(xpath("string()")(node))


def length_of(node: Any) -> int:
    """How many characters of text *node* holds, white space as one."""
    return int(xpath("string-length(normalize-space())")(node))
