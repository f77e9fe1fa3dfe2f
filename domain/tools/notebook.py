"""Jupyter notebooks as a model reads them: cells and what they printed, without the JSON around them."""

import json
from collections.abc import Iterator
from typing import Any

ENDING = ".ipynb"
LARGEST = 4 << 20
"""Bytes that are parsed; of a larger one the JSON itself is shown."""
NOTE = "a notebook, shown by its cells; Edit and Write change the JSON behind it, which Bash can show"


def notebook_text(data: bytes) -> str | None:
    """The cells of a notebook as lines; None if *data* is none."""
    if len(data) > LARGEST:
        return None
    try:
        notebook = json.loads(data)
    except (ValueError, RecursionError):
        return None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        return None
    return "\n".join(line for number, cell in enumerate(cells, 1) for line in _cell(number, cell))


def _cell(number: int, cell: dict[str, Any]) -> Iterator[str]:
    yield f"[cell {number}: {cell.get('cell_type', 'unknown')}]"
    yield from _lines(cell.get("source"))
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if isinstance(output, dict):
            yield "[output]"
            yield from _output(output)


def _output(output: dict[str, Any]) -> Iterator[str]:
    if "text" in output:
        yield from _lines(output["text"])
    elif "ename" in output:
        yield f"{output['ename']}: {output.get('evalue', '')}"
    data = output.get("data")
    for kind, value in data.items() if isinstance(data, dict) else ():
        if kind == "text/plain":
            yield from _lines(value)
        else:
            yield f"[{kind}, not shown]"


def _lines(text: object) -> list[str]:
    """A text of a notebook: a string, or its lines."""
    joined = "".join(map(str, text)) if isinstance(text, list) else text if isinstance(text, str) else ""
    return joined.removesuffix("\n").split("\n") if joined else []
