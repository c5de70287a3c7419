"""`score` leaves the files that a session of pytest leaves, and ends with its exit code."""

from __future__ import annotations

import io
import json
import shutil
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from pytest_webeval.__main__ import main
from tests.support.both_ways import list_differences, run_both

pytestmark = pytest.mark.whole  # compares drivers of one engine, of which each has tests of its own

PROJECT = Path(__file__).parents[2]
SUITE = PROJECT / "example_suite"
IGNORED = shutil.ignore_patterns("eval_*.json", "__pycache__", "*.py")
CONFIG = "--webeval-config=config.json"
TASKS = "--webeval-tasks=runs/tasks.json"
EVERYWHERE = ("--webeval-output=out", "--webeval-report=report")
TREES = {
    "runs": SUITE / "runs",
    "trajectories": SUITE / "trajectories",
    "unjudged": SUITE / "unjudged",
    "recorded": PROJECT / "tests/recorded",
}
JUDGED = {"task_id": "books_find_7", "evaluation_details": {"response": "Status: success"}}
FILES = {
    "few.json": {"task_ids": [101, 102, 205, 999]},
    "none.json": {"task_ids": [7]},
    "on_auto_eval_results.json": JUDGED,
    "off_auto_eval_results.json": JUDGED | {"task_id": "nothing"},
    "labels.json": [{"task_id": "books_find_7", "Ours_human_label": "1"}],
}
# Roots and options. The first few are tried by default, for each takes a second or two.
SESSIONS = {
    "in place": (["runs"], [CONFIG, "--webeval-attempts=r*"]),
    "a subset": (
        ["runs"],
        [CONFIG, "--webeval-subset=few.json", "--webeval-require-all", "--webeval-gate=complete", *EVERYWHERE],
    ),
    "no run of the subset": (["runs"], [CONFIG, "--webeval-subset=none.json", "--webeval-gate=errors <= 2"]),
    "verdicts": (
        ["trajectories/runs"],
        ["--webeval-aborted=fail", "--webeval-verdicts=on_auto_eval_results.json", "--webeval-gate=success >= 10%"],
    ),
}
MORE_SESSIONS = {
    "several roots": (["runs", "unjudged", "trajectories/runs"], [CONFIG, *EVERYWHERE, "--webeval-metrics=metrics"]),
    "files": (
        ["runs"],
        [
            *(CONFIG, *EVERYWHERE, "--webeval-gitlab-metrics=metrics.txt", "--webeval-write-subset=subset.json"),
            *("--webeval-baseline=baseline.json", "--webeval-baseline-update"),
        ],
    ),
    "verdicts on no run": (["trajectories/runs"], ["--webeval-verdicts=off_auto_eval_results.json"]),
    "all formats": (["recorded"], [TASKS, *EVERYWHERE, "--webeval-fsync"]),
    "all formats in place": (["recorded"], [TASKS, "--webeval-require-all"]),
    "a run as root": (["runs/101", "recorded/atif"], [TASKS, CONFIG]),
    "nothing recorded": (["empty"], [TASKS, "--webeval-require-all", "--webeval-report=report"]),
    "no run": (["empty"], []),
    "no run for a gate": (["empty"], ["--webeval-gate=errors <= 2"]),
    "rules strict": (["runs"], [CONFIG, "--webeval-rules=strict", "--webeval-own-tasks"]),
    "rules reference": (["runs"], [CONFIG, "--webeval-rules=reference", "--webeval-today=2026-01-02"]),
    "redact strict": (["runs", "trajectories/runs"], [CONFIG, "--webeval-redact=strict", *EVERYWHERE]),
    "redact off": (["runs", "trajectories/runs"], [CONFIG, "--webeval-redact=off", *EVERYWHERE]),
    "some evaluators": (["runs", "recorded"], [CONFIG, TASKS, "--webeval-evaluators=response", *EVERYWHERE]),
    "criteria": (
        ["trajectories/runs"],
        ["--webeval-criterion=process", "--webeval-rubric-threshold=0.9", "--webeval-over-budget=zero"],
    ),
    "labels": (["trajectories/runs"], ["--webeval-labels=labels.json", "--webeval-label-coding=osu"]),
    "expected failures": (
        ["trajectories/runs"],
        ["--webeval-aborted=xfail", "--webeval-tasks=trajectories/tasks.tsv", "--webeval-require-all"],
    ),
    "gates that decide": (["runs"], [CONFIG, "--webeval-gate=success >= 10%"]),
    "a gate that fails": (["runs"], [CONFIG, "--webeval-gate=success >= 90%"]),
    "images": (["trajectories/runs"], ["--webeval-report=report", "--webeval-report-embed=1MB"]),
}
TABLE = [
    *(pytest.param(*session, id=name) for name, session in SESSIONS.items()),
    *(pytest.param(*session, id=name, marks=pytest.mark.whole) for name, session in MORE_SESSIONS.items()),
]


@pytest.fixture
def place(pytester):
    """The directory of a session, with all that options name."""
    for name, content in FILES.items():
        (pytester.path / name).write_text(json.dumps(content))
    shutil.copy(SUITE / "config.json", pytester.path)
    (pytester.path / "pytest.ini").write_text("[pytest]\n")
    (pytester.path / "empty").mkdir()
    return pytester.path


def add_trees(place, roots, options):
    for name in {*(root.partition("/")[0] for root in roots), *(["runs"] if TASKS in options else [])} & TREES.keys():
        shutil.copytree(TREES[name], place / name, ignore=IGNORED)


