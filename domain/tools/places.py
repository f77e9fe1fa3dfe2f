"""Paths as tools take them from a model, resolve them and show them."""

import re

from norma.domain.model.actions import Access, PathUse
from norma.ports.errors import Refused, ToolFailed
from norma.ports.files import Resolved, Workspace


def locate(workspace: Workspace, path: str) -> Resolved:
    """
    Where *path* leads. Raises Refused for what leads nowhere: no tool could do anything with it.

    If nothing is there, but is where *path* as `printable` writes it leads, then that is meant.
    """
    try:
        found = workspace.resolve(path)
        return found if found.exists else _printed(workspace, path) or found
    except ValueError as error:
        raise Refused(f"{printable(path)!r} can't be a path: {error}") from error
    except OSError as error:
        raise Refused(f"The path {printable(path)} can't be followed: {reason(error)}") from error


def _printed(workspace: Workspace, path: str) -> Resolved | None:
    """What is at the path that `printable` writes as *path*; None if nothing is."""
    meant = unprinted(path)
    if meant is None:
        return None
    try:
        found = workspace.resolve(meant)
    except (ValueError, OSError):  # so it can't have been printed
        return None
    return found if found.exists else None


def locate_inside(workspace: Workspace, path: str, tool: str) -> Resolved:
    """As `locate`, but raises Refused outside the workspace roots: no permission opens them to a search."""
    found = locate(workspace, path)
    if found.root is None:
        roots = ", ".join(printable(root) for root in workspace.roots)
        given = printable(path)
        real = "" if given == printable(found.path) else f" (it leads to {printable(found.path)})"
        raise Refused(f"{tool} works inside the workspace only ({roots}); {given}{real} is outside of it.")
    return found


def use_of(found: Resolved, access: Access) -> PathUse:
    """The use of a path, as the policy judges it."""
    return PathUse(found.path, access, found.root)


def asked_about(found: Resolved) -> str:
    """The path as a person is shown it before saying yes."""
    return printable(found.path) + ("" if found.root else " (outside the workspace)")


def shown(workspace: Workspace, path: str) -> str:
    """The shortest spelling of *path* that a tool takes back: relative to the first root if it lies there."""
    first = workspace.roots[0]
    if path == first:
        return "."
    prefix = first.rstrip("/") + "/"
    return printable(path.removeprefix(prefix))


def failed(error: OSError, path: str) -> ToolFailed:
    """What went wrong at *path*, in words for the model."""
    match error:
        case FileNotFoundError():
            return ToolFailed(f"{path} does not exist.")
        case IsADirectoryError():
            return ToolFailed(f"{path} is a folder, not a file; LS lists it.")
        case NotADirectoryError():
            return ToolFailed(f"{path}: a part of the path, or its end, is a file and not a folder.")
        case _:
            return ToolFailed(f"{path}: {reason(error)}.")


def reason(error: OSError) -> str:
    """The system's words, without the number and the path."""
    return error.strerror or str(error) or type(error).__name__


def printable(text: str) -> str:
    r"""
    *text* on one line and encodable: `\n` for a line feed, `\xff` for a byte that is no UTF-8.

    Then `\\` is a backslash; where nothing had to be written so, it stays as it is.
    """
    return text if text.isprintable() else "".join(map(_spelled, text))


def unprinted(text: str) -> str | None:
    """What `printable` writes as *text*; None if that is just *text*, or nothing."""
    if "\\" not in text or not text.isprintable():
        return None
    meant = re.sub(_ESCAPE, _meant, text)
    return meant if meant != text == printable(meant) else None


def encodable(text: str) -> str:
    """*text* as UTF-8 can say it: what stands for other bytes becomes the replacement character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text


_ESCAPE = r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|([nrt\\]))"


def _spelled(char: str) -> str:
    if char.isprintable():
        return "\\\\" if char == "\\" else char
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) - 0xDC00:02x}"
    if "\x80" <= char <= "\xff":  # the byte is another thing
        return f"\\u{ord(char):04x}"
    return char.encode("unicode_escape").decode("ascii")


def _meant(escape: re.Match[str]) -> str:
    byte, short, long, letter = escape.groups()
    if letter:
        return {"n": "\n", "r": "\r", "t": "\t"}.get(letter, letter)
    code = int(byte or short or long, 16)
    if byte and code >= 0x80:
        return chr(0xDC00 + code)
    return chr(code) if code < 0x110000 else escape[0]
