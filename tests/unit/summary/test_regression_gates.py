"""What the two gates on a baseline say of made-up sessions."""

from __future__ import annotations

import itertools
import random

import pytest

from pytest_webeval.summary.comparison.gate_checks import (
    Regression,
    check_beyond_noise,
    check_each_task,
    explain_powerless,
    find_regressed,
    fisher_exact,
)
from pytest_webeval.summary.comparison.paired_statistics import LEVEL, count_needed_changes, mcnemar_exact
from pytest_webeval.summary.comparison.session_comparison import SessionComparison
from pytest_webeval.summary.scored_session import ScoredRun, ScoredSession

STATUSES = {"s": "success", "f": "failure", "p": "partial_match", "e": "error", "x": "excluded"}


def session(tasks):
    """One run for each letter of each task; `-` is no run."""
    runs = [
        ScoredRun(run=f"runs/try-{number}/{task_id}", task_id=task_id, status=STATUSES[letter])
        for task_id, letters in enumerate(tasks)
        for number, letter in enumerate(letters)
        if letter != "-"
    ]
    return ScoredSession("session", runs)


def compare(before, after):
    return SessionComparison(session(before), session(after))


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("s", "s", None),
        ("s", "f", Regression.FAILED),
        ("s", "p", Regression.FAILED),
        ("s", "e", Regression.ERRED),
        ("s", "x", Regression.LOST),
        ("s", "-", Regression.LOST),
        ("f", "-", None),
        ("f", "e", None),
        ("e", "f", None),
        ("x", "f", None),
        # attempts: all succeeded
        ("sss", "sss", None),
        ("sss", "ssf", Regression.FAILED),
        ("sss", "sse", Regression.ERRED),
        ("sss", "ss", Regression.LOST),
        ("sss", "ssx", Regression.LOST),
        ("ss", "sss", None),
        ("ss", "ssf", Regression.FAILED),
        # attempts: some succeeded
        ("ssf", "sff", None),
        ("ssf", "fff", None),
        ("ssf", "sse", Regression.ERRED),
        ("sse", "ffe", None),
        ("ssf", "ss-", Regression.LOST),
        ("ssf", "---", Regression.LOST),
        ("ssf", "xxx", Regression.LOST),
        ("sssssssf", "ssssssff", None),
        ("sssssssf", "ffffffff", Regression.FAILED),
        ("sssssssf", "eeeeeeee", Regression.ERRED),
        ("ssssssse", "eeeeeeee", Regression.FAILED),
        ("sssssfff", "ffffffff", Regression.FAILED),  # p = 0.013
        ("ssssffff", "ffffffff", Regression.FAILED),  # p = 0.038
        ("sssfffff", "ffffffff", None),  # p = 0.1
        ("sfff", "ssss", None),
    ],
)
def test_a_task_that_succeeded_regressed(before, after, kind):
    assert list(find_regressed(compare([before], [after])).values()) == ([] if kind is None else [kind])


def test_the_same_id_in_two_formats_is_two_tasks():
    before, after = (
        ScoredSession(name, [run_of(7, "x", status), run_of(7, "y", "success")])
        for name, status in (("before", "success"), ("after", "failure"))
    )
    assert list(find_regressed(SessionComparison(before, after)).values()) == [Regression.FAILED]
    assert check_each_task(SessionComparison(before, after))[1] is False


def run_of(task_id, name, status):
    return ScoredRun(run=f"{name}/{task_id}", task_id=task_id, status=status, format=name)


@pytest.mark.libraries
def test_the_test_of_a_share_agrees_with_scipy():
    from scipy import stats

    generator = random.Random(5)
    for _ in range(300):
        runs, runs_now = generator.randint(1, 20), generator.randint(1, 20)
        successes, successes_now = generator.randint(0, runs), generator.randint(0, runs_now)
        table = [[successes_now, runs_now - successes_now], [successes, runs - successes]]
        expected = stats.fisher_exact(table, alternative="less").pvalue
        assert fisher_exact(successes, runs, successes_now, runs_now) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ("ss", "ss", "0 of 2 tasks that succeeded regressed"),
        ("ssf", "fss", "1 of 2 tasks that succeeded regressed; 1 failed: 0"),
        ("ssss", "fe-s", "3 of 4 tasks that succeeded regressed; 1 failed: 0; 1 error: 1; 1 no verdict: 2"),
        ("ff", "ss", "no task succeeded in the baseline, so none can regress; use another baseline"),
    ],
)
def test_each_task(before, after, text):
    found, passed = check_each_task(compare(before, after))
    assert (found, passed) == (text, text.startswith("0 of"))


NOISE, WORSE = "can be noise", "more than noise"


@pytest.mark.parametrize(
    ("before", "after", "texts"),
    [
        ("s" * 6, "s" * 6, ("0 regressed, 0 fixed of 6 tasks", NOISE, "fails from 6 more regressions on")),
        (
            "s" * 30,
            "f" * 5 + "s" * 25,
            ("-16.7% (95% interval", "to +0.0%), p = 0.062", NOISE, "from 1 more regression on"),
        ),
        ("s" * 30, "f" * 6 + "s" * 24, ("6 regressed, 0 fixed of 30 tasks: difference -20.0%", "p = 0.031", WORSE)),
        ("s" * 7 + "f" * 20, "s" * 27, ("20 fixed", NOISE, "cannot fail against so many fixes, even if all 7 others")),
        ("s" * 100, "e" + "s" * 99, ("1 error: 0: never noise",)),
        ("s" * 100, "-x" + "s" * 98, ("2 no verdict: 0, 1: never noise",)),
        ("s" * 5 + "f" * 95, "s" * 5 + "f" * 95, ("this gate cannot fail: 5 common tasks succeeded in the baseline",)),
        (["ss"] * 10, ["ssf"] * 10, ("no test: some tasks have more or fewer judged runs than before",)),
    ],
)
def test_beyond_noise(before, after, texts):
    found, passed = check_beyond_noise(compare(before, after))
    assert [text for text in texts if text not in found] == [], found
    assert passed is (NOISE in texts)


@pytest.mark.parametrize("successes", range(12))
def test_the_paired_test_cannot_fail_over_few_tasks(successes):
    if successes >= 6:
        assert explain_powerless(successes) is None
    else:
        text = "common task succeeded" if successes == 1 else "common tasks succeeded"
        assert explain_powerless(successes) == f"{successes} {text} in the baseline, 6 regressions needed"


def test_as_many_more_regressions_as_it_says_turn_the_gate_red():
    for regressed, fixed in itertools.product(range(6), range(4)):
        before = "s" * 40 + "f" * 10
        failed = count_needed_changes(fixed)
        for count, passed in ((failed - 1, True), (failed, False)):
            assert check_beyond_noise(change(before, count, fixed))[1] is passed
        found, _ = check_beyond_noise(change(before, regressed, fixed))
        assert f"fails from {failed - regressed} more regression" in found


def change(before, regressed, fixed):
    after = "f" * regressed + before[regressed : len(before) - fixed] + "s" * fixed
    return compare(before, after)


def test_interval_and_verdict_agree():
    for size, worse, better in itertools.product((16, 50), range(9), range(9)):
        for both in (0, (size - worse - better) // 2):
            neither = size - worse - better - both
            before = "s" * (both + worse) + "f" * (better + neither)
            after = "s" * both + "f" * worse + "s" * better + "f" * neither
            low, high = compare(before, after).overall.interval
            assert (low <= 0 <= high) == (mcnemar_exact(worse, better) > LEVEL), (size, worse, better, both)
