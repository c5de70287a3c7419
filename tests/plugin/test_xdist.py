"""Sessions spread over workers: same bytes, and no task lost with a worker."""

from __future__ import annotations

import os
import re

import pytest


def timeless(text: bytes) -> bytes:
    text = re.sub(rb'("timestamp": )"[^"]*"', rb"\1null", text)
    text = re.sub(rb'("wall_time": )[-+.e0-9]+', rb"\1null", text)
    return re.sub(rb'("slowest": \[)[^]]*\]', rb"\1]", text)


def everything(root) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): timeless(path.read_bytes()) for path in root.rglob("eval_*.json")}


def test_serial_and_spread_sessions_write_the_same_bytes(runs, webeval_apart):
    for number in range(100, 112):
        runs.add(number, passes=bool(number % 3), site=("shopping", "gitlab")[number % 2], template=number % 4)
    (runs.root / "105" / "network.har").write_text("{")
    (runs.root / "106" / "agent_response.json").unlink()
    runs.define(runs.definition(107))
    runs.add(1, name="odd nàme")
    serial = webeval_apart()
    first = everything(runs.root)
    spread = webeval_apart("-n2")
    second = everything(runs.root)
    assert serial.parseoutcomes() == spread.parseoutcomes()
    assert len(first) == 14
    assert first == second


@pytest.mark.whole
def test_python_tests_together_with_run_items_write_the_same_bytes_too(runs, webeval_apart, pytester):
    for number in (107, 108, 109):
        runs.add(number, passes=number != 108)
    pytester.makepyfile(
        test_checks="""
        def test_a(webeval_network_event):
            webeval_network_event.check(expected={"url": "__SHOPPING__/", "http_method": "GET"})
        def test_b(webeval_network_event):
            webeval_network_event.check(expected={"url": "__SHOPPING__/cart", "http_method": "GET"})
        """
    )
    webeval_apart("test_checks.py", "runs")
    first = everything(runs.root)
    webeval_apart("test_checks.py", "runs", "-n2")
    assert everything(runs.root) == first


@pytest.mark.parametrize(
    "when", ["call", *(pytest.param(when, marks=pytest.mark.whole) for when in ("setup", "teardown"))]
)
def test_a_killed_worker_costs_its_own_task_and_no_other(runs, webeval_apart, pytester, when):
    for number in (107, 108, 109, 110):
        runs.add(number)
    pytester.makeconftest(
        f"""
        import os, pytest
        def pytest_runtest_{when}(item):
            if item.nodeid == "runs/108::task":
                os._exit(9)
        """
    )
    result = webeval_apart("-n2")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*worker 'gw*' crashed while running 'runs/108::task'*"])
    summary = runs.summary
    statuses = {row["task_id"]: row["status"] for row in summary["task_results"]}
    expected = "success" if when == "teardown" else "error"
    assert statuses == {107: "success", 108: expected, 109: "success", 110: "success"}
    assert runs.result(108)["status"] == expected
    assert summary["total"] == 4
    if when != "teardown":
        assert runs.reasons == {"108": "xdist worker crashed while scoring this run; rerun it alone to see the cause"}
        assert runs.result(108)["error_msg"] == runs.reasons["108"]
        assert runs.result(108)["sites"] == ["shopping"]


@pytest.mark.whole
@pytest.mark.parametrize(
    "dist",
    [
        "load",
        *(
            pytest.param(name, marks=pytest.mark.whole)
            for name in ("loadscope", "loadfile", "loadgroup", "worksteal", "each")
        ),
    ],
)
def test_each_way_of_spreading_counts_each_task_once(runs, webeval_apart, dist):
    for number in (107, 108, 109):
        runs.add(number, passes=number != 108)
    result = webeval_apart("-n2", f"--dist={dist}")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert runs.counts == (2, 1, 0)
    assert runs.summary["webeval"]["partial"] is False


@pytest.mark.whole
def test_deselection_and_x_make_a_spread_session_partial(runs, webeval_apart):
    for number in range(107, 117):
        runs.add(number, passes=number != 107)
    result = webeval_apart("-n2", "-k", "not 109")
    result.stdout.fnmatch_lines(["partial session: 0 not scored, 1 deselected"])
    webeval_apart("-n1", "-x").assert_outcomes(failed=1)
    assert runs.summary["webeval"]["partial"] is True


@pytest.mark.whole
def test_a_spread_session_that_only_shows_writes_nothing(runs, webeval_apart):
    runs.add(107)
    webeval_apart("-n2", "--setup-plan")
    assert runs.written == []


def test_a_wrong_option_is_told_once_by_the_controller(runs, webeval_apart):
    runs.add(107)
    result = webeval_apart("-n2", "--webeval-rules=lax")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.stderr.str().count("invalid --webeval-rules 'lax'") == 1


@pytest.mark.whole
def test_a_worker_killed_by_a_python_test_costs_no_result_of_a_run_item(runs, webeval_apart, pytester):
    runs.add(107)
    runs.add(108)
    pytester.makepyfile(
        test_checks="""
        import os
        def test_it(webeval_run):
            if webeval_run.task_id == 107:
                os._exit(3)
        """
    )
    webeval_apart("-n2", "test_checks.py", "runs").assert_outcomes(passed=3, failed=1)
    assert runs.counts == (2, 0, 0)


@pytest.mark.whole
def test_the_order_in_which_checks_come_in_changes_no_byte(runs, webeval_apart, pytester):
    runs.add(107)
    check = "def test_{0}(webeval_network_event): webeval_network_event.check(expected={{'url': '__SHOPPING__/{0}'}})"
    checks = [check.format(name) for name in "abc"]
    found = []
    for order in (checks, checks[::-1]):
        pytester.makepyfile(test_checks="\n".join(order))
        webeval_apart("test_checks.py", "runs")
        found.append(everything(runs.root))
    assert found[0] == found[1]


@pytest.mark.whole
@pytest.mark.parametrize("passes", [True, pytest.param(False, marks=pytest.mark.whole)])
def test_a_directory_whose_name_is_no_utf8_is_scored_by_workers_as_by_one_process(runs, webeval_apart, passes):
    runs.add(107, passes=passes)
    runs.define(runs.definition(108))
    os.rename(runs.add(109, passes=passes), os.fsencode(runs.root) + b"/\xff::error::\n\x1b[31m")  # noqa: PTH104
    serial, spread = webeval_apart("-vv", "-rA"), webeval_apart("-vv", "-rA", "-n2")
    assert serial.parseoutcomes() == spread.parseoutcomes()
    for result in (serial, spread):
        assert "runs/%FF%3A%3Aerror%3A%3A%0A%1B%5B31m::task" in result.stdout.str()
        assert not re.search("[\x00-\x09\x0b-\x1f\ud800-\udfff]|^ *::|##\\[", result.stdout.str())
