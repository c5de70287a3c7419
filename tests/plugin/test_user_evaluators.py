"""Evaluators of users: how often they are called, and what their exceptions, warnings and outcomes become."""

from __future__ import annotations

import re
import sys

import pytest

from tests.support.all_published import ALL_PUBLISHED

pytestmark = pytest.mark.usefixtures("published")  # whose results say what the rules changed

WORKERS = pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=pytest.mark.whole)], ids=["serial", "xdist"]
)

MINE = """
    import warnings
    import pytest
    from pathlib import Path
    from pytest_webeval import Assertion, Evaluator, ResponseEvaluator

    calls = Path(__file__).parent / "calls.txt"

    class Mine(Evaluator):
        name = "Mine"
        def evaluate(self, expectation, case):
            with calls.open("a") as stream:
                stream.write(f"{{case.run.label}} {{expectation.index}}\\n")
            {body}
            return self.result([Assertion(assertion_name="mine", status="success")])

    @pytest.fixture
    def webeval_evaluators(webeval_evaluators):
        return [*webeval_evaluators, Mine()]
"""

CHECKING = """
    from conftest import Mine
    from pytest_webeval.plugin.runtest.evaluation import Checker
    def test_it(record_evaluation):
        Checker(Mine(), record_evaluation).check()
"""


@pytest.fixture
def mine(runs, pytester):
    """A run whose task names an evaluator of the conftest.py, with a line of Python in it."""

    def write(body="pass", **about):
        runs.add(107, expects=({"evaluator": "Mine"},), **about)
        pytester.makeconftest(MINE.format(body=body))
        return runs

    return write


def line_of(pytester, text):
    lines = (pytester.path / "conftest.py").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def calls(pytester):
    return (pytester.path / "calls.txt").read_text().splitlines()


WITH_NOTICE = 'case.notice("no_recorded_patterns", "here"); case.notice("no_recorded_alternatives", "there")'


@WORKERS
def test_an_evaluator_is_called_once_where_a_rule_applied(mine, webeval_apart, pytester, workers):
    runs = mine(WITH_NOTICE)
    conftest = pytester.path / "conftest.py"
    conftest.write_text(conftest.read_text() + ALL_PUBLISHED)
    webeval_apart(*workers).assert_outcomes(passed=1)
    assert calls(pytester) == ["runs/107 1"]
    pattern = "text from an agent or a site is never a pattern"
    guesses = "data from an agent or a site is one value or the whole expected list, never a list of guesses"
    assert runs.result(107)["webeval"]["warnings"] == [
        f"Q1 (no_recorded_patterns) may have changed this verdict to success: {pattern} @ here; Mine, eval[1]",
        f"Q2 (no_recorded_alternatives) may have changed this verdict to success: {guesses} @ there; Mine, eval[1]",
    ]


def test_a_subclass_of_an_evaluator_of_ours_is_called_once(runs, webeval, pytester):
    path = runs.add(107)
    answer = (path / "agent_response.json").read_text()
    (path / "agent_response.json").write_text(answer.replace('"RETRIEVE"', '"^.*$"'))
    pytester.makeconftest(
        """
        import pytest
        from pathlib import Path
        from pytest_webeval import ResponseEvaluator
        class Mine(ResponseEvaluator):
            def evaluate(self, expectation, case):
                with (Path(__file__).parent / "calls.txt").open("a") as stream:
                    stream.write("called\\n")
                return super().evaluate(expectation, case)
        @pytest.fixture
        def webeval_response(webeval_response):
            return webeval_response.using(Mine())
        """
    )
    webeval().assert_outcomes(failed=1)
    assert calls(pytester) == ["called"]
    assert [one.partition(":")[0] for one in runs.result(107)["webeval"]["warnings"]] == [
        "Q1 (no_recorded_patterns) may have changed this verdict to failure"
    ]


def test_a_check_and_the_result_of_the_same_test_share_one_call(mine, webeval, pytester):
    mine()
    pytester.makepyfile(
        test_checks="""
        import pytest
        from conftest import Mine
        from pytest_webeval.plugin.runtest.evaluation import Checker
        @pytest.fixture
        def mine(record_evaluation):
            return Checker(Mine(), record_evaluation)
        @pytest.fixture
        def webeval_evaluators(webeval_response, mine):
            return [webeval_response, mine]
        def test_it(mine):
            mine.check()
            mine.check()
        """
    )
    webeval("test_checks.py").assert_outcomes(passed=1)
    assert calls(pytester) == ["runs/107 1"]


def test_an_evaluator_that_skips_is_not_called_again_for_what_a_fixture_recorded(mine, webeval, pytester):
    mine("pytest.skip('no lamp')")
    recording = """
    from pytest_webeval import EvaluatorResult
    @pytest.fixture(autouse=True)
    def note(record_evaluation):
        record_evaluation(EvaluatorResult(evaluator_name="Note", status="success", score=1.0))
    """
    (pytester.path / "conftest.py").write_text(
        (pytester.path / "conftest.py").read_text() + "\n".join(line[4:] for line in recording.splitlines())
    )
    webeval().assert_outcomes(skipped=1)
    assert calls(pytester) == ["runs/107 1"]