@pytest.fixture
def score():
    """Runs the command in this process. Gives its exit code, and what it wrote."""

    def run(roots, *options):
        output = io.StringIO()
        with redirect_stdout(output), redirect_stderr(output):
            code = main(["score", *roots, "--executor=process:2", "--batch=5", *options])
        return code, output.getvalue()

    return run


@pytest.fixture
def both(place, pytester, score, webeval_over):
    """The sessions of pytest and of `score` with the same roots and options."""

    def run(roots, options, of_pytest=(), of_score=()):
        def test():
            result = webeval_over(roots, *options, *of_pytest)
            return int(result.ret), "\n".join([*result.outlines, *result.errlines])

        return run_both(place, test, lambda: score(roots, *options, *of_score))

    return run


@pytest.mark.parametrize(("roots", "options"), TABLE)
def test_both_leave_the_same(place, both, roots, options):
    add_trees(place, roots, options)
    expected, actual = both(roots, options)
    assert list_differences(expected, actual) == []


@pytest.mark.whole
def test_known_failures_and_the_history_are_the_same(place, both, score):
    add_trees(place, ["runs"], [])
    score(["runs"], CONFIG, "--output=before", "--baseline=known.json", "--baseline-update")
    baseline = ("--webeval-baseline=known.json", "--webeval-known-failures", "--webeval-gate=no-regression")
    expected, actual = both(["runs"], [CONFIG, *baseline, *EVERYWHERE, "--webeval-history=before"])
    assert list_differences(expected, actual) == []


OWN = """
import pytest_webeval as webeval

class PageBudget(webeval.Evaluator):
    name = "PageBudgetEvaluator"

    def evaluate(self, expectation, case):
        pages, most = sum(event.is_navigation for event in case.run.trace.events), expectation.config["max_pages"]
        return self.result([webeval.Assertion.of("page_budget", pages <= most, f"at most {most}", f"got {pages}")])
"""
SLOW = """
import os, signal, sys, time
import pytest_webeval as webeval

class PageBudget(webeval.Evaluator):
    name = "PageBudgetEvaluator"

    def evaluate(self, expectation, case):
        if case.run.task_id == 105:
            {do}
        return self.result([])
"""
FIXTURE = """
import pytest
from own import PageBudget

@pytest.fixture
def webeval_evaluators(webeval_evaluators):
    return [*webeval_evaluators, PageBudget()]
"""
FUNCTION = """
from own import PageBudget

def webeval_evaluators(ours):
    return [*ours, PageBudget()]
"""


@pytest.mark.parametrize("module", [pytest.param("budget", marks=pytest.mark.whole), "budget.py"])
def test_evaluators_of_a_module_are_those_of_a_fixture(place, both, monkeypatch, module):
    add_trees(place, ["runs"], [])
    (place / "own.py").write_text(OWN)
    (place / "conftest.py").write_text(FIXTURE)
    (place / "budget.py").write_text(FUNCTION)
    monkeypatch.syspath_prepend(place)
    expected, actual = both(["runs"], [CONFIG, "--webeval-output=out"], of_score=[f"--evaluators-from={module}"])
    assert list_differences(expected, actual) == []
    assert '"PageBudgetEvaluator"' in actual.files["out/105/eval_result.json"]


def test_a_run_that_takes_too_long_is_the_same_error(place, both, monkeypatch):
    monkeypatch.syspath_prepend(place)
    add_trees(place, ["runs"], [])
    (place / "own.py").write_text(SLOW.format(do="time.sleep(60)"))
    (place / "conftest.py").write_text(FIXTURE)
    (place / "budget.py").write_text(FUNCTION)
    options = [CONFIG, "--webeval-output=out", "--webeval-timeout=1"]
    expected, actual = both(["runs"], options, of_score=["--evaluators-from=budget.py"])
    assert list_differences(expected, actual) == []
    assert "timed out after 1 s" in actual.files["out/105/eval_result.json"]


def test_a_run_that_kills_its_process_is_an_error_and_the_others_are_the_same(place, both, monkeypatch):
    monkeypatch.syspath_prepend(place)
    add_trees(place, ["runs"], [])
    deadly = "'pytest' in sys.modules or os.kill(os.getpid(), signal.SIGKILL)"  # where no pytest runs
    (place / "own.py").write_text(SLOW.format(do=deadly))
    (place / "conftest.py").write_text(FIXTURE)
    (place / "budget.py").write_text(FUNCTION)
    options = [CONFIG, "--webeval-output=out", "--webeval-gate=complete"]
    expected, actual = both(["runs"], options, of_score=["--evaluators-from=budget.py"])
    names = {difference.partition(":")[0] for difference in list_differences(expected, actual)}
    assert names == {
        "exit code 0 -> 1",
        "out/105/eval_result.json",
        "out/eval_summary.json",
        "out/eval_journal.jsonl",
        "terminal",
    }
    assert "died 2 times (signal 9)" in actual.files["out/105/eval_result.json"]


def test_options_that_pytest_has_in_its_ini_file_are_options(place, both):
    add_trees(place, ["runs"], [])
    (place / "pytest.ini").write_text("[pytest]\nwebeval_limits =\n  entries = 9\n  file_size = 1 MiB\n")
    limits = ["--limits=entries = 9", "--limits=file_size = 1 MiB"]
    expected, actual = both(["runs"], [CONFIG, "--webeval-output=out"], of_score=limits)
    assert list_differences(expected, actual) == []
    assert "the limit is 9" in actual.files["out/101/eval_result.json"]
