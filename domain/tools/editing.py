"""What a file becomes by exact replacements in its text."""

from collections.abc import Sequence

from norma.domain.model.values import frozen
from norma.domain.tools.diff import placeless_diff
from norma.domain.tools.replacing import NotReplaceable, Replacement
from norma.domain.tools.text_file import NotEncodable, TextFile, binary_kind


@frozen
class Editing:
    """The text *before* and *after*, the bytes to write, and in how many places they differ."""

    before: str
    after: str
    data: bytes
    places: int

    @classmethod
    def of(cls, data: bytes, replacements: Sequence[Replacement]) -> "Editing":
        """All of *replacements*, in order, in the file that holds *data*. Raises NotReplaceable."""
        kind = binary_kind(data)
        if kind is not None:
            raise NotReplaceable(f"it is a binary file ({kind}) and can't be edited as text")
        file = TextFile.of(data)
        new, places = file.text, 0
        for number, one in enumerate(replacements, 1):
            exact = Replacement(file.plain(one.old), file.plain(one.new), one.everywhere)
            try:
                if exact.old == exact.new:
                    raise NotReplaceable(
                        "old_string and new_string differ in line ends alone, which are kept"
                    )
                new, count = exact.apply(new)
            except NotReplaceable as error:
                raise NotReplaceable(which(number, replacements) + error.reason, error.hint) from error
            places += count
        try:
            return cls(file.text, new, file.encoded(new), places)
        except NotEncodable as error:
            raise NotReplaceable(str(error)) from error


def which(number: int, replacements: Sequence[Replacement]) -> str:
    """What to put in front of words about one of several."""
    return f"edit {number} of {len(replacements)}: " if len(replacements) > 1 else ""


def edit_shown(data: bytes | None, replacements: Sequence[Replacement], name: str) -> list[str]:
    """What a person sees of the replacements in the file that holds *data*; None: it is not looked at."""
    texts = [one.shown() for one in replacements]
    if data is None:
        return texts
    try:
        editing = Editing.of(data, replacements)
    except NotReplaceable as error:
        return [f"As the file is now, nothing would be changed: {error.reason}.", *texts]
    return [placeless_diff(editing.before, editing.after, name) or f"{name} stays as it was"]