@WORKERS
def test_an_exception_shows_its_traceback_and_its_place(mine, webeval_apart, pytester, workers):
    runs = mine("1 / 0")
    result = webeval_apart(*workers)
    result.assert_outcomes(failed=1)
    line = line_of(pytester, "1 / 0")
    message = f"ZeroDivisionError: division by zero @ eval[1], conftest.py:{line}"
    assert runs.result(107)["evaluators_results"][1]["error_msg"] == message
    assert runs.result(107)["error_msg"] == f"Mine: {message}"
    result.stdout.fnmatch_lines(
        [
            f"Mine: {message}".replace("[1]", "[[]1[]]"),
            f"conftest.py:{line}: in evaluate",
            "    1 / 0",
            "E   ZeroDivisionError: division by zero",
            "FAILED runs/107::task - Mine: ZeroDivisionError: division by zero @ eval[[]1[]], ...",
        ],
    )
    result.stdout.no_fnmatch_line("*scoring.py*")


@pytest.mark.parametrize(
    ("style", "shown"),
    [
        ("short", ["conftest.py:*: in evaluate", "    int('x')"]),
        ("auto", ["conftest.py:*: in evaluate", "    int('x')"]),
        ("long", [">       int('x')", "E       ValueError: invalid literal*", "conftest.py:*: ValueError"]),
        ("native", ["Traceback (most recent call last):", '  File "*conftest.py", line *, in evaluate']),
    ],
)
def test_the_traceback_has_the_style_that_tb_says(mine, webeval, style, shown):
    mine("int('x')")
    webeval(f"--tb={style}").stdout.fnmatch_lines(shown)


@pytest.mark.parametrize("style", ["line", "no"])
def test_these_styles_show_no_traceback(mine, webeval, style):
    mine("int('x')")
    result = webeval(f"--tb={style}", "--junitxml=out.xml")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.no_fnmatch_line("*in evaluate*")


def test_a_line_in_a_library_is_told_as_that_of_the_evaluator(mine, webeval, pytester):
    runs = mine("__import__('json').loads('{')")
    webeval()
    found = runs.result(107)["evaluators_results"][1]["error_msg"]
    assert found.endswith(f" @ eval[1], conftest.py:{line_of(pytester, 'loads')}")


def test_a_long_traceback_is_cut_and_harmless(mine, webeval):
    mine("raise ValueError('\\n'.join(['\\x1b[31m::error::' + 'x' * 5000] * 500))")
    result = webeval("--tb=short")
    assert "\x1b" not in result.stdout.str()
    shown = [line for line in result.outlines if "::" in line and "xxxx" in line]
    assert 0 < len(shown) < 250
    assert all(len(line) < 1_100 for line in shown)
    result.stdout.re_match_lines([r"… [\d,]+ lines omitted"])


def test_secrets_in_a_traceback_are_replaced(mine, webeval):
    mine("password = 'Bearer abcdef0123456789abcdef'; raise ValueError('authorization: ' + password)")
    assert "abcdef0123456789abcdef" not in webeval("--showlocals").stdout.str()


def test_a_check_in_a_python_test_shows_where_its_evaluator_raised(mine, webeval, pytester):
    mine("1 / 0")
    pytester.makepyfile(test_checks=CHECKING)
    result = webeval("test_checks.py")
    result.assert_outcomes(failed=1)
    line = line_of(pytester, "1 / 0")
    told = f"E       *TaskFailed: Mine: ZeroDivisionError: division by zero @ eval[[]1[]], conftest.py:{line}"
    result.stdout.fnmatch_lines([">       1 / 0", told, f"conftest.py:{line}: TaskFailed"])


@pytest.fixture
def debugged(pytester):
    """Runs pytest with lines typed at its debugger."""

    def run(*arguments, typed):
        command = (sys.executable, "-m", "pytest", "-p", "no:hypothesispytest", "--webeval-runs=runs", *arguments)
        return pytester.run(*command, stdin=typed.encode())

    return run


def test_pdb_stops_where_the_evaluator_raised(mine, debugged):
    mine("lamp = 'lit'; 1 / 0")
    result = debugged("--pdb", typed="p (lamp, expectation.index)\nq\n")
    result.stdout.fnmatch_lines(["-> lamp = 'lit'; 1 / 0", "(Pdb) ('lit', 1)"])


@pytest.mark.whole
def test_pdb_stops_where_the_evaluator_of_a_python_test_raised(mine, debugged, pytester):
    mine("lamp = 'lit'; 1 / 0")
    pytester.makepyfile(test_checks=CHECKING)
    result = debugged("--pdb", "test_checks.py", typed="p (lamp, expectation.index)\nq\n")
    result.stdout.fnmatch_lines(["-> lamp = 'lit'; 1 / 0", "(Pdb) ('lit', 1)"])


