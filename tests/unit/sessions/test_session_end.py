"""What follows from the end of a session: its files, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from pytest_webeval.sessions import session_end
from pytest_webeval.sessions.session import FAILED, MISUSED, NO_RUNS, PASSED
from pytest_webeval.sessions.session_end import SessionEnd
from tests.support.made_records import make_records
from tests.support.made_session import open_session

SUMMARY = "out/eval_summary.json"


@pytest.fixture
def session_of(tmp_path, monkeypatch):
    """A session with some options, over as many runs, of which each has come back."""
    monkeypatch.chdir(tmp_path)
    opened = []

    def build(count, *options):
        session = open_session(tmp_path, "--output=out", *options)
        opened.append(session)
        session.collected.run_count = count
        for record in make_records(count):
            session.records.keep(record)
        return session

    yield build
    for session in opened:
        session.records.close()


@pytest.mark.parametrize("code", [PASSED, FAILED, NO_RUNS])
def test_a_session_without_problems_keeps_its_exit_code(session_of, code):
    end = SessionEnd(session_of(3))
    assert end.close(end.sum_up(code)) == code
    assert end.places == [Path.cwd() / SUMMARY]


def test_a_file_that_cannot_be_written_fails_the_session_and_keeps_it_from_no_other_file(session_of, tmp_path):
    (tmp_path / SUMMARY).mkdir(parents=True)
    end = SessionEnd(session_of(3, "--gitlab-metrics=numbers.txt"))
    assert end.sum_up(PASSED) == FAILED
    assert "webeval" in (tmp_path / "numbers.txt").read_text()
    assert any("eval_summary.json" in problem for problem in end.session.problems)


def test_metrics_of_some_of_the_runs_are_noted_and_fail_nothing(session_of, tmp_path):
    session = session_of(3, "--metrics=metrics")
    session.collected.is_chosen = True
    assert SessionEnd(session).sum_up(PASSED) == PASSED
    assert session.problems == ["metrics.json not written: the session is partial; score all runs to get it"]
    assert not (tmp_path / "metrics").exists()


def test_who_gets_the_summary_may_have_a_problem_with_it(session_of, tmp_path):
    session, seen = session_of(3), []
    session.problems.append("another one")
    end = SessionEnd(session)
    assert end.sum_up(PASSED, lambda summary: seen.append(summary) or "a hook raised") == FAILED
    assert session.problems == ["a hook raised", "another one"]
    assert seen == [end.summary]
    assert (tmp_path / SUMMARY).exists()


@pytest.mark.parametrize("name", ["contradicted", "recorded"])
def test_a_failure_that_a_python_test_recorded_fails_a_session_whose_tests_have_passed(session_of, name):
    session = session_of(3)
    getattr(session, name).append("runs/1")
    assert SessionEnd(session).sum_up(PASSED) == FAILED


def test_a_shard_may_have_no_run(session_of):
    assert SessionEnd(session_of(0, "--shard=1/2")).sum_up(NO_RUNS) == PASSED


@pytest.mark.parametrize(
    ("code", "expected", "notes"),
    [
        (NO_RUNS, NO_RUNS, ["gates not evaluated: no run was scored"]),
        (PASSED, FAILED, ["gates not evaluated: no run was scored"]),
        (MISUSED, MISUSED, []),
    ],
)
def test_gates_of_a_session_without_runs_are_not_passed(session_of, code, expected, notes):
    end = SessionEnd(session_of(0, "--gate=complete"))
    assert (end.sum_up(code), end.session.checks.notes) == (expected, notes)
    assert end.summary is None


def test_gates_excuse_verdicts_and_nothing_else(session_of):
    session = session_of(3, "--gate=success >= 0%")
    assert SessionEnd(session).sum_up(FAILED) == PASSED
    session.has_other_failure = True
    assert SessionEnd(session).sum_up(FAILED) == FAILED


def test_a_summary_says_what_was_not_scored_and_why(session_of, tmp_path):
    session = session_of(3)
    session.unscored, session.stopped = ["runs/7"], "KeyboardInterrupt"
    end = SessionEnd(session)
    assert end.close(end.sum_up(PASSED)) == PASSED
    facts = json.loads((tmp_path / "out/eval_summary.partial.json").read_bytes())["webeval"]
    assert (facts["unscored"], facts["stopped"], facts["partial"]) == (["runs/7"], "KeyboardInterrupt", True)


@pytest.mark.parametrize(
    ("changes", "code", "is_kept"),
    [
        ({}, PASSED, False),
        ({"unscored": ["runs/7"]}, PASSED, True),
        ({"problems": ["a worker sent nonsense"]}, PASSED, True),
        ({"no_room": {"out/eval_summary.json": "No space left on device"}}, FAILED, True),
    ],
)
def test_another_session_goes_on_with_what_is_not_complete(session_of, changes, code, is_kept):
    session = session_of(3)
    session.full_disk.add(changes.get("no_room", {}))
    session.unscored, session.problems = changes.get("unscored", []), changes.get("problems", [])
    end = SessionEnd(session)
    assert end.close(end.sum_up(PASSED)) == code
    assert session.records.is_kept == is_kept


def test_commands_that_score_runs_again_name_the_first_of_very_many(session_of, monkeypatch):
    monkeypatch.setattr(session_end, "MOST_KNOWN", 10)
    session = session_of(0)
    failed = next(record for record in make_records(100) if record.status == "failure")
    for number in range(450):
        session.records.keep(replace(failed, run=f"runs/{number}", task_id=number))
    session.collected.run_count = 450
    end = SessionEnd(session)
    end.sum_up(FAILED)
    command = next(line for line in end.describe() if "pytest " in line)
    assert command.split()[:3] == ["pytest", "runs/0::task", "runs/1::task"]
