"""Run roots are data: what lies in one is neither imported nor obeyed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_webeval.recordings.recording_state import STATE

PLANTED = ("", "/tests")  # of those that are planted, the ones that pytest would import for the roots
MARKED = "import pathlib\npathlib.Path({marker!r}).write_text('obeyed')\n"


@pytest.fixture
def marker(pytester):
    return pytester.path / "obeyed.txt"


@pytest.fixture
def planted(runs, marker):
    """Runs 107 and 108 with everything in and around them that pytest would like to import or obey."""
    path = runs.add(107)
    runs.add(108, passes=False)
    code = MARKED.format(marker=str(marker))
    folders = (runs.root, runs.root / "tests", path, path / "tests", path / "test_data")
    for folder in folders:
        folder.mkdir(exist_ok=True)
        for name in ("conftest.py", "test_x.py", "__init__.py"):
            (folder / name).write_text(code)
    for folder in (runs.root, path):
        (folder / "run_config.json").write_text(json.dumps({"rules": "reference"}))
    (path / "eval_result.json").write_text('{"status": "success", "score": 1.0}')
    return runs


@pytest.mark.parametrize("argument", [None, "runs", "runs/107", "runs/107::task", "runs/../runs/107"])
def test_planted_code_does_not_run(planted, webeval, marker, argument):
    given = () if argument is None else (argument,)
    result = webeval(*given)
    assert result.parseoutcomes()["passed"] == 1
    assert not marker.exists()
    assert planted.result(107)["webeval"]["rules"] == "strict"


@pytest.mark.parametrize(
    ("options", "count"), [((), 1), (("--webeval-runs=runs",), 2), (("--webeval-record=live",), 1)]
)
def test_code_in_a_recording_of_another_session_does_not_run(runs, another_root, pytester, marker, options, count):
    runs.add(108)
    path = another_root("old").add(107)
    (path / STATE).write_text("{}")
    for file in ("conftest.py", "test_x.py", "__init__.py"):
        (path / file).write_text(MARKED.format(marker=str(marker)))
    pytester.makepyfile(test_mine="def test_mine(): pass")
    pytester.runpytest(".", *options).assert_outcomes(passed=count)
    assert not marker.exists()


@pytest.mark.parametrize("argument", [pytest.param(None, marks=pytest.mark.whole), "runs/107"])
def test_planted_code_does_not_run_in_a_worker(planted, webeval_apart, marker, argument):
    given = () if argument is None else (argument,)
    result = webeval_apart("-n2", *given)
    assert result.parseoutcomes()["passed"] == 1
    assert not marker.exists()


def test_a_symlink_to_the_root_is_a_root(planted, pytester, marker):
    (pytester.path / "link").symlink_to(planted.root)
    result = pytester.runpytest("--webeval-runs=link", "link/107")
    assert result.parseoutcomes()["passed"] == 1
    assert not marker.exists()


@pytest.mark.parametrize("name", ["pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml"])
@pytest.mark.parametrize("argument", ["runs", "runs/107"])
def test_a_planted_ini_file_that_pytest_would_obey_is_refused_by_name(planted, webeval, pytester, argument, name):
    header = {"pyproject.toml": "[tool.pytest]", "setup.cfg": "[tool:pytest]"}.get(name, "[pytest]")
    (pytester.path / argument / name).write_text(f"{header}\nwebeval_rules = 'reference'\n")
    result = webeval(argument)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    problem = f"configuration inside a run root is not trusted: */{argument}/{name}"
    result.stderr.fnmatch_lines([f"ERROR: {problem}; name another configuration file with -c"])
    assert webeval().parseoutcomes()["passed"] == 1
    assert planted.result(107)["webeval"]["rules"] == "strict"


def test_a_session_started_behind_a_link_to_the_root_imports_nothing(planted, pytester, marker, monkeypatch):
    (pytester.path / "link").symlink_to(planted.root)
    monkeypatch.chdir(pytester.path / "link" / "107")
    result = pytester.runpytest(f"--webeval-runs={pytester.path / 'link'}", f"--rootdir={pytester.path}")
    assert result.parseoutcomes()["passed"] == 1
    assert not marker.exists()


@pytest.mark.parametrize("workers", [(), pytest.param(("-n2",), marks=pytest.mark.whole)])
@pytest.mark.parametrize("inside", [".", "107"])
def test_a_session_started_inside_the_root_imports_nothing(planted, pytester, marker, monkeypatch, inside, workers):
    (pytester.path / "mine.ini").write_text("[pytest]\n")
    monkeypatch.chdir(planted.root / inside)
    where = f"--webeval-runs={planted.root}"
    result = pytester.runpytest_subprocess("-c", str(pytester.path / "mine.ini"), where, *workers)
    assert result.parseoutcomes()["passed"] == 1
    assert not marker.exists()


@pytest.mark.whole
@pytest.mark.thinned(every=4)
@pytest.mark.parametrize("name", ["keyword", "traceback", "collections", "msgspec"])
def test_a_worker_started_inside_a_run_imports_none_of_its_modules(runs, pytester, marker, name):
    path = runs.add(107)
    (path / f"{name}.py").write_text(MARKED.format(marker=str(marker)))
    pytester.makefile(".ini", mine="[pytest]\n")
    pytester.makepyfile(test_start="import os\ndef test_start(): assert 'PYTHONSAFEPATH' not in os.environ\n")
    options = "-c", str(pytester.path / "mine.ini"), "-n2", f"--webeval-runs={runs.root}"
    program = Path(sys.executable).with_name("pytest")  # python -m pytest itself imports from the directory
    command = [program, *options, pytester.path / "test_start.py", runs.root]
    done = subprocess.run(command, cwd=path, capture_output=True, text=True, check=False)  # pytester adds a path
    assert "2 passed" in done.stdout
    assert not marker.exists()


def test_a_conftest_above_the_root_is_the_users_and_obeyed(planted, webeval, pytester, marker):
    pytester.makeconftest(MARKED.format(marker=str(marker)))
    assert webeval().parseoutcomes()["passed"] == 1
    assert marker.exists()


@pytest.mark.unchecked_files("an agent planted a result")
def test_python_tests_in_a_run_root_are_no_tests(planted, webeval):
    ids = [line for line in webeval("--co", "-q").outlines if "::" in line]
    assert ids
    assert all(one.endswith("::task") for one in ids)


def test_a_link_that_leads_out_of_the_root_is_an_error_and_not_followed(runs, webeval, another_root):
    runs.add(107)
    elsewhere = another_root("elsewhere")
    (runs.root / "108").symlink_to(elsewhere.add(108), target_is_directory=True)
    result = webeval()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*108 is a link to a target outside the run root; copy the directory here*"])
    assert runs.counts == (1, 0, 1)
    assert elsewhere.written == []


@pytest.mark.unchecked_files("the result lies in a directory of its own")
def test_the_result_of_a_link_out_says_nothing_of_where_it_leads(runs, webeval, another_root, tmp_path):
    for attempt in ("a", "b"):  # whose names make a line of the terminal, for which all runs are loaded
        runs.add(107, name=f"{attempt}/107", defined=attempt == "a")
    (runs.root / "a" / "108").symlink_to(another_root("elsewhere").add(108), target_is_directory=True)
    webeval(f"--webeval-output={tmp_path / 'out'}").assert_outcomes(passed=2, errors=1)
    result = json.loads((tmp_path / "out" / "a" / "108" / "eval_result.json").read_bytes())
    assert (result["webeval"]["format"], result["webeval"]["inputs"]) == ("unknown", {})


@pytest.mark.parametrize(
    "replace",
    [lambda path: path.symlink_to("107"), lambda path: path.symlink_to("."), lambda path: path.touch(), os.mkfifo],
    ids=["sibling", "root", "file", "pipe"],
)
def test_what_has_taken_the_place_of_a_run_is_an_error(runs, webeval, replace):
    runs.add(107)
    shutil.rmtree(runs.add(108))
    replace(runs.root / "108")
    webeval().assert_outcomes(passed=1, errors=1)
    assert {row["run"]: row["status"] for row in runs.summary["task_results"]} == {
        "runs/107": "success",
        "runs/108": "error",
    }
    assert runs.result(107)["task_id"] == 107


def test_what_has_taken_the_place_of_a_run_can_be_ignored(runs, webeval):
    runs.add(107)
    runs.add(108).rename(runs.root / "moved")
    (runs.root / "108").touch()
    webeval("--ignore=runs/108", "--ignore=runs/moved").assert_outcomes(passed=1)


def test_another_name_of_the_run_of_a_task_is_none(runs, webeval):
    runs.add(107, name="1/107")
    (runs.root / "latest").mkdir()
    (runs.root / "latest/107").symlink_to("../1/107")
    webeval().assert_outcomes(passed=1)


def test_what_lies_behind_a_link_is_not_imported_either(runs, webeval, another_root, marker):
    runs.add(107)
    elsewhere = another_root("elsewhere")
    (elsewhere.add(108) / "conftest.py").write_text(MARKED.format(marker=str(marker)))
    (runs.root / "108").symlink_to(elsewhere.root / "108", target_is_directory=True)
    webeval().assert_outcomes(passed=1, errors=1)
    assert not marker.exists()


@pytest.mark.parametrize("kind", ["file", "link", "pipe", "folder", "dangling"])
def test_a_conftest_of_any_kind_is_not_imported(runs, webeval, pytester, marker, kind):
    path = runs.add(107) / "conftest.py"
    code = pytester.path / "code.txt"
    code.write_text(MARKED.format(marker=str(marker)))
    makes = {
        "file": lambda: path.write_text(code.read_text()),
        "link": lambda: path.symlink_to(code),
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
        "dangling": lambda: path.symlink_to("nowhere"),
    }
    makes[kind]()
    webeval().assert_outcomes(passed=1)
    assert not marker.exists()


def test_only_a_directory_with_a_conftest_costs_a_plugin(runs, webeval, pytester, planted):
    runs.add(109)
    pytester.makeconftest(
        """
        import pathlib
        def pytest_collection_finish(session):
            root = str(pathlib.Path(__file__).parent / "runs")
            names = [name for name, _ in session.config.pluginmanager.list_name_plugin() if name.startswith(root)]
            assert sorted(name.removeprefix(root) for name in names) == PLANTED
        """.replace("PLANTED", str(sorted(f"{place}/conftest.py" for place in PLANTED)))
    )
    webeval().assert_outcomes(passed=2, failed=1)


def test_a_linked_result_does_not_lead_the_bytes_elsewhere(runs, webeval, pytester):
    path = runs.add(107)
    precious = pytester.path / "precious.txt"
    precious.write_text("mine")
    (path / "eval_result.json").symlink_to(precious)
    webeval().assert_outcomes(passed=1)
    assert precious.read_text() == "mine"
    assert runs.result(107)["status"] == "success"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest.ini", "[pytest]\nwebeval_runs = 'runs'\n"),
        ("pytest.ini", "[pytest]\nwebeval_runs =\n    elsewhere\n    runs\n"),
        ("tox.ini", "[pytest]\nwebeval_runs = runs\n"),
        ("setup.cfg", "[tool:pytest]\nwebeval_runs = runs\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\nwebeval_runs = 'runs'\n"),
        ("pyproject.toml", "[tool.pytest]\nwebeval_runs = ['runs']\n"),
        ("pytest.toml", "[pytest]\nwebeval_runs = ['runs']\n"),
    ],
)
@pytest.mark.parametrize("planted_ini", ["[pytest]\n", "[pytest]\nwebeval_runs = /nowhere\n"])
@pytest.mark.unchecked_files("an agent planted a result")
def test_an_ini_file_of_a_recording_does_not_hide_that_of_the_project(
    planted, pytester, marker, name, text, planted_ini
):
    (pytester.path / name).write_text(text)
    (planted.root / "107" / "pytest.ini").write_text(planted_ini)
    result = pytester.runpytest("runs/107")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    problem = "configuration inside a run root is not trusted: */runs/107/pytest.ini lies in */runs"
    result.stderr.fnmatch_lines([f"ERROR: {problem}; name the configuration file in {pytester.path} with -c"])
    assert not marker.exists()


@pytest.mark.parametrize("text", ["tool = 5\nwebeval_runs = 1", "[tool]\npytest = []\nwebeval_runs = 1"])
def test_a_toml_file_of_another_shape_names_no_run_root(pytester, text):
    (pytester.path / "pyproject.toml").write_text(text)
    inner = pytester.mkdir("inner")
    (inner / "pytest.ini").write_text("[pytest]\n")
    (inner / "test_a.py").write_text("def test_a(): pass\n")
    pytester.runpytest("inner").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "text", ["[pytest]\nwebeval_runs = other\n", "[pytest]\n# webeval_runs\n", "webeval_runs = ]["]
)
def test_an_ini_file_of_a_project_within_a_project_is_obeyed(pytester, text):
    (pytester.path / "tox.ini").write_text(text)
    inner = pytester.mkdir("inner")
    (inner / "pytest.ini").write_text("[pytest]\n")
    (inner / "test_a.py").write_text("def test_a(): pass\n")
    pytester.runpytest("inner").assert_outcomes(passed=1)


def test_a_configuration_file_that_nobody_may_read_is_passed_over(pytester):
    (pytester.path / "setup.cfg").mkdir()
    (pytester.path / "tox.ini").symlink_to("tox.ini")
    (pytester.path / "pyproject.toml").symlink_to("/proc/self/mem")
    inner = pytester.mkdir("inner")
    (inner / "pytest.ini").write_text("[pytest]\n")
    (inner / "test_a.py").write_text("def test_a(): pass\n")
    pytester.runpytest("inner").assert_outcomes(passed=1)
