"""Functions on the way of every recording. `pytest tests/benchmarks --benchmark-enable` times them."""

from __future__ import annotations

import hashlib
import json
from functools import partial

import pytest

from pytest_webeval import load_run, load_sites, load_tasks, score
from pytest_webeval.safety.files import sha256
from pytest_webeval.storage import write_json
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.comparison import Comparison
from pytest_webeval.values.schema import ValueParser
from tests.benchmarks.harness.corpora import Corpus, small
from tests.benchmarks.harness.recordings import Example, example

SIZE = 900_000
RUNS = 1_000


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """One run whose recording has 0.9 MB, and in the end a form that was posted."""
    found = Corpus(tmp_path_factory.mktemp("corpus"), (example(108),), 1, partial(Example.grown, size=SIZE))
    found.write()
    return found


@pytest.fixture
def scored(corpus):
    """Scores the run anew."""
    tasks, sites = load_tasks(corpus.tasks), load_sites(corpus.config)
    return lambda run: score(run, tasks, sites)


def test_reading_a_recording_finds_all_its_entries(timed, corpus):
    entries = json.loads((corpus.runs / "1" / "network.har").read_bytes())["log"]["entries"]
    trace = timed(lambda: load_run(corpus.runs / "1").trace)
    assert [event.url for event in trace.events] == [entry["request"]["url"] for entry in entries]


def test_evaluating_a_recording_that_was_read_finds_the_form(timed, corpus, scored):
    run = load_run(corpus.runs / "1")
    run.check()
    result = timed(scored, run)
    assert result.status == "success"
    assert [one.actual["url"] for one in result.evaluators_results[1:]] == ["__SHOPPING__/cart/add"]


def test_hashing_and_writing_a_result_keeps_its_bytes(timed, corpus, scored, tmp_path):
    content = scored(load_run(corpus.runs / "1")).to_json()
    recording = (corpus.runs / "1" / "network.har").read_bytes()

    def hash_and_write():
        write_json(tmp_path / "eval_result.json", content)
        return sha256(recording)

    assert timed(hash_and_write) == hashlib.sha256(recording).hexdigest()
    assert json.loads((tmp_path / "eval_result.json").read_bytes()) == json.loads(json.dumps(content))


def test_comparing_a_thousand_wrong_items_finds_that_none_matches(timed):
    schema = {"items": {"type": "object", "properties": {"price": {"type": "currency"}}}}

    def read(name):
        items = [{"name": f"{name} {each}", "price": each} for each in range(RUNS)]
        return ValueParser(ParseContext(), strict=True, where="data").array(items, schema)

    comparison = Comparison(maximum_matching=True)
    assert len(timed(comparison.unmatched_items, read("mug"), read("cup"))[0]) == RUNS


def test_collecting_run_directories_finds_each_once(timed, pytester):
    corpus = small(pytester.path, RUNS)
    corpus.write()
    options = (f"--webeval-runs={corpus.runs}", f"--webeval-tasks={corpus.tasks}", "--collect-only", "-q")
    result = timed(pytester.runpytest_inprocess, *options, "-p", "no:hypothesispytest")
    collected = [line for line in result.outlines if line.endswith("::task")]
    assert sorted(collected) == sorted(f"{corpus.directory.name}/runs/{number}::task" for number in range(1, RUNS + 1))
