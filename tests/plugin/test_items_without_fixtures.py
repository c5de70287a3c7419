"""Run items look up fixtures only where somebody overrides or adds one."""

from __future__ import annotations

import json
from itertools import zip_longest
from textwrap import dedent

import pytest

from tests.plugin.test_fixtures import OVERRIDES

RECORDING_REPORTS = """
import json, os, pathlib

reports = pathlib.Path("reports.jsonl")

def pytest_runtest_logstart(nodeid, location):
    write("start", nodeid, location)

def pytest_runtest_logfinish(nodeid, location):
    write("finish", nodeid, location)

def pytest_exception_interact(node, call, report):
    write("interact", node.nodeid, call.when, type(call.excinfo.value).__name__, report.when)

def pytest_runtest_logreport(report):
    record = json.loads(getattr(report, "webeval_record", None) or "[{}]")[0]
    record.pop("wall_time", None)
    write(
        report.when, report.nodeid, report.location, report.outcome, sorted(report.keywords), report.sections,
        report.longreprtext, report.user_properties, getattr(report, "wasxfail", None), record,
        report.duration >= 0 and report.stop >= report.start > 0, os.environ.get("PYTEST_CURRENT_TEST"),
    )

def write(*row):
    with reports.open("a") as file:
        print(json.dumps(row), file=file)
"""
OVERRIDING = """
import pytest

@pytest.fixture
def webeval_evaluators(webeval_evaluators):
    return webeval_evaluators
"""


@pytest.fixture
def five(runs):
    """Five runs, of which one fails and one cannot be read."""
    for number in range(101, 106):
        runs.add(number, passes=number != 103)
    (runs.root / "104" / "network.har").write_text("{")
    return runs


def test_no_fixture_is_looked_up(five, webeval, looking_up):
    webeval().assert_outcomes(passed=3, failed=1, errors=1)
    assert looking_up == []
    assert five.counts == (3, 1, 1)


@pytest.mark.parametrize("options", [(), ("-x",), ("--maxfail=2",), ("-vv",), ("--webeval-aborted=xfail",)], ids=str)
def test_all_reports_are_those_of_items_with_fixtures(five, webeval, pytester, looking_up, options):
    def session(conftest):
        pytester.makeconftest(conftest)
        for path in (pytester.path / "reports.jsonl", *five.root.rglob("eval_*.json")):
            path.unlink(missing_ok=True)
        looking_up.clear()
        outcomes = webeval(*options).parseoutcomes()
        rows = (pytester.path / "reports.jsonl").read_text().splitlines()
        return outcomes, [json.loads(row) for row in rows], len(looking_up)

    outcomes, rows, count = session(RECORDING_REPORTS)
    other_outcomes, other_rows, other_count = session(RECORDING_REPORTS + OVERRIDING)
    assert (count, other_count > 0) == (0, True)
    assert outcomes == other_outcomes
    differing = [pair for pair in zip_longest(rows, other_rows) if pair[0] != pair[1]]
    assert not differing
    assert {"start", "setup", "call", "teardown", "finish", "interact"} == {row[0] for row in rows}


def test_the_environment_names_the_phase_of_the_current_test(five, webeval, pytester, monkeypatch):
    monkeypatch.delenv("PYTEST_CURRENT_TEST", raising=False)
    pytester.makeconftest(RECORDING_REPORTS)
    webeval()
    rows = [json.loads(row) for row in (pytester.path / "reports.jsonl").read_text().splitlines()]
    named = {row[-1] for row in rows if row[0] in {"setup", "call"}}
    assert "runs/102::task (setup)" in named
    assert "runs/102::task (call)" in named


@pytest.mark.parametrize("name", OVERRIDES)
def test_a_fixture_of_a_conftest_is_used_for_each_item(runs, webeval, pytester, looking_up, name):
    for number in range(101, 105):
        runs.add(number)
    pytester.makeconftest(OVERRIDES[name])
    webeval()
    assert looking_up == [101, 102, 103, 104]
    assert runs.counts[0] == 0


ADDED = {
    "autouse": "import pytest\n@pytest.fixture(autouse=True)\ndef mine(): pass",
    "session": "import pytest\n@pytest.fixture(autouse=True, scope='session')\ndef mine(): pass",
    "by a hook": "def pytest_itemcollected(item): item.fixturenames.append('tmp_path')",
}


