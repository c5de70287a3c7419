"""The analysis of a session's trajectories: `fara_webeval.md` §4.4, §4.5, §7.2, §7.3."""

from __future__ import annotations

import json
from math import inf, nan, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.summary.trajectories.trajectory_analysis import analyse
from pytest_webeval.summary.trajectories.trajectory_rows import TrajectoryRow
from pytest_webeval.summary.trajectories.trajectory_statistics import default_budgets


def row(task_id, score=None, kind="completed", run="r1", **fields):
    return TrajectoryRow(task_id=task_id, run=run, label=f"{run}/{task_id}", kind=kind, score=score, **fields)


SHARES = (5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 100)
MIXED = [
    row("a", 1, status="success", steps=3, reasons=["empty_answer"], flags=["threshold_edge"]),
    row("b", 0, status="failure", steps=5, flags=["threshold_edge", "threshold_edge", "misaligned"]),
    row("c", 0, "over_budget", status="failure", steps=10, reasons=["no_answer", "below_budget"]),
    row("d", None, "aborted", status="excluded", steps=1, reasons=["flagged"]),
    row("e", None, "unreadable", status="error", reasons=["log_missing"]),
    row("f", None, status="error", steps=4, verdict_status="judge_error"),
    row("g", None, status="not_scored", steps=0),
]


def test_everything_is_counted_and_only_what_has_a_score_is_averaged():
    found = analyse(MIXED, expected=["a", "b", "d", "h", "i", "j", "k", "l"])
    assert found["trajectories"] == 7
    assert found["classes"] == {"completed": 4, "over_budget": 1, "aborted": 1, "unreadable": 1}
    assert found["statuses"] == {"success": 1, "failure": 2, "error": 2, "excluded": 1, "not_scored": 1}
    reasons = ["below_budget", "empty_answer", "flagged", "log_missing", "no_answer"]
    assert list(found["reasons"].items()) == [(reason, 1) for reason in reasons]
    assert found["flags"] == {"misaligned": 1, "threshold_edge": 2}
    assert (found["mean_scored"], found["mean_scored_denominator"]) == (pytest.approx(1 / 3), 3)
    assert found["mean_scored_interval_95"] == pytest.approx([0.06149, 0.79234], abs=1e-4)
    assert (found["mean_completed"], found["mean_completed_denominator"]) == (0.5, 2)
    assert found["coverage"] == {"expected": 8, "scored": 2, "share": 0.25}
    assert found["runs"] == []


def test_nothing_gives_the_same_keys_with_zeros_and_nulls():
    nothing = analyse([])
    assert list(nothing) == list(analyse(MIXED))
    names = ("trajectories", "mean_scored", "mean_scored_denominator", "mean_scored_interval_95", "both_rate")
    assert [nothing[name] for name in names] == [0, None, 0, None, None]
    assert nothing["coverage"] == {"expected": None, "scored": 0, "share": None}
    assert analyse([], expected=[])["coverage"]["share"] is None
    assert nothing["steps"]["all"] == {"count": 0, "mean": None, "std": None, "min": None, "median": None, "max": None}


def test_scores_between_0_and_1_have_no_interval_of_a_rate():
    found = analyse([row("a", 1), row("b", 0.5)])
    assert (found["mean_scored"], found["mean_scored_interval_95"]) == (0.75, None)


@pytest.mark.parametrize("damaged", [nan, inf, -inf, 10**400, 10**19, "1", None, [1]])
def test_a_number_that_no_run_can_have_counts_as_missing(damaged):
    found = analyse([row("a", 1, duration=damaged, steps=damaged, prompt_tokens=damaged, max_rounds=damaged)])
    assert [found["durations"]["count"], found["steps"]["all"]["count"], found["tokens"]["count"]] == [0, 0, 0]
    assert found["step_budget_scores"] == {}
    assert analyse([row("a", damaged)])["mean_scored_denominator"] == 0


