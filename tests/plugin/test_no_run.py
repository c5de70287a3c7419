"""Tests that ask for a run where there is none: one line says what to do."""

from __future__ import annotations

import pytest

NO_RUN = (
    "no recorded run for this test: only plain test functions run once per recorded run; request webeval_run as an "
    "argument of a test function, not in a unittest.TestCase or through request.getfixturevalue()"
)


def shown(result, title):
    """The lines between the title of a test and what comes next."""
    lines = result.outlines
    first = next(index for index, line in enumerate(lines) if line.strip("_ ") == title) + 1
    return lines[first : next(index for index in range(first, len(lines)) if lines[index][:2] in ("__", "=="))]


def test_a_test_that_is_not_repeated_for_each_run_says_what_to_do(runs, webeval, pytester):
    runs.add(107)
    pytester.makepyfile(
        test_it="""
        import unittest
        import pytest

        class TestOld(unittest.TestCase):
            @pytest.fixture(autouse=True)
            def _run(self, webeval_run):
                pass

            def test_old(self):
                pass

        @pytest.mark.parametrize("name", ["webeval_run", "webeval_task"])
        def test_late(request, name):
            request.getfixturevalue(name)
        """
    )
    result = webeval("test_it.py")
    result.assert_outcomes(failed=2, errors=1)
    assert shown(result, "ERROR at setup of TestOld.test_old") == [NO_RUN]
    assert shown(result, "test_late[webeval_run]") == [NO_RUN]
    assert shown(result, "test_late[webeval_task]") == [NO_RUN]


def test_a_fixture_of_a_wider_scope_says_what_to_do(runs, webeval, pytester):
    runs.add(107)
    pytester.makepyfile(
        test_it="""
        import pytest

        @pytest.fixture(scope="module")
        def answer(webeval_run):
            return webeval_run.response

        @pytest.fixture(scope="session")
        def late(request):
            return request.getfixturevalue("record_evaluation")

        def test_answer(answer):
            pass

        def test_late(late):
            pass
        """
    )
    result = webeval("test_it.py")
    result.assert_outcomes(errors=2)
    for title, scope, fixture in (
        ("answer[runs/107]", "module", "webeval_run"),
        ("late", "session", "record_evaluation"),
    ):
        reason = f"{scope}-scoped fixture requests {fixture}, which differs for each run"
        assert shown(result, f"ERROR at setup of test_{title}") == [f"{reason}; give it function scope"]


def test_a_python_test_over_runs_is_skipped_where_there_is_no_run(webeval, pytester):
    root = pytester.mkdir("runs")
    pytester.makepyfile(test_it="def test_it(webeval_run): pass\ndef test_other(): pass")
    result = webeval("test_it.py", "-rs")
    result.assert_outcomes(passed=1, skipped=1)
    reason = f"no runs in {root}; pass a directory that holds runs with --webeval-runs"
    result.stdout.fnmatch_lines([f"SKIPPED * test_it.py: {reason}"])


def test_a_run_that_is_asked_for_late_is_skipped_without_runs(pytester):
    pytester.makepyfile(test_it="def test_it(request): request.getfixturevalue('webeval_run')")
    result = pytester.runpytest("-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED * requires recorded runs; pass --webeval-runs=DIR"])


@pytest.mark.whole
@pytest.mark.parametrize("workers", [(), pytest.param(("-n1",), marks=pytest.mark.whole)], ids=["serial", "xdist"])
def test_python_tests_over_runs_are_no_session_without_runs(runs, webeval_apart, pytester, workers):
    runs.add(107)
    runs.add(108)
    pytester.makepyfile(test_it="def test_it(webeval_run): pass", test_own="def test_own(): pass")
    result = webeval_apart("test_it.py", *workers)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["Python tests used 2 runs and recorded no result"])
    result.stdout.no_fnmatch_line("*no run was scored*")
    result = webeval_apart("test_own.py", *workers)
    result.stdout.fnmatch_lines([f"no run was scored; the arguments select no run in {runs.root}"])
