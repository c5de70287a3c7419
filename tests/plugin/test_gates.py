"""Gates in sessions of pytest: where they are written, which sessions they judge, and the exit code that follows."""

from __future__ import annotations

import json
import shutil
import time
from xml.etree import ElementTree as ET

import pytest

from pytest_webeval.sessions.settings.options import REMOVED
from pytest_webeval.summary.store.row_file import RowFile
from tests.support.made_records import make_records


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


GATES = ["success >= 60%", "no-regression"]


def test_gates_pass_and_fail_in_the_terminal_and_in_the_summary(three, baseline, webeval):
    options = [f"--webeval-gate={gate}" for gate in GATES]
    result = webeval(*options, f"--webeval-baseline={baseline}")
    assert gates(three) == [("success >= 60%", True), ("no-regression", False)]
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "gates: 1 of 2 passed",
            "  FAIL  no-regression: wanted no task regressed; found *108*",
            "  pass  success >= 60%: wanted at least 60% success; found 66.7% (2 of 3; *",
        ]
    )


def test_gates_alone_decide(three, webeval):
    assert webeval().ret == 1
    result = webeval("--webeval-gate=errors <= 0")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["gates alone decide: failed tasks do not count for the exit code"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--webeval-gate=success"], "invalid gate 'success': incomplete; quote it: --webeval-gate='success >= 60%'"),
        (["--webeval-gate=no-regression"], "gate 'no-regression' requires a baseline; pass --webeval-baseline=SESSION"),
        (["-owebeval_gate=complete", "-o", "webeval_gate=errors <= 1"], "-o webeval_gate is passed twice, *"),
        (["-owebeval_limits=entries = 1", "-owebeval_limits=entries = 2"], "-o webeval_limits is passed twice, *"),
        (["-owebeval_fail_on=none"], "webeval_fail_on was removed; use the gate 'no-regression beyond noise' *"),
    ],
)
def test_a_mistake_ends_the_session_before_it_scores(three, webeval, arguments, message):
    result = webeval(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}"])
    assert three.written == []


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize("name", REMOVED)
def test_an_option_that_is_gone_names_its_successor(three, webeval, pytester, name):
    flag = f"--webeval-{name.replace('_', '-')}"
    for arguments in ([flag], [f"{flag}=none"]):
        result = webeval(*arguments)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"*: error: {flag} was removed; {REMOVED[name]}"])
    pytester.makeini(f"[pytest]\nwebeval_{name} = none")
    result = webeval()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: webeval_{name} was removed; {REMOVED[name]}"])


FILES = {
    "pytest.ini": "[pytest]\nwebeval_gate =\n    errors <= 0\n    must-pass 109\n",
    "tox.ini": "[pytest]\nwebeval_gate =\n    errors <= 0\n    must-pass 109\n",
    "setup.cfg": "[tool:pytest]\nwebeval_gate =\n    errors <= 0\n    must-pass 109\n",
    "pytest.toml": '[pytest]\nwebeval_gate = ["errors <= 0", "must-pass 109"]\n',
    "pyproject.toml": '[tool.pytest.ini_options]\nwebeval_gate = """errors <= 0\nmust-pass 109"""\n',
}


@pytest.mark.parametrize("name", FILES)
def test_gates_of_a_file_and_of_the_command_line_add_up(three, webeval, pytester, name):
    (pytester.path / name).write_text(FILES[name])
    webeval("-o", "webeval_gate=must-pass 107", "--webeval-gate=success >= 60%")
    assert [gate for gate, _ in gates(three)] == ["errors <= 0", "must-pass 109", "must-pass 107", "success >= 60%"]


def test_gates_in_addopts_are_those_of_a_file(three, webeval, pytester):
    pytester.makeini("[pytest]\naddopts = '--webeval-gate=must-pass 1'")
    webeval("-k", "[107]").stdout.fnmatch_lines(["gates not evaluated: -k selects some runs"])
    webeval("--webeval-gate=none", ".")
    assert "gates" not in three.summary["webeval"]


def test_gates_of_a_file_are_a_list(three, webeval, pytester):
    (pytester.path / "pytest.toml").write_text('[pytest]\nwebeval_gate = "errors <= 0"\n')
    result = webeval()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *'webeval_gate' expects a list *; write a list of gates"])


def test_a_word_drops_the_gates_of_a_file(three, webeval, pytester):
    (pytester.path / "pytest.ini").write_text(FILES["pytest.ini"])
    webeval()
    assert [gate for gate, _ in gates(three)] == ["errors <= 0", "must-pass 109"]
    assert webeval("--webeval-gate=none").ret == 1
    assert "gates" not in three.summary["webeval"]
    webeval("-owebeval_gate=none", "--webeval-gate=complete")
    assert gates(three) == [("complete", True)]


