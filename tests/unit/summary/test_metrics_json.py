"""metrics.json as the reference writes it: `fara_webeval.md` §7.1, §9.5."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.summary.trajectories.metrics_json import metrics
from pytest_webeval.summary.trajectories.trajectory_rows import TrajectoryRow
from pytest_webeval.summary.trajectories.trajectory_statistics import by_screenshots

ATLAS = "The Pocket Atlas costs 12.50 EUR and is in stock."


def row(task_id, score=None, kind="completed", **fields):
    return TrajectoryRow(task_id=task_id, run="r1", label=task_id, kind=kind, score=score, **fields)


def voyage(task_id, score, answer="yes", reasoning="Verdict: SUCCESS", **fields):
    return row(task_id, score, answer=answer, reasoning=reasoning, benchmark="WebVoyager_tasks.jsonl", **fields)


BOOKS = [
    row("books_find_7", 1, duration=25.5, steps=3, screenshots=4, max_rounds=3, answer=ATLAS, reasoning="Visible."),
    row("books_cart_2", 0, "over_budget", duration=22.0, steps=3, screenshots=4, max_rounds=3, answer="<no_answer>"),
    row("books_hours_5", None, "aborted", duration=31.0, steps=1, screenshots=2, max_rounds=3),
]
CRASHED = row("books_hours_6", None, "aborted", steps=1, screenshots=2, max_rounds=3)


@pytest.mark.parametrize("length", [[], [by_screenshots]])
def test_the_worked_example(length):
    found = metrics(BOOKS, *length)
    assert {name: value for name, value in found.items() if name != "scores"} == {
        "mean_score": 0.5,
        "max_score": 1,
        "num_examples": 2,
        "step_budget_scores": {
            "1": {"mean_score": 0.0, "max_score": 0.0, "num_examples": 2},
            "2": {"mean_score": 0.0, "max_score": 0.0, "num_examples": 2},
            "3": {"mean_score": 0.5, "max_score": 1, "num_examples": 2},
        },
        "average_time": pytest.approx(26.17, abs=0.005),
        "durations": [25.5, 22.0, 31.0],
        "total examples": 3,
        "executed examples": 2,
    }
    assert [json.loads(text) for text in found["scores"]] == [
        {
            "qid": "books_find_7",
            "score": 1,
            "duration": 25.5,
            "stage": 2,
            "reasoning": "Visible.",
            "answer": ATLAS,
            "step_budget_scores": {"1": 0, "2": 0, "3": 1},
        },
        {
            "qid": "books_cart_2",
            "score": 0,
            "duration": 22.0,
            "stage": 2,
            "reasoning": None,
            "answer": "<no_answer>",
            "step_budget_scores": {"1": 0, "2": 0, "3": 0},
        },
    ]


def test_a_missing_duration_does_not_count_as_0():
    found = metrics([*BOOKS, CRASHED])
    assert (found["durations"], found["total examples"], found["executed examples"]) == ([25.5, 22.0, 31.0], 4, 2)
    assert found["average_time"] == pytest.approx(26.17, abs=0.005)


def test_a_run_of_nothing_has_no_means():
    found = metrics([CRASHED])
    names = ("mean_score", "max_score", "num_examples", "average_time", "durations", "scores", "executed examples")
    assert [found[name] for name in names] == [None, None, 0, -1, [], [], 0]
    assert found["step_budget_scores"] == {}


def test_what_ran_but_has_no_verdict_is_executed_and_not_evaluated():
    rows = [
        row("a", 1),
        row("b"),
        row("c", None, "over_budget"),
        row("d", None, "aborted"),
        row("e", None, "unreadable"),
    ]
    found = metrics(rows)
    assert [found[name] for name in ("num_examples", "executed examples", "total examples")] == [1, 3, 5]


def test_a_screenshot_before_the_first_step_is_what_the_reference_reckons_with():
    rows = [row("a", 1, steps=2, screenshots=2, max_rounds=2), row("b", 1, steps=2, max_rounds=2)]
    ours, theirs = metrics(rows), metrics(rows, by_screenshots)
    assert ours["step_budget_scores"]["1"] == {"mean_score": 0.0, "max_score": 0.0, "num_examples": 2}
    assert theirs["step_budget_scores"]["1"] == {"mean_score": 1.0, "max_score": 1, "num_examples": 1}
    assert json.loads(theirs["scores"][1])["step_budget_scores"] == {}


@pytest.mark.parametrize(
    ("named", "table"),
    [
        ("WebVoyager_tasks.jsonl", "accuracy_by_web_name"),
        ("OnlineM2W_tasks.json", "accuracy_by_level"),
        ("WebTailBench_hf", None),
        (None, None),
    ],
)
def test_groups_have_the_name_that_their_benchmark_gives_them(named, table):
    scores = [("hard", 1), ("easy", 0), ("hard", 0), ("easy", None), ("medium", None), (None, 1)]
    found = metrics([row(str(at), score, group=g, benchmark=named) for at, (g, score) in enumerate(scores)])
    per_group = {name: value for name, value in found.items() if name.startswith(("accuracy", "samples"))}
    assert per_group.pop(table, None) == (table and {"easy": [0.0, 1], "hard": [0.5, 2]})
    assert per_group == {"accuracy_easy": 0.0, "samples_easy": 1, "accuracy_hard": 0.5, "samples_hard": 2}
    assert ("num_empty" in found) == (table is not None)


def test_means_without_what_something_else_than_skill_decided():
    found = metrics(
        [
            voyage("a", 1),
            voyage("b", 0),
            voyage("c", 0, answer=""),
            voyage("d", 0, answer=None, reasoning="A CAPTCHA was shown"),
            voyage("e", 1, answer="<no_answer>", reasoning=None),
            voyage("f", 0, reasoning="Error code: 400"),
            voyage("g", 0, reasoning="Error, captcha"),
            voyage("h", 1, reasoning="Error: none"),
            voyage("i", 1, reasoning="An error: none, Errors none"),
            voyage("j", None, answer="", kind="aborted"),
        ]
    )
    assert {name: value for name, value in found.items() if "_no_" in name or name.startswith("num_")} == {
        "num_examples": 9,
        "mean_score_no_empty": pytest.approx(3 / 6),
        "mean_score_no_captcha": pytest.approx(4 / 7),
        "mean_score_no_error": pytest.approx(3 / 6),
        "mean_score_no_empty_no_captcha_no_error": pytest.approx(2 / 3),
        "num_empty": 3,
        "num_captcha": 2,
        "num_error": 3,
        "num_valid_no_empty_no_captcha_no_error": 3,
    }


def test_rephrased_tasks_have_a_consensus():
    rows = [row("a", 1), row("a_rephrased_1", 1), row("a_rephrased_2", 0), row("b", 0), row("b_rephrased_1", None)]
    assert {name: value for name, value in metrics(rows).items() if name.startswith("consensus")} == {
        "consensus_score_at_1": {"score": pytest.approx(1 / 3), "num_examples": 2},
        "consensus_score_at_2": {"score": pytest.approx(1 / 3), "num_examples": 1},
        "consensus_score_at_3": {"score": 0.0, "num_examples": 1},
    }


def test_answers_of_strangers_can_be_written_in_utf_8():
    found = metrics([row("a", 1, answer='\ud800 "é"', reasoning="\x00")])
    json.dumps(found, ensure_ascii=False).encode()
    assert json.loads(found["scores"][0])["answer"] == '\ud800 "é"'