@pytest.mark.parametrize("name", ADDED)
def test_a_fixture_that_somebody_adds_is_set_up_for_each_item(five, webeval, pytester, looking_up, name):
    pytester.makeconftest(ADDED[name])
    webeval().assert_outcomes(passed=3, failed=1, errors=1)
    assert looking_up == [101, 102, 103, 104, 105]


def test_whoever_looks_at_a_phase_sees_that_of_each_item(five, webeval, pytester, looking_up):
    names = ("setup", "call", "teardown")
    hooks = [f"def pytest_runtest_{name}(item): seen.append('{name}')" for name in names]
    counting = "def pytest_unconfigure(): print('seen:', *map(seen.count, ('setup', 'call', 'teardown', 'function')))"
    function = "def pytest_pyfunc_call(pyfuncitem): seen.append('function')"
    pytester.makeconftest("\n".join(["seen = []", *hooks, function, counting]))
    result = webeval()
    result.assert_outcomes(passed=3, failed=1, errors=1)
    assert "seen: 5 4 5 4" in result.outlines[-1]
    assert looking_up == []


LOOKING = {
    "in the call": "@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_call(item):\n    look(item)\n    return (yield)",
    "after the setup": "@pytest.hookimpl(trylast=True)\ndef pytest_runtest_setup(item): look(item)",
    "in a plugin's way": "def pytest_pyfunc_call(pyfuncitem): look(pyfuncitem)",
}
SEEN = {
    "by its name": """
        given = item.funcargs
        assert given["webeval_run"].task_id == item.task_id
        assert given["webeval_response"].evaluator.name == "AgentResponseEvaluator"
        names = {"webeval_judge", "webeval_network_event", "webeval_request_pattern", "webeval_rubric", "webeval_sites"}
        assert names <= given.keys()
        assert given["record_evaluation"].case.run is given["webeval_run"]
    """,
    "by asking for it": """
        assert item._request.getfixturevalue("webeval_run") is item.funcargs["webeval_run"]
        assert item._request.getfixturevalue("record_evaluation") is item.funcargs["record_evaluation"]
        assert item._request.getfixturevalue("webeval_task").task_id == item.task_id
        assert len(item._request.getfixturevalue("webeval_evaluators")) == 4
    """,
}


@pytest.mark.parametrize("reuse", [(), ("--webeval-reuse",)], ids=["first", "reused"])
@pytest.mark.parametrize("hook", LOOKING)
@pytest.mark.parametrize("way", SEEN)
def test_hooks_find_what_the_fixtures_would_give(five, webeval, pytester, hook, way, reuse):
    look = f"import pytest\n\ndef look(item):{dedent(SEEN[way]).replace(chr(10), chr(10) + '    ')}"
    if reuse:
        pytester.makeconftest(f"{look}\n\n{LOOKING[hook]}")
        webeval("--webeval-reuse")
    pytester.makeconftest(f"{look}\n\n{LOOKING[hook]}")
    result = webeval(*reuse)
    result.assert_outcomes(passed=3, failed=1, errors=1)
    assert not reuse or "reused: 4 of 5 results" in result.stdout.str()


def test_a_run_is_let_go_when_its_test_ends(five, webeval, pytester):
    pytester.makeconftest(
        """
        runs = []
        def pytest_runtest_call(item):
            runs.append(item.funcargs["webeval_run"])
            assert "trace" in vars(runs[-1]) or runs[-1].trace is not None
        def pytest_runtest_logfinish():
            print("held:", [each.task_id for each in runs if "trace" in vars(each)])
        """
    )
    lines = [line for line in webeval("-s").outlines if "held:" in line]
    assert len(lines) == 5
    assert all(line.endswith("held: []") for line in lines)


@pytest.mark.parametrize("option", ["--setup-show", "--setup-only", "--setup-plan"])
def test_options_that_show_fixtures_show_those_of_each_item(five, webeval, looking_up, option):
    result = webeval(option)
    assert looking_up == [101, 102, 103, 104, 105]
    assert result.stdout.str().count("SETUP    F webeval_run") == 5


