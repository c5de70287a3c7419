"""Gates by pytest: seen to pass, to fail and to be misspelt, and the exit code that follows."""

from __future__ import annotations

import json
import shutil
from xml.etree import ElementTree as ET

import pytest

SERIAL_AND_SPREAD = pytest.mark.parametrize("spread", [[], ["-n2"]], ids=["serial", "xdist"])


@pytest.fixture
def three(runs, pytester):
    """Two successes and a failure, 108, and a baseline in which 107 failed instead."""
    runs.add(107)
    runs.add(108, passes=False)
    runs.add(109, site="gitlab")
    return runs


@pytest.fixture
def baseline(three, webeval, pytester):
    """The summary of a session in which 107 failed and 108 succeeded."""
    answer_as(three, 107, 108)
    webeval()
    path = pytester.path / "before.json"
    (three.root / "eval_summary.json").rename(path)
    answer_as(three, 107, 108)
    return path


def answer_as(runs, first, second):
    """Exchange the answers of two tasks."""
    paths = [runs.root / str(task_id) / "agent_response.json" for task_id in (first, second)]
    texts = [path.read_text() for path in paths]
    for path, text in zip(paths, reversed(texts), strict=True):
        path.write_text(text)


def gates(runs):
    return [(gate["gate"], gate["passed"]) for gate in runs.summary["webeval"]["gates"]]


@SERIAL_AND_SPREAD
@pytest.mark.parametrize(
    ("gate", "passed"),
    [
        ("success >= 60%", True),
        ("success >= 70%", False),
        ("success site shopping >= 50%", True),
        ("success site gitlab >= 100%", True),
        ("success type retrieve >= 90%", False),
        ("success template 1 >= 66%", True),
        ("errors <= 0", True),
        ("complete", True),
        ("must-pass 107, 109", True),
        ("must-pass 107, 108", False),
        ("attempts 1 of 1 >= 60%", True),
        ("attempts 2 of 2 >= 60%", False),
        ("no-regression", True),
        ("no-regressed", False),
    ],
)
def test_a_gate_of_each_kind_passes_and_fails(three, baseline, webeval_apart, gate, passed, spread):
    result = webeval_apart(
        f"--webeval-gate={gate}", "--webeval-gates-decide", f"--webeval-baseline={baseline}", *spread
    )
    assert gates(three) == [(gate, passed)]
    assert result.ret == (0 if passed else 1)
    word = "pass" if passed else "FAIL"
    result.stdout.fnmatch_lines([f"gates: {int(passed)} of 1 passed", f"  {word}  {gate}: wanted *; found *"])


@SERIAL_AND_SPREAD
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--webeval-gate=sucess >= 60%"], "--webeval-gate: invalid gate 'sucess >= 60%'; use e.g. 'success >= 60%'*"),
        (["--webeval-gate=errors < 2"], "--webeval-gate: invalid gate 'errors < 2'; use e.g.*"),
        (["--webeval-gate=must-pass"], "--webeval-gate: invalid gate 'must-pass'; use e.g.*"),
        (["--webeval-gate=completed"], "--webeval-gate: invalid gate 'completed'; use e.g.*"),
        (["--webeval-gate=no-regresion"], "--webeval-gate: invalid gate 'no-regresion'; use e.g.*"),
        (["--webeval-gate=attempts 3 of 2 >= 1%"], "--webeval-gate: invalid gate 'attempts 3 of 2 >= 1%'; use e.g.*"),
        (["--webeval-min-success=sixty"], "invalid --webeval-min-success 'sixty'; use a percentage, e.g. 60%"),
        (["--webeval-fail-on=regresion"], "invalid --webeval-fail-on 'regresion'; use failure, regression, *or none"),
        (
            ["--webeval-fail-on=regression"],
            "the gate 'no-regression' requires a baseline; pass --webeval-baseline=FILE",
        ),
        (["--webeval-known-failures"], "--webeval-known-failures requires a baseline; pass --webeval-baseline=FILE"),
        (["--webeval-baseline-update"], "--webeval-baseline-update requires a baseline; pass --webeval-baseline=FILE"),
        (["--webeval-gates-decide"], "--webeval-gates-decide requires gates; pass --webeval-gate, or *fail-on=none"),
    ],
)
def test_a_misspelt_gate_ends_the_session_before_it_scores(three, webeval_apart, arguments, message, spread):
    result = webeval_apart(*arguments, *spread)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{message}"])
    assert three.written == []