@pytest.mark.whole
def test_quitting_a_breakpoint_in_an_evaluator_ends_the_session(mine, debugged):
    runs = mine("breakpoint()")
    result = debugged(typed="q\n")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*Exit: Quitting debugger*"])
    assert runs.summary["webeval"]["unscored"] == ["runs/107"]


@WORKERS
def test_warnings_of_an_evaluator_reach_the_summary(mine, webeval_apart, workers):
    mine("warnings.warn('the lamp flickers')")
    result = webeval_apart(*workers)
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*conftest.py:*: UserWarning: the lamp flickers"])


def test_secrets_in_a_warning_are_replaced(mine, webeval_apart):
    mine("warnings.warn('authorization: Bearer ' + 'abcdef0123456789' * 2, FutureWarning)")
    result = webeval_apart()
    result.stdout.fnmatch_lines(["*conftest.py:*: FutureWarning: authorization: Bearer redacted-*"])
    assert "abcdef0123456789" * 2 not in result.stdout.str()


def test_warnings_as_errors_make_a_warning_of_an_evaluator_an_error(mine, webeval):
    runs = mine("warnings.warn('the lamp flickers')")
    webeval("-Werror").assert_outcomes(failed=1)
    assert runs.result(107)["evaluators_results"][1]["error_msg"].startswith("UserWarning: the lamp flickers @ eval[1]")


def test_a_warning_in_an_evaluator_of_ours_decides_nothing_when_a_subclass_calls_it(runs, webeval, pytester):
    runs.add(107)
    pytester.makeconftest(
        """
        import warnings
        import pytest
        from pytest_webeval import ResponseEvaluator
        from pytest_webeval.evaluators import response
        def noisy(*arguments, read=response.parse_response):
            warnings.warn("a parser grumbles")
            return read(*arguments)
        response.parse_response = noisy
        class Mine(ResponseEvaluator):
            def evaluate(self, expectation, case):
                return super().evaluate(expectation, case)
        @pytest.fixture
        def webeval_response(webeval_response):
            return webeval_response.using(Mine())
        """
    )
    try:
        webeval("-Werror").assert_outcomes(passed=1)
    finally:
        from pytest_webeval.evaluators import response
        from pytest_webeval.evaluators.agent_response import parse_response

        response.parse_response = parse_response


@pytest.mark.parametrize("passes", [True, False])
@WORKERS
def test_a_skip_in_an_evaluator_skips_the_run(mine, webeval_apart, workers, passes):
    runs = mine("pytest.skip('the lamp is sold out')", passes=passes)
    result = webeval_apart("-rs", *workers)
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*the lamp is sold out"])
    summary = runs.summary
    assert (summary["total"], summary["webeval"]["excluded_count"]) == (0, 1)
    assert [(row["status"], row["reason"]) for row in summary["task_results"]] == [("excluded", "the lamp is sold out")]
    assert runs.written == ["eval_summary.json"]


def test_a_skip_removes_what_an_earlier_session_wrote_about_the_run(mine, webeval, pytester):
    runs = mine()
    webeval().assert_outcomes(passed=1)
    pytester.makeconftest(MINE.format(body="pytest.skip('sold out')"))
    webeval().assert_outcomes(skipped=1)
    assert runs.written == ["eval_summary.json"]


@WORKERS
def test_an_xfail_in_an_evaluator_is_a_failure_of_the_run_that_pytest_expects(mine, webeval_apart, workers):
    runs = mine("pytest.xfail('bug 7')")
    result = webeval_apart("-rx", *workers)
    result.assert_outcomes(xfailed=1)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["XFAIL runs/107::task*bug 7"])
    assert runs.counts == (0, 1, 0)
    assert runs.reasons == {"107": "evaluator.xfail: bug 7"}
    assert [one["status"] for one in runs.result(107)["evaluators_results"]] == ["success", "failure"]


def test_an_xfail_in_an_evaluator_hides_no_error(mine, webeval):
    runs = mine("pytest.xfail('bug 7')")
    definition = runs.tasks[0]
    definition["eval"].append({"evaluator": "Nobody"})
    runs.define()
    webeval().assert_outcomes(failed=1)
    assert runs.counts == (0, 0, 1)


@WORKERS
def test_a_fail_in_an_evaluator_is_a_failure_of_the_run(mine, webeval_apart, pytester, workers):
    runs = mine("pytest.fail('no lamp')")
    result = webeval_apart(*workers)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["evaluator.fail: no lamp", f"conftest.py:{line_of(pytester, 'pytest.fail')}: in evaluate"]
    )
    assert runs.counts == (0, 1, 0)
    assert runs.result(107)["status"] == "failure"


def test_an_exit_in_an_evaluator_ends_the_session(mine, webeval):
    mine("pytest.exit('enough', returncode=3)")
    result = webeval()
    assert result.ret == 3
    assert re.search("enough", result.stdout.str())