@pytest.mark.parametrize(("mark", "outcome"), [("skip", "skipped"), ("xfail", "xpassed")])
def test_marks_of_a_conftest_count(runs, webeval, pytester, mark, outcome):
    for number in (101, 102, 103):
        runs.add(number)
    pytester.makeconftest(
        f"""
        import pytest
        def pytest_collection_modifyitems(items):
            items[1].add_marker(pytest.mark.{mark}(reason="known"))
        """
    )
    webeval().assert_outcomes(passed=2, **{outcome: 1})


def test_a_fixture_of_ours_that_a_python_test_has_replaced_is_noticed(runs, webeval, pytester, looking_up):
    for number in (101, 102, 103):
        runs.add(number)
    pytester.makeconftest(
        """
        import pytest
        @pytest.fixture(scope="session")
        def webeval_sites(webeval_sites):
            return webeval_sites
        """
    )
    pytester.makepyfile("def test_first(webeval_sites): pass")
    webeval("test_a_fixture_of_ours_that_a_python_test_has_replaced_is_noticed.py", "runs").assert_outcomes(passed=4)
    assert looking_up == [101, 102, 103]


def test_reports_keep_little_of_a_run_to_the_end(five, webeval, pytester):
    """A session keeps all reports: what was seen of a run is dropped, and what is the same is kept once."""
    pytester.makeconftest(
        """
        seen, reports = [], []
        def pytest_runtest_logreport(report):
            seen.append(hasattr(report, "webeval_record"))
            reports.append(report)
        def pytest_unconfigure():
            assert sum(seen) == 5
            assert not any(hasattr(report, "webeval_record") for report in reports)
            of_one = [report for report in reports if "102" in report.nodeid]
            assert len(of_one) == 3
            assert len({id(report.keywords) for report in of_one}) == 1
            others = [dict(report.user_properties) for report in reports if report.when == "call"]
            statuses = {id(pair) for report in reports for pair in report.user_properties if pair[1] == "success"}
            assert len(others) == 4
            assert len(statuses) == 1
        """
    )
    result = webeval()
    result.assert_outcomes(passed=3, failed=1, errors=1)
    assert "AssertionError" not in result.stderr.str()


def test_changed_keywords_of_a_report_are_its_own(five, webeval, pytester):
    pytester.makeconftest(
        """
        import pytest
        reports = []
        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_makereport(item, call):
            report = yield
            report.keywords = dict(report.keywords) | ({"mine": 1} if call.when == "call" else {})
            reports.append(report)
            return report
        def pytest_unconfigure():
            assert [report.when == "call" for report in reports] == ["mine" in report.keywords for report in reports]
        """
    )
    result = webeval()
    result.assert_outcomes(passed=3, failed=1, errors=1)
    assert "AssertionError" not in result.stderr.str()


def test_keywords_that_a_plugin_changes_in_a_report_are_in_no_other(five, webeval, pytester):
    pytester.makeconftest(
        """
        reports = []
        def pytest_runtest_logreport(report):
            report.keywords[report.when] = 1
            reports.append(report)
        def pytest_unconfigure():
            phases = {"setup", "call", "teardown"}
            assert [phases & report.keywords.keys() for report in reports] == [{report.when} for report in reports]
        """
    )
    result = webeval()
    result.assert_outcomes(passed=3, failed=1, errors=1)
    assert "AssertionError" not in result.stderr.str()


def test_a_test_that_records_in_two_phases_keeps_nothing_in_its_reports(five, webeval, pytester):
    pytester.makeconftest(
        """
        import pytest
        reports, carrying = [], []
        @pytest.fixture
        def late(webeval_response):
            yield
            webeval_response.check()
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_logreport(report):
            reports.append(report)
            carrying.append((report.when, hasattr(report, "webeval_record")))
        def pytest_unconfigure():
            assert ("call", True) in carrying and ("teardown", True) in carrying
            assert not any(hasattr(report, "webeval_record") for report in reports)
        """
    )
    pytester.makepyfile(test_late="def test_late(webeval_response, late): webeval_response.check()")
    result = webeval("runs", "test_late.py")
    assert "AssertionError" not in result.stderr.str()
    assert result.parseoutcomes()["passed"] >= 3