SIGNALS = ("process_mean", "outcome_rate", "safe_outcome_rate", "both_rate")


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([], [(None, 0)] * 4),
        ([(0.9, True, True, False), (0.5, False, True, True)], [(0.7, 2), (1.0, 2), (0.5, 2), (0.5, 2)]),
        # A failure needs no second signal, yet counting it would make a rate of failures only.
        ([(0.9, True, True, None), (0.9, True, False, None)], [(0.9, 2), (0.5, 2), (None, 0), (0.5, 2)]),
        ([(None, None, True, False), (0.0, False, None, True)], [(0.0, 1), (1.0, 1), (1.0, 1), (None, 0)]),
    ],
)
def test_each_signal_is_averaged_where_it_is_known(verdicts, expected):
    names = ("process_share", "process", "outcome", "violation")
    rows = [row(str(number), 1, **dict(zip(names, verdict, strict=True))) for number, verdict in enumerate(verdicts)]
    found = analyse(rows)
    assert [(found[name], found[f"{name}_denominator"]) for name in SIGNALS] == expected


def test_signals_of_a_run_without_a_score_do_not_count():
    rows = [row("a", None, "aborted", process_share=1.0, process=True, outcome=True, violation=False)]
    assert [analyse(rows)[f"{name}_denominator"] for name in SIGNALS] == [0, 0, 0, 0]


def test_groups_and_benchmarks_have_means_of_their_own_which_the_total_need_not_follow():
    def runs(name, easy, hard):
        scores = [("easy", score) for score in easy] + [("hard", score) for score in hard]
        return [row(f"{group}{at}", score, group=group, benchmark=name) for at, (group, score) in enumerate(scores)]

    one, other = analyse(runs("x", [1], [0, 0, 1])), analyse(runs("y", [1, 1, 0], [0]))
    assert one["per_group"] == {"easy": {"mean": 1.0, "n": 1}, "hard": {"mean": pytest.approx(1 / 3), "n": 3}}
    assert other["per_group"] == {"easy": {"mean": pytest.approx(2 / 3), "n": 3}, "hard": {"mean": 0.0, "n": 1}}
    assert one["mean_scored"] == other["mean_scored"] == 0.5
    both = analyse(runs("y", [1, 1, 0], [0]) + runs("x", [1], [None, None]) + [row("z", 1)])
    assert list(both["per_benchmark"].items()) == [("x", {"mean": 1.0, "n": 1}), ("y", {"mean": 0.5, "n": 4})]
    assert analyse(runs("x", [], [None]))["per_group"] == {"hard": {"mean": None, "n": 0}}


def test_steps_are_summarised_for_each_class():
    steps = analyse(MIXED)["steps"]
    assert [found["count"] for found in steps.values()] == [6, 4, 1, 1, 0]
    assert list(steps) == ["all", "completed", "over_budget", "aborted", "unreadable"]
    expected = {"count": 4, "mean": 3.0, "std": sqrt(14 / 3), "min": 0, "median": 3.5, "max": 5}
    assert steps["completed"] == pytest.approx(expected)


def test_what_is_unknown_is_left_out_of_durations_tokens_and_attempts():
    found = analyse(
        [
            row("a", duration=25.5, prompt_tokens=9100, completion_tokens=240, attempts=1),
            row("b", duration=22.0, prompt_tokens=0, completion_tokens=0, attempts=3),
            row("c", kind="aborted", duration=31.0, prompt_tokens=900, completion_tokens=0, attempts=2),
            row("d", prompt_tokens=0, completion_tokens=1),
            row("e", completion_tokens=7),
        ]
    )
    assert (found["durations"]["count"], found["durations"]["mean"]) == (3, pytest.approx(26.1667, abs=1e-4))
    assert found["durations"]["std"] == pytest.approx(4.5369, abs=1e-4)
    assert found["tokens"] == {
        "count": 3,
        "prompt": {"total": 10000, "mean": pytest.approx(10000 / 3), "std": pytest.approx(5014.3128)},
        "completion": {"total": 241, "mean": pytest.approx(241 / 3), "std": pytest.approx(138.2763)},
        "total": {"total": 10241, "mean": pytest.approx(10241 / 3), "std": pytest.approx(5152.0016)},
    }
    assert [found["attempts"][name] for name in ("count", "mean", "max", "total", "retried")] == [3, 2.0, 3, 6, 2]
    assert (found["abort_rate"], found["abort_rate_denominator"]) == (0.2, 5)


