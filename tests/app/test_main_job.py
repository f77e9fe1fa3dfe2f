"""The main job, end to end: `norma ask` with nothing configured, the real embedded model, real tools."""

import asyncio
import os
import re
import shutil
from pathlib import Path

import pytest

from norma.adapters.embedded.fetch import default_cache, fetch_model
from tests.rigs.command import Bench

ROOT = Path(__file__).parents[2]
QUESTION = "Where is the turn machine defined and what does it do?"
BOUND_S = 200
"""Loading and running a model takes its time on a busy machine."""


@pytest.fixture(scope="module")
def weights() -> str:
    """The folder with the real weights; a failure if they can't be had."""
    cache = default_cache(os.environ)
    asyncio.run(fetch_model(cache, progress=print))
    return str(Path(cache).parents[1])


@pytest.fixture
def project(bench: Bench, weights: str) -> Bench:
    """A workspace with a part of this repository, and a cache that holds the weights."""
    shutil.copytree(ROOT / "domain", bench.workspace / "domain")
    shutil.copy(ROOT / "README.md", bench.workspace)
    bench.environ["XDG_CACHE_HOME"] = weights
    return bench


@pytest.mark.timeout(240)
def test_it_searches_and_reads_through_tools_and_answers_with_the_model(project: Bench) -> None:
    done = project.run("ask", "--json", QUESTION, bound_s=BOUND_S)
    assert done.status == 0, done
    kinds = [line["type"] for line in done.lines]
    started = [line["name"] for line in done.lines if line["type"] == "tool_started"]
    ended = [line for line in done.lines if line["type"] == "tool_ended"]
    assert started.count("Grep") >= 1
    assert started.count("Read") >= 1
    assert len(ended) == len(started)
    assert not any(line["is_error"] for line in ended)
    assert kinds.count("text_delta") > 5, "the text streams"
    last = done.last
    assert last["outcome"] == "completed"
    quoted, added = last["text"].split("**The embedded model adds:**")
    assert "domain/engine/turn.py" in quoted
    assert "step(state, fact) -> (state, commands)" in quoted
    assert len(added.split()) >= 3, "the model process wrote something"
    assert last["usage"]["provenance"] == "reported"
    assert last["usage"]["output_tokens"] > 0
    listed = project.run("sessions", "--json").last["items"]
    assert [(item["id"], item["turns"], item["outcome"]) for item in listed] == [
        (last["session"], 1, "completed")
    ]


@pytest.mark.timeout(240)
def test_a_person_sees_which_model_what_it_is_good_for_and_how_quick_it_was(project: Bench) -> None:
    done = project.run("ask", QUESTION, bound_s=BOUND_S)
    assert done.status == 0, done
    assert "SmolLM2-135M, embedded" in done.err
    assert "name a model in norma.toml" in done.err
    assert "Grep(" in done.err
    assert "Read(" in done.err
    assert re.search(r"\d+\.\d tokens/s", done.err)
    assert "The best places:" in done.out
    assert "Grep(" not in done.out, "stdout is the answer alone"
