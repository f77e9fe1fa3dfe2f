"""What a file becomes if a whole new text takes the place of what is there."""

from attrs import evolve

from norma.domain.model.values import frozen
from norma.domain.tools.diff import placeless_diff, unified_diff
from norma.domain.tools.encodings import UTF8, spoken
from norma.domain.tools.limits import counted
from norma.domain.tools.text_file import CR, CR_LF, LF, NotEncodable, TextFile, binary_kind


@frozen
class Rewriting:
    """
    *data* is what to write: in the form of the old file where that can say it, and *note* tells so.

    *before* and *after* are the texts to compare: with the line ends that differ, without those that are
    kept. *before* is None if the old file is no text, or not known as a whole.
    """

    data: bytes
    before: str | None
    after: str
    note: str = ""

    @classmethod
    def of(cls, old: bytes | None, content: str, *, cut: bool = False) -> "Rewriting":
        """*content* in place of *old* (None: there is no file); *cut*: that goes on behind it."""
        if not old:
            return cls(content.encode(), "", content)
        if binary_kind(old):
            return cls(content.encode(), None, content)
        form = TextFile.of(old, cut=cut)
        if form.mark:
            content = content.removeprefix("\ufeff")  # which the form puts in front itself
        if form.end == CR:  # of one line, perhaps: nobody means a new text to be in this form
            form = evolve(form, text=form.raw, end=LF)
        after = form.plain(content)
        try:
            data, before, note = form.encoded(after), form.text, _kept(form)
        except NotEncodable as error:
            data, before, note = content.encode(), form.raw, f"now in UTF-8: {error}"
            after = content
        return cls(data, None if cut else before, after, note)

    def difference(self, name: str) -> str | None:
        """For an event; None if there is nothing to compare with."""
        if self.before is None:
            return None
        return unified_diff(self.before, self.after, name) or f"{name} stays as it was"


def _kept(form: TextFile) -> str:
    kept = [spoken(form.encoding)] if form.encoding != UTF8 else ["the mark in front"] if form.mark else []
    kept += ["CR LF"] if form.end == CR_LF else []
    return f"keeping {' and '.join(kept)}" if kept else ""


def write_shown(old: bytes | None, content: str, name: str, *, exists: bool) -> list[str]:
    """
    What a person sees of *content* in place of *old*, or of what *exists* and is not looked at (None).

    Against text the difference; else all of it.
    """
    if old is None:
        return ["the whole file becomes:" if exists else "a new file:", content]
    rewriting = Rewriting.of(old, content)
    if rewriting.before is None:
        return [f"in place of {counted(len(old), 'byte')} of a binary file ({binary_kind(old)}):", content]
    difference = placeless_diff(rewriting.before, rewriting.after, name) or f"{name} stays as it was"
    return [*([f"({rewriting.note})"] if rewriting.note else []), difference]