def test_doubtful_verdicts_are_counted_apart():
    found = analyse(
        [
            row("a", verdict_status="judge_error"),
            row("b", 0, verdict_status="undecided"),
            row("c", 0, flags=["undecided"]),
            row("d", 1, degraded=True, verdict_status="judged"),
            row("e", is_inconsistent=True),
            row("f", is_inconsistent=True, is_long=True),
        ]
    )
    names = ("judge_errors", "undecided", "degraded", "inconsistent", "long_sessions")
    assert [found[name] for name in names] == [1, 2, 1, 2, 1]


def test_every_row_is_in_a_class_of_verdicts_whether_it_has_a_score_or_not():
    statuses = ["judged", "judged", "gate", "score_unreadable", "inconsistent", None]
    found = analyse([row(str(at), verdict_status=status) for at, status in enumerate(statuses)])
    expected = {"gate": 1, "inconsistent": 1, "judged": 2, "none": 1, "score_unreadable": 1}
    assert list(found["verdicts"].items()) == list(expected.items())


def test_criteria_are_counted_where_there_is_a_score():
    rows = [row("a", 1, criterion="outcome"), row("b", 0, criterion="both"), row("c", 0, criterion="outcome")]
    rows += [row("d", None, criterion="process"), row("e", 1)]
    assert list(analyse(rows)["criteria"].items()) == [("both", 1), ("outcome", 2)]


def test_experiments_have_means_of_their_own_if_they_have_a_name():
    rows = [row("a", 1, experiment="y"), row("b", 0, experiment="y"), row("c", 1), row("d", None, experiment="x")]
    found = analyse(rows)["per_experiment"]
    assert list(found.items()) == [("x", {"mean": None, "n": 0}), ("y", {"mean": 0.5, "n": 2})]