def test_an_ini_file_lists_gates(three, webeval, pytester):
    pytester.makeini("[pytest]\nwebeval_gate =\n    success >= 60%\n    errors <= 0\nwebeval_gates_decide = true")
    assert webeval().ret == 0
    assert gates(three) == [("success >= 60%", True), ("errors <= 0", True)]
    pytester.makeini("[pytest]\nwebeval_gate = errors < 0")
    webeval().stderr.fnmatch_lines(["ERROR: webeval_gate: invalid gate 'errors < 0'*"])


def test_tags_are_markers_that_a_conftest_adds(three, webeval, pytester):
    pytester.makeini("[pytest]\nmarkers = smoke")
    pytester.makeconftest("def pytest_collection_modifyitems(items):\n    items[0].add_marker('smoke')")
    assert webeval("--webeval-gate=success tag smoke >= 100%", "--webeval-gates-decide").ret == 0
    assert [row.get("tags") for row in three.summary["task_results"]] == [["smoke"], None, None]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 1),
        (["--webeval-fail-on=failure"], 1),
        (["--webeval-fail-on=none"], 0),
        (["--webeval-fail-on=regression"], 0),
        (["--webeval-fail-on=any-regressed"], 1),
        (["--webeval-min-success=60%"], 1),
        (["--webeval-min-success=60%", "--webeval-gates-decide"], 0),
        (["--webeval-min-success=0.67", "--webeval-gates-decide"], 1),
        (["--webeval-fail-on=none", "--webeval-gate=errors <= 0"], 0),
        (["--webeval-fail-on=none", "-x"], 1),
        (["--webeval-fail-on=none", "-k", "[108]"], 0),
        (["--webeval-fail-on=none", "-k", "nothing"], 5),
    ],
)
def test_what_turns_a_build_red(three, baseline, webeval, arguments, code):
    result = webeval(f"--webeval-baseline={baseline}", *arguments)
    assert result.ret == code
    assert ("failed tasks do not count for the exit code" in result.stdout.str()) is (code == 0)


def test_a_failed_gate_turns_a_green_build_red(runs, webeval):
    runs.add(107)
    assert webeval("--webeval-gate=must-pass 107, 108").ret == 1
    assert webeval("--webeval-gate=must-pass 107").ret == 0


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("test_other.py", "def test_other():\n    assert False"),
        ("test_other.py", "def test_other(webeval_response):\n    webeval_response.check()"),
        ("test_broken.py", "import nothing_of_that_name"),
        (
            "conftest.py",
            "import pytest\n@pytest.fixture(autouse=True)\ndef end():\n    yield\n    raise OSError('full')",
        ),
    ],
    ids=["test", "python_test", "collection", "teardown"],
)
def test_gates_excuse_no_other_failure(three, webeval, pytester, file, text):
    (pytester.path / file).write_text(text)
    assert webeval(".", "runs", "--webeval-fail-on=none").ret in (1, 2)


def test_missing_tasks_are_named(three, webeval, pytester):
    (pytester.path / "subset.json").write_text(json.dumps({"task_ids": [107, 110, 111]}))
    result = webeval("--webeval-subset=subset.json", "--webeval-gate=complete", "--webeval-fail-on=none")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["  FAIL  complete: wanted all expected tasks scored; found 2 tasks without a verdict: 110, 111"]
    )
    assert webeval("-k", "[107]", "--webeval-gate=complete", "--webeval-fail-on=none").ret == 1


