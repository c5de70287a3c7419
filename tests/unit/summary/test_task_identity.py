"""Runs of one task: the id, the format and the benchmark decide, as far as they are known."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.recordings.run import placeholder_run
from pytest_webeval.results import TaskResult
from pytest_webeval.rules import DEFAULT
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.scored_session import ScoredRun
from pytest_webeval.summary.task_identity import TaskCounter, TaskKeys, count_tasks, describe_sample
from tests.support.stored_results import result


def runs(text):
    """Runs of words such as `7:stagehand:shop`: an id, a format and a benchmark, which may be empty."""
    words = [[*word.split(":"), "", ""][:3] for word in text.split()]
    return [
        ScoredRun(run=str(number), task_id=task_id, status="success", format=name or None, benchmark=benchmark or None)
        for number, (task_id, name, benchmark) in enumerate(words)
    ]


def group(runs, keys):
    """The positions of the runs of each task."""
    groups = {}
    for position, run in enumerate(runs):
        groups.setdefault(keys.find(run), []).append(position)
    return list(groups.values())


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("7 7 8", [[0, 1], [2]]),
        ("7:a 7:a 8:a", [[0, 1], [2]]),
        ("7:a 7:b", [[0], [1]]),
        ("7:a 7 7:a", [[0, 1, 2]]),
        ("7:a 7 7:b", [[0], [1], [2]]),
        ("7:a:shop 7:a:forum", [[0], [1]]),
        ("7:a:shop 7:a 7", [[0, 1, 2]]),
        ("7:a:shop 7:a 7:a:forum", [[0], [1], [2]]),
        ("7:a:shop 7:b:shop", [[0], [1]]),
        ("7:a:shop 7:a:forum 8:a:shop 8:a", [[0], [1], [2, 3]]),
        ("7::shop 7::forum", [[0], [1]]),
    ],
)
def test_an_id_in_another_format_or_benchmark_is_another_task(text, groups):
    listed = runs(text)
    assert group(listed, TaskKeys(listed)) == groups
    assert count_tasks(listed) == len(groups)


@pytest.mark.parametrize(
    ("before", "after", "is_same"),
    [
        ("7:a", "7:a", True),
        ("7:a", "7:b", True),  # the same tasks by another recorder
        ("7:a:shop", "7:a:forum", True),
        ("7", "7:a", True),
        ("7:a 7:b", "7:a", True),
        ("7:a", "7:b 7:a", False),
        ("7:a", "7:a 7:b", True),
    ],
)
def test_sessions_of_two_recorders_share_ids_that_are_clear_in_each(before, after, is_same):
    first, second = runs(before), runs(after)
    keys = TaskKeys(first, second)
    assert (keys.find(first[0]) == keys.find(second[0])) is is_same


def test_a_format_that_is_no_text_is_unknown():
    listed = [ScoredRun(run="a", task_id=7, status="success", format=["x"], benchmark={}), *runs("7:b:shop")]
    assert count_tasks(listed) == 1


def test_an_id_may_be_a_number_or_a_text():
    number, text = ScoredRun(run="a", task_id=7, status="success"), ScoredRun(run="b", task_id="7", status="success")
    assert count_tasks([number, text]) == 1


@pytest.mark.parametrize(
    ("tasks", "runs", "text"),
    [(0, 0, ""), (2, 2, ""), (1, 2, ", Wilson over 1 task"), (25, 46, ", Wilson over 25 tasks")],
)
def test_a_sample_is_named_if_tasks_repeat(tasks, runs, text):
    assert describe_sample(tasks, runs) == text


@pytest.mark.parametrize(
    ("stored", "expected"),
    [("stagehand", "stagehand"), (placeholder_run(Path(), "", DEFAULT).format, None), ("", None), ([7], None)],
)
def test_a_record_has_the_format_if_it_is_known(stored, expected):
    raw = result(7, "r/7", webeval={"format": stored})
    assert Record.of(TaskResult.read(raw), None).format == expected


@pytest.mark.parametrize(("stored", "expected"), [("om2w", "om2w"), (None, None), ({"a": 1}, None)])
def test_a_record_has_the_benchmark_if_it_is_a_text(stored, expected):
    raw = result(7, "r/7", webeval={"trajectory": {"benchmark": stored}})
    assert Record.of(TaskResult.read(raw), None).benchmark == expected


ids = st.one_of(st.integers(-3, 3), st.integers(-3, 3).map(str), st.sampled_from(["01", "-0", "a"]))
kinds = st.sampled_from([None, "", "a", "b"])


@given(
    st.lists(
        st.builds(ScoredRun, run=st.just(""), task_id=ids, status=st.just("success"), format=kinds, benchmark=kinds)
    )
)
def test_tasks_are_counted_one_run_at_a_time_as_all_together(listed):
    counter = TaskCounter()
    for run in sorted(listed, key=lambda run: (str(type(run.task_id)), run.task_id)):
        counter.add(run)

    assert (counter.tasks, counter.runs) == (count_tasks(listed), len(listed))
