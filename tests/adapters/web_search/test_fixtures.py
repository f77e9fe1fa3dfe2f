"""Every recorded answer of the four backends, and what becomes of it (W2 to W5)."""

import json
from pathlib import Path
from typing import Any

import pytest

from norma.adapters.web_search import brave, deepseek, duckduckgo, tavily
from norma.adapters.web_search.asking import Said
from norma.ports.web_search import SearchAnswer
from tests.rigs.fixtures import fixture_folder


def said(folder: Path, name: str) -> Said:
    """The answer in a file: JSON tells status, headers and body; a page or a stream is a body alone."""
    path = folder / name
    if path.suffix != ".json":
        status = next((int(part) for part in path.stem.split("_") if part.isdigit()), 200)
        return Said(status, {"content-type": "text/html"}, path.read_bytes())
    told: dict[str, Any] = json.loads(path.read_text("utf-8"))
    body = told["body_text"].encode() if "body_text" in told else json.dumps(told["body"]).encode()
    headers = {name.lower(): value for name, value in told.get("headers", {}).items()}
    return Said(told["status"], {"content-type": "application/json", **headers}, body)


def streamed(data: bytes, limit: int = 5) -> SearchAnswer:
    reader = deepseek.HitReader(limit)
    reader.feed(data)
    return reader.answer()


@pytest.fixture
def ddg(pytestconfig: pytest.Config) -> Path:
    return fixture_folder(pytestconfig, "ddg")


@pytest.fixture
def recorded(pytestconfig: pytest.Config) -> Path:
    return fixture_folder(pytestconfig, "search")


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("results_normal.html", "results"),
        ("results_ads.html", "results"),
        ("direct_links.html", "results"),
        ("anomaly_200.html", "blocked"),
        ("no_results.html", "empty"),
        ("layout_changed.html", "layout"),
        ("empty_body.html", "error"),
    ],
)
def test_W2_each_page_has_its_outcome(ddg: Path, name: str, outcome: str) -> None:
    answer = duckduckgo.read(said(ddg, name), 20)
    assert answer.outcome == outcome
    assert bool(answer.results) == (outcome == "results")
    assert outcome in ("results", "empty") or answer.notes


def test_W2_links_are_unwrapped_once_and_titles_are_plain(ddg: Path) -> None:
    hits = duckduckgo.read(said(ddg, "results_normal.html"), 20).results
    assert hits[0].url == "https://docs.example.com/guide?x=1&y=2"
    assert hits[0].title == "Guide & reference"
    assert hits[0].snippet == "How to start the agent."
    assert hits[1].title == "한글 문서"
    assert hits[1].url == "https://ko.example.kr/한글/문서"
    assert hits[2].title == "C++ <vector>"
    assert hits[2].url == "https://example.org/c++?q=a+b#part"


def test_W2_advertisements_and_script_links_are_left_out(ddg: Path) -> None:
    ads = duckduckgo.read(said(ddg, "results_ads.html"), 20)
    assert len(ads.results) == 2
    assert not [hit for hit in ads.results if "duckduckgo" in hit.url or "ads.example" in hit.url]
    direct = duckduckgo.read(said(ddg, "direct_links.html"), 20)
    assert [hit.url for hit in direct.results[:3]] == [
        "https://plain.example/one",
        "https://relative.example/two",
        "http://third.example/",
    ]
    assert all(hit.url.startswith("http") for hit in direct.results)


def test_W2_a_result_without_a_snippet_takes_no_other_ones() -> None:
    page = (
        '<div class="result"><a class="result__a" href="https://a.example/">A</a></div>'
        '<div class="result"><a class="result__a" href="https://b.example/">B</a>'
        '<a class="result__snippet">of B</a></div>'
    )
    first, second = duckduckgo.read(Said(200, {}, page.encode()), 5).results
    assert (first.snippet, second.snippet) == ("", "of B")


@pytest.mark.parametrize("status", [202, 403, 418, 429])
def test_W2_statuses_that_block(status: int) -> None:
    answer = duckduckgo.read(Said(status, {"retry-after": "30"}, b"<p>wait"), 5)
    assert (answer.outcome, answer.retry_after_s) == ("blocked", 30)


@pytest.mark.parametrize("status", [301, 400, 500, 503])
def test_W2_other_statuses_are_errors(status: int) -> None:
    assert duckduckgo.read(Said(status, {}, b""), 5).outcome == "error"


def test_W3_rate_and_quota_are_told_apart(recorded: Path) -> None:
    rate = brave.read(said(recorded, "brave_429_rate.json"), 5)
    assert (rate.outcome, rate.retry_after_s) == ("blocked", 1)
    quota = brave.read(said(recorded, "brave_429_quota.json"), 5)
    assert (quota.outcome, quota.retry_after_s) == ("quota", None)


@pytest.mark.parametrize(
    ("name", "outcome"),
    [("brave_null_web.json", "empty"), ("brave_no_web.json", "empty"), ("brave_422.json", "auth")],
)
def test_W3_shapes(recorded: Path, name: str, outcome: str) -> None:
    assert brave.read(said(recorded, name), 5).outcome == outcome


