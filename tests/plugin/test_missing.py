"""--webeval-require-all: a task without a recording is an error that everybody sees, and nothing is written for it."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import pytest

# Spread sessions of most tests are in the whole suite; the tests that stand for them run by default.
WORKERS = pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=pytest.mark.whole)], ids=["serial", "xdist"]
)
WORKERS_BY_DEFAULT = pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["serial", "xdist"])
REQUIRE_ALL = "--webeval-require-all"
REASON = "no recording of task {} in runs; record it, or omit --webeval-require-all"


@pytest.fixture
def gaps(runs):
    """Tasks 107 (recorded), 108 (recorded, fails), 109 and 110, of which there is no recording."""
    runs.add(107)
    runs.add(108, passes=False)
    runs.define(runs.definition(109, site="gitlab", kind="mutate", template=270), runs.definition(110, site="reddit"))
    return runs


def collected(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if re.fullmatch(r"runs\S*::\w+", line)]


def tree(root) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*"))


@WORKERS_BY_DEFAULT
def test_a_task_without_a_recording_is_an_error_with_its_reason(gaps, webeval_apart, workers):
    before = tree(gaps.root)
    result = webeval_apart(REQUIRE_ALL, "-rE", *workers)
    result.assert_outcomes(passed=1, failed=1, errors=2)
    result.stdout.fnmatch_lines(["ERROR runs/109::missing - no recording of task 109 in runs; *"])
    result.stdout.fnmatch_lines([REASON.format(109), "2 tasks have no recording: 109, 110"])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("partial session*")
    assert set(tree(gaps.root)) - set(before) == {"eval_summary.json", "107/eval_result.json", "108/eval_result.json"}
    summary = gaps.summary
    assert (summary["total"], gaps.counts, summary["webeval"]["missing_count"]) == (4, (1, 1, 2), 2)
    assert summary["task_results"][2] == {
        "task_id": 109,
        "run": "runs/109",
        "status": "error",
        "score": 0.0,
        "sites": ["gitlab"],
        "intent_template_id": 270,
        "reason": REASON.format(109),
        "type": "mutate",
        "checksums": summary["task_results"][2]["checksums"],
    }
    assert summary["per_site_summary"]["reddit"] == [{"task_id": 110, "status": "error", "score": 0.0}]
    assert summary["webeval"]["per_type"]["mutate"] == {"total": 1, "success_count": 0}


def test_without_the_option_nothing_is_missing(gaps, webeval):
    webeval().assert_outcomes(passed=1, failed=1)
    assert gaps.summary["webeval"]["missing_count"] == 0


def test_the_subset_is_what_is_expected(gaps, webeval, pytester):
    (pytester.path / "some.json").write_text('{"task_ids": [999, 107, 110]}')
    result = webeval(REQUIRE_ALL, "--webeval-subset=some.json")
    result.assert_outcomes(passed=1, errors=2, deselected=1)
    result.stdout.fnmatch_lines([f"{REASON.format(999)} (task 999 is not defined in *tasks.json; add it or use *)"])
    assert [row["task_id"] for row in gaps.summary["task_results"]] == [107, 110, 999]
    assert gaps.summary["webeval"]["partial"] is False


def test_given_definitions_are_what_is_expected(gaps, webeval, pytester):
    (pytester.path / "given.json").write_text(json.dumps([gaps.definition(107), gaps.definition(500)]))
    assert collected(webeval(REQUIRE_ALL, "--webeval-tasks=given.json", "--co", "-q"))[-1] == "runs/500::missing"


def test_the_ini_file_may_ask_for_it_and_the_command_line_take_it_back(gaps, pytester):
    pytester.makeini("[pytest]\nwebeval_runs = runs\nwebeval_require_all = true\n")
    pytester.runpytest().assert_outcomes(passed=1, failed=1, errors=2)
    pytester.runpytest("-o", "webeval_require_all=false").assert_outcomes(passed=1, failed=1)


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        (None, "--webeval-require-all: nothing says which tasks are expected; *"),
        ("[]", "--webeval-require-all: nothing says which tasks are expected; *"),
        ("[{", "cannot parse *tasks.json as JSON: *; fix the file"),
    ],
)
def test_without_knowing_the_tasks_it_is_a_usage_error_of_one_line(gaps, webeval, tasks, message):
    (gaps.root / "tasks.json").unlink()
    if tasks is not None:
        (gaps.root / "tasks.json").write_text(tasks)
    result = webeval(REQUIRE_ALL)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert len([line for line in result.errlines if line.strip()]) == 1
    result.stderr.fnmatch_lines([f"ERROR: {message}"])


def test_a_broken_definition_is_told_by_its_item(gaps, webeval):
    gaps.define(gaps.definition(111) | {"sites": ["e bay"]}, gaps.definition(109))
    result = webeval(REQUIRE_ALL)
    result.stdout.fnmatch_lines([f"{REASON.format(109)} (task 109 is defined twice in *; keep one definition)"])
    result.stdout.fnmatch_lines([f"{REASON.format(111)} (invalid task in *; fix the definition)"])
    assert gaps.counts == (1, 1, 3)


@pytest.mark.thinned(every=4)
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("-k", "missing"), ["runs/109::missing", "runs/110::missing"]),
        (("-k", "not missing"), ["runs/107::task", "runs/108::task"]),
        (("-k", "reddit or template_270"), ["runs/109::missing", "runs/110::missing"]),
        (("-k", "110"), ["runs/110::missing"]),
        (("-m", 'webeval_type(name="mutate")'), ["runs/109::missing"]),
        (("--deselect=runs/109::missing", "-k", "109 or 110"), ["runs/110::missing"]),
        (("--ignore=runs/109",), ["runs/107::task", "runs/108::task", "runs/110::missing"]),
        (("runs",), ["runs/107::task", "runs/108::task", "runs/109::missing", "runs/110::missing"]),
        (("runs/107",), ["runs/107::task"]),
        (("runs/107", "runs/108::task"), ["runs/107::task", "runs/108::task"]),
        (("runs/110::missing",), ["runs/110::missing"]),
        (("./runs/110::missing", "runs/109::missing"), ["runs/109::missing", "runs/110::missing"]),
        (("runs/110::missing", "runs/108::task"), ["runs/108::task", "runs/110::missing"]),
        (("runs/107::missing",), ["runs/107::task"]),
        (("runs/110::missing", "runs", "-k", "not 108"), ["runs/107::task", "runs/109::missing", "runs/110::missing"]),
    ],
)
def test_missing_tasks_are_selected_like_runs(gaps, webeval, arguments, expected):
    assert collected(webeval(REQUIRE_ALL, "--co", "-q", *arguments)) == expected


@WORKERS
def test_one_missing_task_named_on_the_command_line_makes_a_partial_summary(gaps, webeval_apart, workers):
    result = webeval_apart(REQUIRE_ALL, "runs/110::missing", *workers)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["1 task has no recording: 110", "partial session: the arguments selected some of the runs"]
    )
    assert [row["task_id"] for row in gaps.summary["task_results"]] == [110]


@pytest.mark.parametrize(
    "arguments", [("runs/110::missing",), (REQUIRE_ALL, "runs/999::missing"), (REQUIRE_ALL, "runs/110")]
)
def test_what_names_no_missing_task_is_pytests_own_usage_error(gaps, webeval, arguments):
    result = webeval(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *runs/*"])


def test_x_and_lf_and_reruns_take_them_like_other_items(gaps, webeval):
    webeval(REQUIRE_ALL, "-x", "-k", "not 108").assert_outcomes(passed=1, errors=1, deselected=1)
    assert gaps.summary["webeval"]["unscored_count"] == 1
    webeval(REQUIRE_ALL, "--lf").assert_outcomes(errors=1, deselected=3)
    result = webeval(REQUIRE_ALL, "--reruns=1")
    assert result.parseoutcomes() == {"passed": 1, "failed": 1, "errors": 2, "rerun": 3}
    assert gaps.counts == (1, 1, 2)


@pytest.mark.whole
def test_serial_and_spread_sessions_write_the_same_summary(gaps, webeval_apart):
    found = []
    for workers in ((), ("-n2",), ("-n2", "--dist=loadfile")):
        webeval_apart(REQUIRE_ALL, *workers)
        text = (gaps.root / "eval_summary.json").read_text()
        found.append(re.sub(r'"(timestamp|wall_time)": .*|"slowest": \[[^]]*\]', "", text))
    assert found[0] == found[1] == found[2]


def test_junitxml_and_html_show_them(gaps, webeval, pytester):
    webeval(REQUIRE_ALL, "--junitxml=out.xml", "--html=out.html", "--self-contained-html")
    cases = [case for case in ET.parse(pytester.path / "out.xml").iter("testcase") if case.get("name") == "109"]
    assert REASON.format(109) in cases[0].find("error").text
    found = {one.get("name"): one.get("value") for one in cases[0].iter("property")}
    assert (found["webeval_task_id"], found["webeval_status"], found["webeval_sites"]) == ("109", "error", "gitlab")
    blob = re.search(r'data-jsonblob="([^"]*)"', (pytester.path / "out.html").read_text())[1]
    for text in ("runs/109::missing", REASON.format(109), "gitlab", "mutate"):
        assert text in blob


@pytest.mark.whole
def test_a_worker_that_dies_at_one_changes_nothing_about_it(gaps, webeval_apart, pytester):
    pytester.makeconftest(
        """
        import os
        def pytest_runtest_setup(item):
            if item.nodeid == "runs/109::missing":
                os._exit(9)
        """
    )
    webeval_apart(REQUIRE_ALL, "-n2").stdout.fnmatch_lines(["*worker 'gw*' crashed while running 'runs/109::missing'*"])
    assert (gaps.counts, gaps.summary["webeval"]["missing_count"]) == ((1, 1, 2), 2)
    assert gaps.reasons["109"] == REASON.format(109)
    assert not (gaps.root / "109").exists()


def test_a_conftest_beside_the_root_sees_them_and_may_skip_them(gaps, webeval, pytester):
    pytester.makeconftest(
        """
        import pytest
        def pytest_collection_modifyitems(items):
            for item in items:
                mark = item.get_closest_marker("webeval_template")
                if item.nodeid.endswith("::missing") and mark.kwargs["id"] == 270:
                    item.add_marker(pytest.mark.skip(reason="not yet"))
        def pytest_runtest_setup(item):
            print("setting up", item.nodeid, item.path.name)
        @pytest.fixture(autouse=True)
        def curious(webeval_task, request):
            assert webeval_task.sites
        """
    )
    result = webeval(REQUIRE_ALL, "-s", "-rs")
    result.assert_outcomes(passed=1, failed=1, errors=1, skipped=1)
    result.stdout.fnmatch_lines(["*setting up runs/110::missing 110*", "*not yet*"])
    about = gaps.summary["webeval"]
    assert (about["excluded_count"], about["missing_count"]) == (1, 1)


def test_whatever_a_fixture_does_the_reason_is_the_missing_recording(gaps, webeval, pytester):
    pytester.makeconftest(
        """
        import pytest
        @pytest.fixture(autouse=True)
        def untidy(request):
            assert not request.node.nodeid.endswith("::missing"), "no broom"
        """
    )
    webeval(REQUIRE_ALL).stdout.fnmatch_lines(["*no broom*"])
    assert gaps.reasons["109"] == REASON.format(109)


def test_python_tests_over_runs_get_no_missing_ones(gaps, webeval, pytester):
    pytester.makepyfile(test_checks="def test_it(webeval_run): pass")
    webeval(REQUIRE_ALL, "test_checks.py").assert_outcomes(passed=2)
    webeval(REQUIRE_ALL, "test_checks.py", "runs").assert_outcomes(passed=3, failed=1, errors=2)


def test_the_terminal_names_the_first_ones(runs, webeval):
    runs.add(1)
    runs.define(*(runs.definition(number) for number in range(2, 14)))
    result = webeval(REQUIRE_ALL)
    result.stdout.fnmatch_lines(["12 tasks have no recording: 2, 3, 4, 5, 6, 7, 8, 9, … and 4 more"])
