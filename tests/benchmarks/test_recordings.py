"""Recordings that were made larger or smaller keep what decides, and are what a browser might have recorded."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import partial

import pytest

from pytest_webeval import find_runs, load_sites, load_tasks, score
from tests.benchmarks.harness.corpora import FAILING, Corpus, mixed, repeated, small
from tests.benchmarks.harness.recordings import Example, encoded, example, examples
from tests.benchmarks.harness.variants import failing

SIZE = 900_000
STATIC = {"stylesheet", "script", "image", "font"}


def entries_of(recording):
    return json.loads(recording)["log"]["entries"]


def statuses(corpus):
    """The status that each run gets from us."""
    tasks, sites = load_tasks(str(corpus.tasks)), load_sites(corpus.config)
    return {str(run.task_id): score(run, tasks, sites).status.value for run in find_runs(corpus.runs)}


def test_examples_are_successes_and_failures_of_every_site():
    found = Counter((one.verdict, *one.task["sites"]) for one in examples())
    assert {verdict for verdict, *_ in found} == {"success", "failure"}
    assert {site for _, site in found} == {"shopping", "shopping_admin", "gitlab"}


def test_a_grown_recording_has_the_size_that_is_asked_for_and_ends_with_its_own_entries():
    one = example(108)
    recording = one.grown(1, SIZE)
    own = one.log["entries"]
    assert 0.99 * SIZE < len(recording) <= SIZE
    assert entries_of(recording)[-len(own) :] == own


@pytest.mark.whole
@pytest.mark.parametrize(
    ("size", "least", "most", "bodies"),
    [(SIZE, 100, 200, (0.4, 0.7)), (20_000_000, 1_000, 1_500, (0.7, 0.9))],
)
def test_grown_recordings_look_like_those_of_a_browser(size, least, most, bodies):
    entries = entries_of(example(301).grown(1, size))
    kinds = Counter(entry["_resourceType"] for entry in entries)
    texts = sum(len(encoded(entry["response"]["content"].get("text", ""))) for entry in entries)
    urls = [entry["request"]["url"] for entry in entries]
    assert least <= len(entries) <= most
    assert 0.55 < sum(kinds[kind] for kind in STATIC) / len(entries) < 0.75
    assert bodies[0] < texts / size < bodies[1]
    assert kinds["document"] > 5
    assert kinds["xhr"] > 10
    assert {entry["request"]["method"] for entry in entries} == {"GET", "POST"}
    assert {entry["response"]["status"] for entry in entries} >= {200, 302, 304}
    assert len(set(urls)) > 0.8 * len(urls)


def test_a_recording_grows_in_the_same_way_each_time():
    assert example(101).grown(1, SIZE) == example(101).grown(1, SIZE)
    assert example(101).grown(1, SIZE) != example(104).grown(1, SIZE)
    assert example(101).grown(1, SIZE) != example(101).grown(2, SIZE)


@pytest.mark.parametrize("trace", ["network.har", "trace.zip"])
def test_mixed_runs_differ_and_get_the_verdicts_of_their_examples(tmp_path, trace):
    corpus = mixed(tmp_path, 30, 120_000, trace)
    corpus.write()
    assert statuses(corpus) == corpus.verdicts
    assert Counter(corpus.verdicts.values()) == {"success": 24, "failure": 6}
    recordings = {path.read_bytes() for path in corpus.runs.glob(f"*/{trace}")}
    assert len(recordings) == 30
    formats = {item.get("format") for one in corpus.of for item in schemas(one.task)}
    assert formats >= {"distance", "date", "duration", "url"}
    assert any("$." in json.dumps(one.task) for one in corpus.of)


def schemas(task):
    return [one["results_schema"].get("items", {}) for one in task["eval"] if "results_schema" in one]


def test_the_same_recordings_pass_and_fail(tmp_path):
    corpora = [repeated(tmp_path, one, 3, 120_000) for one in failing()]
    for corpus in corpora:
        corpus.write()
        assert statuses(corpus) == corpus.verdicts
    assert [set(corpus.verdicts.values()) for corpus in corpora] == [{"success"}, {"failure"}]
    one, other = ({path.read_bytes() for path in corpus.runs.glob("*/network.har")} for corpus in corpora)
    assert one == other
    assert len(one) == 3


def test_small_runs_have_files_of_their_own_and_the_verdicts_of_their_examples(tmp_path):
    corpus = small(tmp_path, 7, FAILING)
    corpus.write()
    assert statuses(corpus) == corpus.verdicts
    assert [corpus.verdicts[str(number)] for number in range(1, 8)].count("failure") == 2
    recordings = list(corpus.runs.glob("*/network.har"))
    assert len(recordings) == 7
    assert {path.lstat().st_nlink for path in recordings} == {1}
    assert all(len(entries_of(path.read_bytes())) <= 2 for path in recordings)


def test_the_reference_is_given_links_and_812_definitions(tmp_path):
    corpus = small(tmp_path, 3)
    corpus.write()
    corpus.link()
    (corpus.linked / "1" / "eval_result.json").write_text("{}")
    (corpus.linked / "eval_log.txt").write_text("")
    corpus.link()
    assert sorted(path.name for path in corpus.linked.iterdir()) == ["1", "2", "3"]
    assert sorted(path.name for path in (corpus.linked / "1").iterdir()) == ["agent_response.json", "network.har"]
    assert (corpus.linked / "1" / "network.har").resolve() == corpus.runs / "1" / "network.har"
    data_set = json.loads((corpus.directory / "data_set.json").read_bytes())
    assert [task["task_id"] for task in data_set] == list(range(1, 813))
    assert json.loads(corpus.tasks.read_bytes()) == data_set[:3]
    assert json.loads(corpus.config.read_bytes())["test_data_file"] == str(corpus.directory / "data_set.json")


def test_a_corpus_is_written_once(tmp_path):
    corpus = Corpus(tmp_path, (example(101),), 1, Example.cut)
    corpus.write()
    replace(corpus, record=partial(Example.grown, size=SIZE)).write()
    assert len((corpus.runs / "1" / "network.har").read_bytes()) < 10_000