def test_W3_markup_and_entities_are_undone(recorded: Path) -> None:
    hits = brave.read(said(recorded, "brave_ok_markup.json"), 5).results
    assert [hit.url for hit in hits] == [
        "https://example.com/a",
        "https://example.com/b",
        "https://example.com/c",
    ]
    assert hits[0].title == "Café & bar"
    assert hits[0].snippet == "The best one 'here' is 3 < 4."
    assert hits[1].snippet == ""


@pytest.mark.parametrize("body", [b'{"web": []}', b'{"web": {"results": {}}}', b"[]", b'"x"', b"1"])
def test_W1_a_changed_shape_is_layout_and_never_empty(body: bytes) -> None:
    assert brave.read(Said(200, {}, body), 5).outcome == "layout"
    assert tavily.read(Said(200, {}, body), 5).outcome == "layout"


@pytest.mark.parametrize(
    ("name", "outcome", "words"),
    [
        ("tavily_432.json", "quota", "set usage limit"),
        ("tavily_433.json", "quota", "pay-as-you-go"),
        ("tavily_401_string.json", "auth", "Unauthorized"),
        ("tavily_422_list.json", "error", "too big"),
    ],
)
def test_W4_details_of_every_shape_are_read(recorded: Path, name: str, outcome: str, words: str) -> None:
    answer = tavily.read(said(recorded, name), 5)
    assert answer.outcome == outcome
    assert words in answer.notes[0]


def test_W4_nulls_are_empty_snippets(recorded: Path) -> None:
    hits = tavily.read(said(recorded, "tavily_ok_nulls.json"), 5).results
    assert [(hit.title, hit.snippet) for hit in hits] == [("A", ""), ("B", "text")]


def test_W1_html_in_place_of_json_is_an_error_that_says_so(recorded: Path) -> None:
    for read in (brave.read, tavily.read):
        answer = read(said(recorded, "html_instead_of_json.json"), 5)
        assert answer.outcome == "error"
        assert "text/html" in answer.notes[0]
        assert "Sign in to the hotel network" in answer.notes[0]
        assert "<" not in answer.notes[0]
        assert read(Said(200, {}, b""), 5).outcome == "error"


@pytest.mark.parametrize(
    ("name", "outcome", "urls"),
    [
        ("deepseek_ok_citations.sse", "results", ["https://example.com/a", "https://example.com/b"]),
        ("deepseek_error_then_hits.sse", "results", ["https://example.com/a"]),
        ("deepseek_tool_error.sse", "error", []),
        ("deepseek_stream_error.sse", "error", []),
        ("deepseek_no_search.sse", "error", []),
        ("deepseek_cut.sse", "error", ["https://example.com/a"]),
    ],
)
def test_W5_each_stream_has_its_outcome_however_it_is_cut(
    recorded: Path, name: str, outcome: str, urls: list[str]
) -> None:
    data = (recorded / name).read_bytes()
    whole = streamed(data)
    assert whole.outcome == outcome
    assert [hit.url for hit in whole.results] == urls
    assert name == "deepseek_ok_citations.sse" or whole.notes
    for size in (1, 7, 100):
        reader = deepseek.HitReader(5)
        for start in range(0, len(data), size):
            reader.feed(data[start : start + size])
        assert reader.answer() == whole


def test_W5_what_was_cited_is_the_snippet_of_its_hit(recorded: Path) -> None:
    first, second = streamed((recorded / "deepseek_ok_citations.sse").read_bytes()).results
    assert (first.title, first.snippet) == ("A", "")
    assert second.snippet == "Norma is a program that runs tools."


def test_W5_no_search_is_named(recorded: Path) -> None:
    assert "no search was made" in streamed((recorded / "deepseek_no_search.sse").read_bytes()).notes[0]


def test_W5_every_cut_of_a_stream_is_an_error_and_no_empty_answer(recorded: Path) -> None:
    data = (recorded / "deepseek_ok_citations.sse").read_bytes()
    end = data.index(b"event: message_stop")
    assert {streamed(data[:cut]).outcome for cut in range(0, end, 13)} == {"error"}


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://h", "https://h/v1/messages"),
        ("https://h/", "https://h/v1/messages"),
        ("https://h/anthropic/v1", "https://h/anthropic/v1/messages"),
        ("https://h/v1/messages", "https://h/v1/messages"),
        ("https://h/x/v1/messages/?a=b", "https://h/x/v1/messages?a=b"),
    ],
)
def test_W5_the_endpoint_is_never_doubled(base: str, url: str) -> None:
    assert deepseek.endpoint_of(base) == url


@pytest.mark.parametrize(("limit", "uses"), [(1, 1), (5, 1), (10, 1), (11, 2), (20, 2), (99, 2)])
def test_W5_the_request_asks_for_the_server_tool(limit: int, uses: int) -> None:
    body = deepseek.request_of("x", limit, "m")
    assert body["tools"] == [{"type": "web_search_20250305", "name": "web_search", "max_uses": uses}]
    assert body["stream"] is True
