"""Several runs of the same tasks: names, tries, thresholds, copies."""

from __future__ import annotations

import pytest

from pytest_webeval.summary.attempts import build_attempts, name_attempt, reaches
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.result_facts import format_digests, parse_digests
from pytest_webeval.summary.statistics import wilson
from pytest_webeval.summary.summarize import summarize_records

STATUS = {"+": "success", "-": "failure", "!": "error"}


def record(word, **fields):
    """A record of a word such as `a/1+`."""
    told = {"sites": ["s"], "template": -1, "task_type": None, "reason": None, "warnings": [], "wall_time": 0.0}
    told |= {"rules": "default", "version": "1", "evaluator_checksum": "e", "data_checksum": "d"}
    run = word[:-1]
    told |= {"run": run, "task_id": int(run.rpartition("/")[2]), "status": STATUS[word[-1]], "score": 0.0}
    return Record(**(told | fields))


def records(text):
    return [record(word) for word in text.split()]


@pytest.mark.parametrize(
    ("directory", "pattern", "agent", "attempt"),
    [
        ("runs/try-1", None, "", "runs/try-1"),
        ("runs/a/try-1", "try-*", "runs/a", "try-1"),
        ("try-9/runs/try-1/deep", "try-*", "try-9/runs/deep", "try-1"),
        ("runs/a", "try-*", "runs/a", ""),
        ("", "try-*", "", ""),
    ],
)
def test_names_of_agents_and_attempts(directory, pattern, agent, attempt):
    assert name_attempt(directory, pattern) == (agent, attempt)


@pytest.mark.parametrize(
    ("successes", "count", "needed", "tries", "expected"),
    [
        (2, 3, 2, 3, True),
        (1, 3, 2, 3, False),
        (2, 2, 2, 3, True),
        (1, 2, 2, 3, False),
        (4, 6, 2, 3, True),
        (3, 6, 2, 3, False),
        (0, 0, 1, 3, False),
        (2, 4, 1, 2, True),
    ],
)
def test_thresholds_over_fewer_and_more_tries(successes, count, needed, tries, expected):
    assert reaches(successes, count, needed, tries) is expected


def test_tries_are_of_runs_that_count():
    excluded = [record("c/1-", excluded="aborted", skipped=True), record("c/2!", excluded="no verdict", skipped=True)]
    (agent,) = build_attempts([*records("a/1+ b/1- a/2+"), *excluded])["agents"]
    assert (agent["tasks"], agent["runs"], agent["mean"]) == (2, 3, 0.75)
    assert agent["thresholds"] == {"1 of 2": {"tasks": 2, "of": 2}, "2 of 2": {"tasks": 0, "of": 2}}
    assert (agent["flaky"]["count"], agent["flaky"]["of"]) == (1, 1)
    assert [attempt["rated"] for attempt in agent["attempts"]] == [2, 1, 0]
    assert agent["pass@k"]["2"] == {"mean": 1.0, "tasks": 1}
    assert agent["pass^k"]["2"] == {"mean": 0.0, "tasks": 1}


def test_an_error_is_a_try_without_success():
    (agent,) = build_attempts(records("a/1+ b/1! a/2!"))["agents"]
    assert (agent["tasks"], agent["runs"], agent["mean"]) == (2, 3, 0.25)
    assert [attempt["rated"] for attempt in agent["attempts"]] == [2, 1]


def test_at_most_ten_thresholds_are_listed():
    (agent,) = build_attempts(records(" ".join(f"t{n}/1+" for n in range(12))))["agents"]
    assert list(agent["thresholds"]) == [f"{n} of 12" for n in range(1, 11)]


def test_copies_are_runs_of_one_task_with_one_recording():
    same = [record(word, checksums="recording=aa task=bb") for word in ("a/1+", "b/1+", "a/2+")]
    other = [record("c/1+", checksums="recording=cc task=bb"), record("d/1+"), record("e/1+")]
    assert build_attempts([*same, *other])["same_inputs"] == {
        "count": 1,
        "tasks": [{"task_id": "1", "runs": ["a/1", "b/1"]}],
    }


