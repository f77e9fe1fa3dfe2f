"""Pages of many kinds and scripts: what a reader came for is kept (F3)."""

import json
from pathlib import Path

import pytest

from norma.adapters.web_fetch.html import Reading
from norma.adapters.web_fetch.reading import Body, reading_of
from tests.rigs.pages import wanted

LEAST_RECALL = 0.99
LEAST_PRECISION = 0.77


def read(folder: Path, url: str) -> Reading:
    body = Body((folder / "source.html").read_bytes(), "text/html", url)
    return reading_of(body, extract=False, reader="whole", stop=lambda: None)


@pytest.fixture
def corpus(web_pages: Path) -> list[Path]:
    folders = sorted(path for path in (web_pages / "corpus").iterdir() if (path / "source.html").is_file())
    assert len(folders) >= 30
    return folders


def test_F3_text_headings_links_tables_lists_and_code_are_kept(corpus: list[Path]) -> None:
    lost = []
    for folder in corpus:
        facts = json.loads((folder / "expected.json").read_text("utf-8"))
        text = read(folder, facts["url"]).markdown
        lost += [(folder.name, part) for part in facts["holds"] if part not in text]
    assert lost == []


def test_F3_recall_is_whole_and_what_is_around_a_page_is_mostly_left_out(corpus: list[Path]) -> None:
    precisions = []
    for folder in corpus:
        kept = wanted(folder).kept_in(read(folder, f"https://site.example/{folder.name}").markdown)
        assert kept.recall >= LEAST_RECALL, folder.name
        precisions.append(kept.precision)
    assert sum(precisions) / len(precisions) >= LEAST_PRECISION
