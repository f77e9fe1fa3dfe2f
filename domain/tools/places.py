"""Paths as tools take them from a model, resolve them and show them."""

from norma.domain.model.actions import Access, PathUse
from norma.ports.errors import Refused, ToolFailed
from norma.ports.files import Resolved, Workspace


def locate(workspace: Workspace, path: str) -> Resolved:
    """Where *path* leads. Raises Refused for what leads nowhere: no tool could do anything with it."""
    try:
        return workspace.resolve(path)
    except ValueError as error:
        raise Refused(f"{printable(path)!r} can't be a path: {error}") from error
    except OSError as error:
        raise Refused(f"The path {printable(path)} can't be followed: {reason(error)}") from error


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
    r"""*text* on one line and encodable: `\n` for a line feed, `\xff` for a byte that is no UTF-8."""
    return text if text.isprintable() else "".join(map(_spelled, text))


def encodable(text: str) -> str:
    """*text* as UTF-8 can say it: what stands for other bytes becomes the replacement character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text


def _spelled(char: str) -> str:
    if char.isprintable():
        return char
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) - 0xDC00:02x}"
    return char.encode("unicode_escape").decode("ascii")