SELECTIONS = {
    "-k selects some runs": ["-k", "107"],
    "-m selects some runs": ["-m", "not webeval_site"],
    "--lf selects some runs": ["--lf"],
    "-x or --maxfail may score only some runs": ["-x"],
    "--stepwise selects some runs": ["--sw"],
    "--deselect selects all but some runs": ["--deselect=runs/107"],
    "arguments select some runs": ["runs/107"],
}


@pytest.mark.parametrize("selection", SELECTIONS)
def test_a_typed_gate_judges_all_runs(three, webeval, selection):
    result = webeval("--webeval-gate=errors <= 0", *SELECTIONS[selection])
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {selection}, --webeval-gate judges all; remove one"])
    assert three.written == []


def test_gates_of_a_file_are_not_evaluated_for_some_runs(three, webeval, pytester):
    pytester.makeini("[pytest]\nwebeval_gate = must-pass 1")
    result = webeval("-k", "[107]")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["gates not evaluated: -k selects some runs"])
    assert webeval("-k", "[108]").ret == 1
    for selecting in ("--maxfail=9", "-k 10"):  # which score all runs
        result = webeval(*selecting.split())
        assert result.ret == 1
        result.stdout.fnmatch_lines(["  FAIL  must-pass 1: *"])


def test_a_directory_of_a_killed_session_is_no_baseline(three, webeval, pytester):
    webeval("--webeval-output=killed")
    (pytester.path / "killed/eval_summary.json").unlink()
    assert webeval("--webeval-baseline=killed").ret == 1
    RowFile(pytester.path / "killed/eval_session.sqlite", time.time()).keep(next(iter(make_records(1))))
    result = webeval("--webeval-baseline=killed")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --webeval-baseline: *killed is partial; use a complete session"])


def test_tags_are_markers_that_a_conftest_adds(three, webeval, pytester):
    pytester.makeini("[pytest]\nmarkers = smoke")
    pytester.makeconftest("def pytest_collection_modifyitems(items):\n    items[0].add_marker('smoke')")
    assert webeval("--webeval-gate=success tag smoke >= 100%").ret == 0
    assert [row.get("tags") for row in three.summary["task_results"]] == [["smoke"], None, None]


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
    assert webeval(".", "runs", "--webeval-gate=errors <= 9").ret in (1, 2)


def test_missing_tasks_are_named(three, webeval, pytester):
    (pytester.path / "subset.json").write_text(json.dumps({"task_ids": [107, 110, 111]}))
    for more in ([], ["--webeval-require-all"]):
        result = webeval("--webeval-subset=subset.json", "--webeval-gate=complete", *more)
        assert result.ret == 1
        result.stdout.fnmatch_lines(["  FAIL  complete: wanted *; found 2 tasks without a run: 110, 111"])


def test_runs_without_expected_tasks_can_be_complete(tree, webeval):
    tree("a_good")
    result = webeval("--webeval-gate=complete")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["  pass  complete: * found 1 run scored"])
    tree("b_unjudged", scores=None)
    result = webeval("--webeval-gate=complete")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["  FAIL  complete: * found 1 run without a verdict: b_unjudged"])


def test_gates_stand_in_junit_xml_and_on_the_page_of_github(three, webeval, pytester, monkeypatch):
    page = pytester.path / "page.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    result = webeval("--webeval-gate=errors <= 0", "--webeval-gate=success >= 90%", "--junitxml=x.xml")
    suite = ET.parse(pytester.path / "x.xml").getroot().find("testsuite")
    properties = {entry.get("name"): entry.get("value") for entry in suite.find("properties")}
    assert properties["webeval_gate_1"] == "pass: errors <= 0: wanted at most 0 errors; found 0 errors"
    assert properties["webeval_gate_2"].startswith(
        "fail: success >= 90%: wanted at least 90% success; found 66.7% (2 of 3;"
    )
    assert "### Gates: 1 of 2 gates failed" in page.read_text()
    assert "| FAIL | <code>success &#62;= 90%</code> |" in page.read_text()
    result.stdout.fnmatch_lines(["::error title=webeval%3A runs::*; 1 of 2 gates passed"])


