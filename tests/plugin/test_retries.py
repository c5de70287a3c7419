"""Plugins that call the phases of a test again, and report the same test twice, as pytest-retry does."""

from __future__ import annotations

import pytest

# What pytest-retry does with a failed test that is marked: all within the making of its one report.
RETRYING = """
import pytest
from pytest_webeval import Assertion, ResponseEvaluator

class Flaky(ResponseEvaluator):
    calls = {{}}

    def evaluate(self, expectation, case):
        usual, task = super().evaluate(expectation, case), case.run.task_id
        self.calls[task] = self.calls.get(task, 0) + 1
        return self.adding(usual, Assertion.of("attempt", self.calls[task] > {failing}, "a later one"))

@pytest.fixture
def webeval_response(webeval_response):
    return webeval_response.using(Flaky()) if {failing} else webeval_response

def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker("flaky")

def pytest_report_teststatus(report):
    return ("retried", "R", "RETRY") if report.outcome == "retried" else None

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when != "call" or not report.failed:
        return report
    other = pytest.Class.from_parent(item.session, name="Other")
    item.ihook.pytest_runtest_teardown(item=item, nextitem=other)
    report.outcome = "retried"
    item.ihook.pytest_runtest_logreport(report=report)
    item._initrequest()
    item.ihook.pytest_runtest_setup(item=item)
    again = pytest.CallInfo.from_call(lambda: item.ihook.pytest_runtest_call(item=item), when="call")
    latest = pytest.TestReport.from_item_and_call(item, again)
    report.outcome, report.longrepr = latest.outcome, latest.longrepr
    return report
"""


@pytest.fixture
def five(runs):
    """Five runs, of which one fails and one cannot be read."""
    for number in range(101, 106):
        runs.add(number, passes=number != 103)
    (runs.root / "104/network.har").write_text("{")
    return runs


@pytest.mark.parametrize(("failing", "outcomes", "counts"), [(0, (3, 1, 1), (3, 1, 1)), (1, (3, 1, 1), (3, 1, 1))])
def test_the_last_attempt_is_the_result(five, webeval, pytester, failing, outcomes, counts):
    pytester.makeconftest(RETRYING.format(failing=failing))
    result = webeval()
    expected = dict(zip(("passed", "failed", "errors"), outcomes, strict=True))
    assert result.parseoutcomes() == expected | {"retried": 4 if failing else 1}
    assert five.counts == counts
    assert [five.result(number)["status"] for number in (101, 103, 104, 105)] == [
        "success",
        "failure",
        "error",
        "success",
    ]


def test_an_attempt_that_fails_again_is_a_failure(five, webeval, pytester):
    pytester.makeconftest(RETRYING.format(failing=2))
    webeval().assert_outcomes(failed=4, errors=1)
    assert five.counts == (0, 4, 1)


@pytest.mark.whole
def test_reports_to_workers_are_the_same(five, webeval_apart, pytester):
    pytester.makeconftest(RETRYING.format(failing=1))
    webeval_apart("-n2").assert_outcomes(passed=3, failed=1, errors=1)
    assert five.counts == (3, 1, 1)


@pytest.mark.parametrize("option", ["--testmon", "--testmon-noselect", "--tmnet"])
def test_testmon_is_a_usage_error_where_runs_are_collected(five, webeval, pytester, option):
    pytester.makeconftest(
        """
        def pytest_addoption(parser):
            for name in ("--testmon", "--testmon-noselect", "--tmnet"):
                parser.addoption(name, action="store_true")
            parser.addoption("--no-testmon", action="store_true", dest="no-testmon")
        """
    )
    pytester.makepyfile(test_other="def test_other(): pass")
    result = webeval(option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --testmon selects tests by changes of code, *; add --no-testmon, or use *"])
    assert webeval(option, "--no-testmon").parseoutcomes()["passed"] == 3
    webeval(option, "test_other.py").assert_outcomes(passed=1)
