"""The ignore files of the file search, for tools that walk themselves."""

from os import fsencode

from norma.adapters.grep.worker.rules import Rules
from norma.ports.files import IgnoreList, IgnoreRules

MARK = b"\xef\xbb\xbf"


class GitIgnore(IgnoreRules):
    """The same rules by which the built-in search leaves files out."""

    def read(self, data: bytes) -> IgnoreList:
        return _Lines(Rules(data.removeprefix(MARK).decode("utf-8", "surrogateescape").split("\n")))


class _Lines(IgnoreList):
    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def names(self, path: str, *, is_folder: bool) -> bool | None:
        raw = fsencode(path)
        return self._rules.ignores(raw, raw.rpartition(b"/")[2], is_folder)
