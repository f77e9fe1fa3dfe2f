"""The cap on what a tool's result may hold (the last step of rule E4)."""

from norma.domain.model.blocks import ResultBlock, Text

MOST_CHARACTERS = 30_000
"""Of text, over all blocks of a result."""

EMPTY = "(The tool gave no output.)"


def cap(blocks: tuple[ResultBlock, ...], most: int = MOST_CHARACTERS) -> tuple[ResultBlock, ...]:
    """
    *blocks* with at most *most* characters of text; what is too much is taken out of the middle.

    The cut is made between characters, and a note in its place says how much is missing. A
    result without blocks, or of empty text alone, gets a word in place of nothing.
    """
    texts = [block for block in blocks if isinstance(block, Text)]
    size = sum(len(block.text) for block in texts)
    if size == 0 and len(texts) == len(blocks):
        return (Text(EMPTY),)
    if size <= most:
        return blocks
    room, out = most, list[ResultBlock]()
    for block in blocks:
        if isinstance(block, Text):
            short = _middle_out(block.text, room)
            room = max(0, room - len(block.text))
            out.append(Text(short, block.citations))
        else:
            out.append(block)
    return tuple(out)


def _middle_out(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    head = most // 2
    tail = most - head
    note = f"\n[… {len(text) - most} characters left out; ask for a part to see them …]\n"
    return text[:head] + note + (text[-tail:] if tail else "")