@pytest.mark.parametrize(
    ("max_rounds", "budgets"),
    [
        ([], []),
        ([None, 0], []),
        ([1], [1]),
        ([3, None, 3], [1, 2, 3]),
        ([20], [1, 2, 4, 5, 6, 8, 10, 12, 14, 15, 16, 18, 20]),
        ([3, 100], [1, 2, 3, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 100]),
        (
            [*range(100, 200, 10)],
            sorted({-(-most * percent // 100) for most in range(120, 200, 10) for percent in SHARES}),
        ),
        ([10**18], [10**16 * percent for percent in SHARES]),
    ],
)
def test_budgets_are_shares_of_the_rounds_rounded_up_exactly(max_rounds, budgets):
    assert default_budgets([row(str(at), max_rounds=rounds) for at, rounds in enumerate(max_rounds)]) == budgets


def test_a_score_counts_within_the_budget_that_the_steps_keep():
    rows = [row("a", 1, steps=2, max_rounds=3), row("b", 0.5, steps=3), row("c", 0, steps=1), row("d", steps=1)]
    assert analyse([*rows, row("e", 1)])["step_budget_scores"] == {
        "1": {"mean_score": 0.0, "max_score": 0.0, "num_examples": 3},
        "2": {"mean_score": pytest.approx(1 / 3), "max_score": 1, "num_examples": 3},
        "3": {"mean_score": 0.5, "max_score": 1, "num_examples": 3},
    }


def test_last_errors_come_by_frequency_with_a_few_examples():
    rows = [row(f"c{at}", last_error="Captcha timed out") for at in range(4)]
    rows += [row("a", last_error="B"), row("z", last_error="A" * 500), row("b", last_error=""), row("d")]
    assert analyse(rows)["last_errors"] == [
        {"type": "Captcha timed out", "count": 4, "share": 0.5, "examples": ["r1/c0", "r1/c1", "r1/c2"]},
        {"type": "A" * 80, "count": 1, "share": 0.125, "examples": ["r1/z"]},
        {"type": "B", "count": 1, "share": 0.125, "examples": ["r1/a"]},
    ]


def test_points_of_failure_are_counted_by_the_generation_of_the_verdict():
    failed = {"has_failure": True, "first_step": 4, "codes": ["6.4", "2.1", "6.4"], "is_ambiguous": False}
    vague = {"is_ambiguous": True, "ambiguity_codes": ["7.1"], "is_invalid": True, "invalid_codes": ["8.1", "8.3"]}
    rows = [
        row("a", 0, failure=failed, generation="G2"),
        row("b", 0, failure=failed | {"first_step": 7, "codes": ["6.4"]}, generation="G1"),
        row("c", 0, failure=failed | {"first_step": None, "codes": ["1.5"]} | vague),
        row("d", 1, failure=vague | {"has_failure": False, "codes": ["1.1"], "first_step": 1}, generation="G2"),
        row("e", 1),
    ]
    assert analyse(rows)["failure_points"] == {
        "analysed": 4,
        "has_failure": 3,
        "first_step_median": 5.5,
        "codes": {"G1": {"6.4": 1}, "G2": {"2.1": 1, "6.4": 1}, "unknown": {"1.5": 1}},
        "ambiguous": 2,
        "ambiguity_codes": {"7.1": 2},
        "invalid": 2,
        "invalid_codes": {"8.1": 2, "8.3": 2},
    }


@pytest.mark.parametrize("odd", [None, "6.1", nan, {"6.1": 1}, [None, 1, ["6.1"]], [[]]])
def test_what_a_judge_wrote_in_place_of_codes_and_steps_is_passed_over(odd):
    failure = {"has_failure": True, "codes": odd, "first_step": odd, "is_invalid": odd}
    found = analyse([row("a", 0, failure=failure)])["failure_points"]
    assert (found["has_failure"], found["first_step_median"], found["invalid"]) == (1, None, 0)
    assert found["codes"] == {"unknown": {}}


ROWS = st.builds(
    row,
    st.sampled_from(["a", "b", "a_rephrased_1", "c"]),
    st.sampled_from([0, 1, 0.3, None]),
    st.sampled_from(["completed", "over_budget", "aborted", "unreadable"]),
    st.sampled_from(["r1", "r2", "r3"]),
    experiment=st.sampled_from(["x", "y"]),
    status=st.sampled_from(["success", "failure"]),
    flags=st.lists(st.sampled_from(["f", "g"])),
    group=st.sampled_from([None, "easy", "hard"]),
    steps=st.none() | st.integers(0, 9),
    max_rounds=st.sampled_from([None, 5, 9]),
    duration=st.none() | st.floats(0, 1e4),
    outcome=st.sampled_from([None, True, False]),
    last_error=st.sampled_from([None, "timeout", "crash"]),
)


@given(st.lists(ROWS, max_size=12, unique_by=lambda one: one.label), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_has_no_effect_and_the_result_is_plain_json(rows, random):
    found = json.dumps(analyse(rows, ["a", "b"]), allow_nan=False)
    assert json.dumps(analyse(random.sample(rows, len(rows)), ["b", "a"]), allow_nan=False) == found


def test_steps_that_no_agent_could_take_count_once_a_trajectory():
    rows = [row("a", tool_failures=["6.1", "6.1", "6.2"]), row("b", tool_failures=["6.2"]), row("c")]
    assert analyse(rows)["tool_failures"] == {"6.1": 1, "6.2": 2}