def test_gates_stand_in_junit_xml_and_on_the_page_of_github(three, webeval, pytester, monkeypatch):
    page = pytester.path / "page.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    result = webeval(
        "--webeval-gate=errors <= 0", "--webeval-min-success=90%", "--webeval-gates-decide", "--junitxml=x.xml"
    )
    suite = ET.parse(pytester.path / "x.xml").getroot().find("testsuite")
    properties = {entry.get("name"): entry.get("value") for entry in suite.find("properties")}
    assert properties["webeval_gate_1"] == "pass: errors <= 0: wanted at most 0 errors; found 0 errors"
    assert properties["webeval_gate_2"].startswith(
        "fail: success >= 90%: wanted at least 90% success; found 66.7% (2 of 3;"
    )
    assert "### Gates: 1 of 2 gates failed" in page.read_text()
    assert "| FAIL | <code>success &#62;= 90%</code> |" in page.read_text()
    result.stdout.fnmatch_lines(["::error title=webeval%3A runs::*; 1 of 2 gates passed"])


@SERIAL_AND_SPREAD
def test_the_tasks_without_success_become_a_subset(three, webeval_apart, pytester, spread):
    three.add(110, passes=False)
    shutil.rmtree(three.root / "108")
    (three.root / "109" / "network.har").write_text("{")
    result = webeval_apart("--webeval-write-subset=again.json", "--webeval-require-all", *spread)
    path = pytester.path / "again.json"
    result.stdout.fnmatch_lines([f"subset of 3 tasks without success: {path}"])
    assert json.loads(path.read_bytes())["task_ids"] == [108, 109, 110]
    webeval_apart("--webeval-subset=again.json").assert_outcomes(failed=1, errors=1, deselected=1)


def test_without_failures_no_subset_is_written(runs, webeval, pytester):
    runs.add(107)
    (pytester.path / "again.json").write_text("{}")
    webeval("--webeval-write-subset=again.json").stdout.fnmatch_lines(["no subset written, for all tasks succeeded: *"])
    assert (pytester.path / "again.json").read_text() == "{}"  # of somebody else, perhaps


def test_gates_excuse_no_worker_that_crashed(three, webeval_apart, pytester):
    crash = "import os\ndef pytest_runtest_setup(item):\n    os._exit(1) if '108' in item.nodeid else None"
    (pytester.path / "conftest.py").write_text(crash)
    assert webeval_apart("--webeval-fail-on=none", "-n2").ret == 1


def test_gates_without_a_scored_run_are_not_passed(three, webeval, pytester):
    pytester.makepyfile("def test_other(): pass")
    result = webeval(".", "runs", "-k", "test_other", "--webeval-gate=errors <= 9")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["gates not evaluated: no run was scored"])


def test_a_stopped_session_writes_what_is_left_as_a_subset(three, webeval, pytester):
    webeval("-x", "--webeval-write-subset=again.json")
    assert json.loads((pytester.path / "again.json").read_bytes())["task_ids"] == [108, 109]


def test_a_gate_on_completeness_needs_expected_tasks(tree, webeval):
    tree("a_good")
    webeval("--webeval-gate=complete").stderr.fnmatch_lines(
        ["ERROR: the gate 'complete' requires expected tasks; pass --webeval-tasks or --webeval-subset"]
    )


def test_a_baseline_is_no_summary_of_the_session_itself(three, webeval):
    webeval("--webeval-baseline=runs/eval_summary.json", "--webeval-baseline-update").stderr.fnmatch_lines(
        ["ERROR: --webeval-baseline-update: *runs/eval_summary.json is the summary of this session; *"]
    )


def test_a_report_replaces_no_summary_of_another_session(three, webeval, pytester):
    webeval("--webeval-output=before")
    result = webeval("--webeval-output=after", "--webeval-report=before")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*before/eval_summary.json is the summary of another session; choose a separate*"])
