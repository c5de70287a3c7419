"""What pytest and its usual plugins can do, they do with tasks."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from tests.support.derived_runs import SUITE


@pytest.fixture
def good_and_bad(runs):
    runs.add(107)
    runs.add(108, passes=False, site="gitlab", kind="mutate", template=270)
    runs.add(109)
    return runs


def test_lf_scores_only_what_failed(good_and_bad, webeval):
    webeval().assert_outcomes(passed=2, failed=1)
    result = webeval("--lf", "-v")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["runs/108::task FAILED*"])
    assert good_and_bad.summary["total"] == 1


def test_lf_reaches_a_failed_run_with_an_odd_name(runs, webeval):
    runs.add(107)
    runs.add(1, name="naïve [x]")
    webeval().assert_outcomes(passed=1, errors=1)
    webeval("--lf", "-v").assert_outcomes(errors=1)


def test_x_stops_at_the_first_failure_and_the_summary_says_partial(good_and_bad, webeval):
    result = webeval("-x")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["partial session: 1 not scored, 0 deselected"])
    about = good_and_bad.summary["webeval"]
    assert (about["partial"], about["unscored_count"]) == (True, 1)


def test_ctrl_c_leaves_a_summary_of_what_was_scored_that_says_partial(good_and_bad, webeval_apart, pytester):
    pytester.makeconftest(
        """
        def pytest_runtest_call(item):
            if item.nodeid == "runs/108::task":
                raise KeyboardInterrupt
        """
    )
    result = webeval_apart()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    summary = good_and_bad.summary
    assert summary["success_count"] == 1
    assert summary["webeval"]["partial"] is True


@pytest.mark.parametrize("option", ["--co", "--setup-plan", "--setup-only", "--fixtures", "--markers"])
def test_a_session_that_only_shows_writes_nothing(good_and_bad, webeval, option):
    assert webeval(option).ret == 0
    assert good_and_bad.written == []


def test_durations_name_tasks(good_and_bad, webeval):
    result = webeval("--durations=0", "--durations-min=0")
    result.stdout.fnmatch_lines(["*s call*runs/1*::task"])


def test_junitxml_is_well_formed_and_carries_properties(good_and_bad, webeval, pytester):
    webeval("--junitxml=out.xml").assert_outcomes(passed=2, failed=1)
    cases = {case.get("name"): case for case in ET.parse(pytester.path / "out.xml").iter("testcase")}
    case = cases["108"]
    found = {one.get("name"): one.get("value") for one in case.iter("property")}
    assert found == {
        "webeval_task_id": "108",
        "webeval_status": "failure",
        "webeval_score": "0.0",
        "webeval_sites": "gitlab",
        "webeval_type": "mutate",
        "webeval_template": "270",
        "webeval_evaluator": "AgentResponseEvaluator",
        "webeval_reason": 'agent_response.status: expected "success"; got "not_found_error"',
    }
    (failure,) = case.iter("failure")
    assert "agent_response.status" in failure.get("message") + failure.text
    assert "Traceback" not in failure.text


def test_junitxml_survives_whatever_an_agent_wrote(runs, webeval, pytester):
    path = runs.add(107)
    text = '{"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["\\u0000\\u001b]]><x>&\\ud800"]}'
    (path / "agent_response.json").write_text(text)
    webeval("--junitxml=out.xml")
    assert len(list(ET.parse(pytester.path / "out.xml").iter("testcase"))) == 1


def test_html_has_our_columns_and_the_reason_without_a_traceback(good_and_bad, webeval, pytester):
    webeval("--html=out.html", "--self-contained-html").assert_outcomes(passed=2, failed=1)
    page = (pytester.path / "out.html").read_text()
    for name in ("Site", "Type", "Score"):
        assert f"{name}</th>" in page
    blob = re.search(r'data-jsonblob="([^"]*)"', page)[1]
    for text in ("gitlab", "mutate", "agent_response.status_mismatch", "col-score"):
        assert text in blob
    assert "Traceback" not in blob
    assert "pytest_webeval/" not in blob


def test_html_escapes_what_an_agent_wrote(runs, webeval, pytester):
    path = runs.add(107)
    text = '{"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["<script>alert(1)</script>"]}'
    (path / "agent_response.json").write_text(text)
    webeval("--html=out.html", "--self-contained-html").assert_outcomes(failed=1)
    assert "<script>alert" not in (pytester.path / "out.html").read_text()


@pytest.mark.whole
def test_html_over_xdist_has_the_same_columns(good_and_bad, webeval_apart, pytester):
    webeval_apart("-n2", "--html=out.html", "--self-contained-html").assert_outcomes(passed=2, failed=1)
    assert "mutate" in (pytester.path / "out.html").read_text()


def test_the_cache_provider_may_be_off(good_and_bad, webeval):
    webeval("-p", "no:cacheprovider").assert_outcomes(passed=2, failed=1)


@pytest.mark.thinned(every=4)
@pytest.mark.parametrize("plugin", ["terminal", "html", "xdist", "junitxml"])
def test_other_plugins_may_be_off(good_and_bad, webeval_apart, plugin):
    result = webeval_apart("-p", f"no:{plugin}")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert good_and_bad.counts == (2, 1, 0)


def test_a_rerun_counts_once_and_its_last_verdict_stands(good_and_bad, webeval, pytester):
    pytester.makeconftest(
        """
        import pytest
        seen = []
        @pytest.fixture(autouse=True)
        def shaky(request):
            if request.node.nodeid == "runs/109::task" and not seen:
                seen.append(1)
                pytest.fail("shaky")
        """
    )
    result = webeval("--reruns=1")
    assert result.parseoutcomes() == {"passed": 2, "failed": 1, "rerun": 2}
    assert good_and_bad.counts == (2, 1, 0)
    assert good_and_bad.result(109)["status"] == "success"


def test_strict_mode_and_warnings_as_errors_change_nothing(good_and_bad, webeval, pytester):
    pytester.makepyprojecttoml('[tool.pytest]\nstrict = true\nfilterwarnings = ["error"]\n')
    webeval().assert_outcomes(passed=2, failed=1)


def test_random_order_of_items_leaves_the_summary_sorted(good_and_bad, webeval, pytester):
    pytester.makeconftest("def pytest_collection_modifyitems(items): items.reverse()")
    webeval("-v").stdout.fnmatch_lines(["runs/109::task*", "runs/108::task*", "runs/107::task*"])
    assert [row["task_id"] for row in good_and_bad.summary["task_results"]] == [107, 108, 109]


def test_a_skipped_task_is_excluded_with_its_reason(good_and_bad, webeval, pytester):
    pytester.makeconftest(
        """
        import pytest
        @pytest.fixture(autouse=True)
        def site_was_down(request, webeval_task):
            if "gitlab" in webeval_task.sites:
                pytest.skip("the forge was down")
        """
    )
    result = webeval("-rs")
    result.assert_outcomes(passed=2, skipped=1)
    result.stdout.fnmatch_lines(["*the forge was down*"])
    summary = good_and_bad.summary
    assert (summary["total"], summary["webeval"]["excluded_count"]) == (2, 1)
    assert good_and_bad.reasons == {"108": "the forge was down"}


def test_a_task_marked_as_expected_failure_is_still_a_failure_in_the_summary(good_and_bad, webeval, pytester):
    pytester.makeconftest(
        """
        import pytest
        def pytest_collection_modifyitems(items):
            for item in items:
                item.add_marker(pytest.mark.xfail)
        """
    )
    webeval().assert_outcomes(xfailed=1, xpassed=2)
    assert good_and_bad.counts == (2, 1, 0)


def test_an_error_at_teardown_is_shown_and_leaves_the_verdict(good_and_bad, webeval, pytester):
    pytester.makeconftest(
        """
        import pytest
        @pytest.fixture(autouse=True)
        def untidy():
            yield
            raise OSError("no broom")
        """
    )
    result = webeval()
    result.assert_outcomes(passed=2, failed=1, errors=3)
    result.stdout.fnmatch_lines(["*no broom*"])
    assert good_and_bad.counts == (2, 1, 0)


@pytest.mark.whole
def test_reruns_over_xdist_count_once(good_and_bad, webeval_apart):
    result = webeval_apart("-n2", "--reruns=1")
    assert result.parseoutcomes() == {"passed": 2, "failed": 1, "rerun": 1}
    assert good_and_bad.counts == (2, 1, 0)
    assert good_and_bad.summary["webeval"]["partial"] is False


def test_the_traceback_style_does_not_change_what_a_failed_task_shows(good_and_bad, webeval):
    for style in ("long", "short", "line", "native", "auto"):
        result = webeval(f"--tb={style}")
        result.stdout.fnmatch_lines(["*agent_response.status*"])
        result.stdout.no_fnmatch_line("*pytest_webeval/*")
        result.stdout.no_fnmatch_line("*Traceback*")


def test_stepwise_goes_on_where_it_stopped(good_and_bad, webeval):
    webeval("--sw").assert_outcomes(passed=1, failed=1)
    webeval("--sw", "--sw-skip").assert_outcomes(passed=1, failed=1, deselected=1)


def test_the_example_suite_is_scored_from_another_project(pytester):
    options = [f"--webeval-runs={SUITE / 'runs'}", f"--webeval-config={SUITE / 'config.json'}"]
    result = pytester.runpytest_subprocess("-k", "[101]", *options, "--webeval-output=results")
    result.assert_outcomes(passed=1, deselected=35)