def test_the_tasks_without_success_become_a_subset(three, webeval, pytester):
    three.add(110, passes=False)
    shutil.rmtree(three.root / "108")
    (three.root / "109" / "network.har").write_text("{")
    result = webeval("--webeval-write-subset=again.json", "--webeval-require-all")
    path = pytester.path / "again.json"
    result.stdout.fnmatch_lines([f"subset of 3 tasks without success: {path}"])
    assert json.loads(path.read_bytes())["task_ids"] == [108, 109, 110]
    webeval("--webeval-subset=again.json").assert_outcomes(failed=1, errors=1, deselected=1)


def test_without_failures_no_subset_is_written(runs, webeval, pytester):
    runs.add(107)
    (pytester.path / "again.json").write_text("{}")
    webeval("--webeval-write-subset=again.json").stdout.fnmatch_lines(["no subset written, for all tasks succeeded: *"])
    assert (pytester.path / "again.json").read_text() == "{}"  # of somebody else, perhaps


@pytest.mark.whole
def test_gates_excuse_no_worker_that_crashed(three, webeval_apart, pytester):
    crash = "import os\ndef pytest_runtest_setup(item):\n    os._exit(1) if '108' in item.nodeid else None"
    (pytester.path / "conftest.py").write_text(crash)
    assert webeval_apart("--webeval-gate=errors <= 9", "-n2").ret == 1


def test_gates_without_a_scored_run_are_not_passed(three, webeval, pytester):
    pytester.makepyfile("def test_other(): pass")
    (pytester.path / "none.json").write_text('{"task_ids": [1]}')
    result = webeval(".", "runs", "--webeval-subset=none.json", "--webeval-gate=errors <= 9")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["gates not evaluated: no run was scored"])


def test_a_stopped_session_writes_what_is_left_as_a_subset(three, webeval, pytester):
    webeval("-x", "--webeval-write-subset=again.json")
    assert json.loads((pytester.path / "again.json").read_bytes())["task_ids"] == [108, 109]


def test_a_baseline_is_not_what_the_session_writes(three, webeval):
    webeval()
    result = webeval("--webeval-baseline=runs")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    problem = "ERROR: --webeval-baseline: this session writes */runs/eval_summary.json; copy it to another directory"
    result.stderr.fnmatch_lines([problem])


def test_a_baseline_may_be_a_directory_of_results(three, webeval, pytester):
    webeval("--webeval-output=before")
    again = ("--webeval-baseline=before", "--webeval-gate=no-regression", "--webeval-output=after")
    assert webeval(*again).ret == 0
    (pytester.path / "before" / "eval_summary.json").unlink()
    assert webeval(*again).ret == 0


NOISE = "--webeval-gate=no-regression beyond noise"


def test_a_baseline_of_other_tasks_is_refused(three, baseline, webeval, another_root):
    another_root("others").add(207)
    for task_id in (107, 108, 109):
        shutil.rmtree(three.root / str(task_id))
    result = webeval(f"--webeval-baseline={baseline}", "--webeval-runs=others")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --webeval-baseline: no common task; check the path"])
    assert three.written == []


@pytest.mark.parametrize(("more", "count"), [([], 2), ([1, 2, 3, 4], 2)], ids=["at_start", "after_collection"])
def test_a_gate_that_cannot_fail_is_refused(three, baseline, webeval, more, count):
    summary = json.loads(baseline.read_bytes())
    row = next(row for row in summary["task_results"] if row["status"] == "success")
    summary["task_results"] += [row | {"task_id": number, "run": f"runs/{number}"} for number in more]
    baseline.write_text(json.dumps(summary))
    result = webeval(f"--webeval-baseline={baseline}", NOISE)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    reason = f"{count} common tasks succeeded in the baseline, 6 regressions needed; use no-regression"
    result.stderr.fnmatch_lines([f"ERROR: gate 'no-regression beyond noise' cannot fail: {reason}"])
    assert not (three.root / "eval_summary.json").exists()


@pytest.mark.whole
def test_under_xdist_a_baseline_of_other_tasks_fails_the_gate(three, baseline, webeval_apart, another_root):
    another_root("others").add(207)
    for task_id in (107, 108, 109):
        shutil.rmtree(three.root / str(task_id))
    options = [f"--webeval-gate={gate}" for gate in GATES]
    result = webeval_apart(f"--webeval-baseline={baseline}", "--webeval-runs=others", *options, "-n2")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["  FAIL  no-regression: * found no common task; check the path", "  pass  success >= 60%: *"]
    )


def test_a_report_replaces_no_summary_of_another_session(three, webeval, pytester):
    webeval("--webeval-output=before")
    result = webeval("--webeval-output=after", "--webeval-report=before")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*before/eval_summary.json is the summary of another session; choose a separate*"])