@pytest.mark.parametrize(("text", "has_attempts"), [("a/1+ b/1+", True), ("a/1+ b/2+", False)])
def test_a_summary_has_attempts_if_tasks_repeat(text, has_attempts):
    summary = summarize_records(records(text))
    assert ("attempts" in summary.webeval) is has_attempts
    assert ("run" in summary.per_site_summary["s"][0]) is has_attempts
    assert "attempts" in summarize_records(records("a/1+"), attempts="a").webeval


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("a/1+ b/2+", []),
        ("a/1+ b/1+ c/2+", [["a", "b"]]),
        ("a/1+ b/1+ c/2+ d/2-", [["a", "b"], ["c", "d"]]),
        ("a/1+ a/2+ b/2+ b/3+ c/3-", [["a", "b", "c"]]),
        ("a/1/traj/7+ b/1/traj/7+", [["a/1", "b/1"]]),
    ],
)
def test_directories_are_attempts_only_if_they_share_a_task(text, groups):
    summary = summarize_records(records(text)).webeval
    agents = summary["attempts"]["agents"] if "attempts" in summary else []
    assert [[attempt["attempt"] for attempt in agent["attempts"]] for agent in agents] == groups
    assert sum(attempt["runs"] for agent in agents for attempt in agent["attempts"]) == sum(
        word.startswith(f"{folder}/") for word in text.split() for group in groups for folder in group
    )


def test_each_group_of_directories_counts_its_own_tasks():
    first, second = build_attempts(records("a/1+ b/1- c/2+ c/3+ d/2+ e/9+"))["agents"]
    assert (first["tasks"], first["runs"], first["mean"]) == (1, 2, 0.5)
    assert (second["tasks"], second["runs"], second["mean"]) == (2, 3, 1.0)
    assert first["interval_95"] == list(wilson(0.5, 1))
    assert first["pass@k"]["2"] == {"mean": 1.0, "tasks": 1}


def test_the_same_id_in_two_formats_is_no_repeat():
    apart = [record("a/7+", format="x"), record("b/7-", format="y")]
    summary = summarize_records(apart).webeval
    assert "attempts" not in summary
    assert summary["success_rate_task_count"] == 2
    assert summary["success_rate_interval_95"] == list(wilson(1, 2))
    copies = [record(f"{name}/7+", format=name, checksums="recording=aa") for name in "xy"]
    assert build_attempts(copies, "x*")["same_inputs"] == {"count": 0, "tasks": []}


@pytest.mark.parametrize(
    ("runs", "count"),
    [
        ([record("job/1+"), record("job/x/1-", run="job/1__b"), record("job/2+")], 1),
        ([record("job/1+"), record("job/x/1-", run="job/1__b", skipped=True, excluded="aborted")], 0),
    ],
)
def test_a_directory_alone_is_listed_if_it_repeats_a_task_that_counts(runs, count):
    assert len(build_attempts(runs)["agents"]) == count
    assert ("attempts" in summarize_records(runs).webeval) is bool(count)


def test_the_interval_of_an_attempt_counts_tasks():
    (agent,) = build_attempts([record("job/1+"), record("job/x/1+", run="job/1__b")])["agents"]
    (attempt,) = agent["attempts"]
    assert (attempt["rated"], attempt["success_rate_interval_95"]) == (2, list(wilson(1, 1)))


def test_the_interval_of_repeated_tasks_is_that_of_the_tasks():
    once = summarize_records(records("a/1+ a/2-")).webeval["success_rate_interval_95"]
    twice = summarize_records(records("a/1+ b/1+ a/2- b/2-")).webeval["success_rate_interval_95"]
    assert once == twice


def test_digests_tell_recording_judge_and_task_apart():
    files = {"network.har": "1", "scores/a.json": "2", "rubric.json": "3"}
    digests = parse_digests(format_digests({"inputs": files, "task_checksum": "0123456789abcdef01"}))
    assert digests.keys() == {"recording", "judge", "task"}
    assert digests["task"] == "0123456789abcdef"
    for name, changed in (("network.har", "recording"), ("scores/a.json", "judge"), ("rubric.json", "judge")):
        others = parse_digests(format_digests({"inputs": files | {name: "9"}, "task_checksum": "0123456789abcdef01"}))
        assert [each for each in digests if digests[each] != others[each]] == [changed]
    assert format_digests({}) is None
    assert parse_digests(None) == {}
