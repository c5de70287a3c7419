"""Directories and files that a user may not read, or that are gone: errors of one line, and no end of the session."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support import recorded
from tests.support.sessions import PLAIN
from tests.support.unprivileged import MAY_NOT_READ, NOBODY, prefix

WORKERS = pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=pytest.mark.whole)], ids=["serial", "parallel"]
)


@pytest.fixture
def session(pytester):
    """Runs pytest in a process that may read only what modes allow, from the directory of the session."""
    command = (*prefix(*MAY_NOT_READ), sys.executable, "-m", "pytest", *PLAIN)
    return lambda *arguments: pytester.run(*command, *arguments)


@pytest.fixture
def locked():
    """Takes away all rights, or leaves those of a mode; gives them back at the end."""
    before: list[tuple[Path, int]] = []

    def lock(path, mode=0):
        before.append((path, path.stat().st_mode))
        path.chmod(mode)

    yield lock
    for path, mode in reversed(before):
        if path.exists():
            path.chmod(mode)


def reasons(runs):
    """Why each run is no success, with the run root left out."""
    rows = runs.summary["task_results"]
    found = {row["run"].removeprefix("runs/"): row for row in rows if row["status"] != "success"}
    return {name: (row["status"], row["reason"].replace("runs/", "", 1)) for name, row in found.items()}


@pytest.fixture
def forbidden(runs, locked):
    """Healthy runs among those that nobody may read, or not all of."""
    for number in (107, 301):
        runs.add(number)
    runs.add(302, passes=False)
    for number in (201, 202, 203, 204, 205):
        runs.add(number)
    folder = runs.root / "205/trace"
    (runs.root / "205/network.har").unlink()
    folder.mkdir()
    (folder / "trace.network").write_text("{}\n")
    runs.add(206, name="nested/206")
    for name in ("whole", "judged"):
        recorded.write(runs.root / recorded.RUN / name)
    places = {"201": 0, "202": 0o444, "203/agent_response.json": 0, "204/network.har": 0, "205/trace": 0, "nested": 0}
    places |= {f"{recorded.RUN}/whole": 0, f"{recorded.RUN}/judged/scores": 0}
    for place, mode in places.items():
        locked(runs.root / place, mode)
    return runs


DENIED = "Permission denied; "
EXPECTED = {
    "201": f"cannot list 201: {DENIED}make it readable",
    "202": f"cannot read 202/agent_response.json: {DENIED}check that it is a readable regular file",
    "203": f"cannot read 203/agent_response.json: {DENIED}check that it is a readable regular file",
    "204": f"cannot read 204/network.har: {DENIED}check that it is a readable regular file",
    "205": f"cannot list 205/trace: {DENIED}make it readable",
    "nested": f"cannot list nested: {DENIED}make it readable",
    f"{recorded.RUN}/whole": f"cannot list {recorded.RUN}/whole: {DENIED}make it readable",
    f"{recorded.RUN}/judged": f"RubricEvaluator: cannot list {recorded.RUN}/judged/scores: {DENIED}make it readable",
}


@WORKERS
def test_what_nobody_may_read_is_an_error_of_one_line_and_all_others_are_scored(forbidden, session, workers):
    result = session("--webeval-runs=runs", *workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    found = reasons(forbidden)
    assert found.pop("302")[0] == "failure"
    assert found == {name: ("error", reason) for name, reason in EXPECTED.items()}
    assert forbidden.counts == (2, 1, len(EXPECTED))
    assert not [name for name in forbidden.written if name.startswith(("201/", "202/", "nested/"))]
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*INTERNALERROR*")


@pytest.mark.whole
def test_a_run_is_selected_by_its_node_id_whether_or_not_it_can_be_read(forbidden, session, pytester):
    pytester.makeini("[pytest]")
    ini = ("-c", "tox.ini", "--webeval-runs=runs")
    session(*ini, "runs/201::task", "runs/202").assert_outcomes(errors=2)
    assert set(reasons(forbidden)) == {"201", "202"}
    session(*ini, "-k", "[201] or [107]", "--deselect=runs/107::task").assert_outcomes(errors=1, deselected=10)


@pytest.mark.whole
def test_with_an_output_directory_each_error_has_its_result_there(forbidden, session, pytester):
    session("--webeval-runs=runs", "--webeval-output=out", "--webeval-report=report", "--html=page.html")
    for name, reason in EXPECTED.items():
        found = json.loads((pytester.path / "out" / name / "eval_result.json").read_bytes())
        told = json.dumps(found).replace(" runs/", " ")
        assert (found["status"], reason.removeprefix("RubricEvaluator: ") in told) == ("error", True), name
    assert forbidden.written == []
    assert (pytester.path / "report/index.html").exists()


CHANGES = """
import shutil
import sys
import pytest

def pytest_webeval_recognize(path, config):
    if path.name == "1" and "-n2" not in sys.argv and not hasattr(config, "workerinput"):
        shutil.rmtree(path.parent / "2")  # which is listed next
    if path.name == "3":
        path.chmod(0)

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    root = item.config.rootpath / "runs"
    shutil.rmtree(root / "4", ignore_errors=True)
    (root / "5/agent_response.json").unlink(missing_ok=True)
    (root / "6").chmod(0)
"""


@pytest.mark.whole
@WORKERS
def test_what_vanishes_or_is_locked_while_the_session_runs_is_an_error(runs, session, pytester, workers, locked):
    for number in (1, 2, 3, 4, 5, 6, 8):
        runs.add(number)
    for number in (3, 6):
        locked(runs.root / str(number), 0o755)
    pytester.makeconftest(CHANGES)
    session("--webeval-runs=runs", *workers)
    found = {name: reason.replace("runs/", "", 1) for name, reason in runs.reasons.items()}
    denied = "Permission denied; check that it is a readable directory"
    assert found.pop("3") in (f"cannot open 3: {denied}", "cannot list 3: Permission denied; make it readable")
    if not workers:
        assert found.pop("2") == "cannot list 2: No such file or directory; make it readable"
    assert found == {
        "4": "cannot open 4: No such file or directory; check that it is a readable directory",
        "5": "missing file: 5/agent_response.json; add it, or remove the run",
        "6": f"cannot open 6: {denied}",
    }
    assert runs.counts == ((3, 0, 4) if workers else (2, 0, 5))
    assert [(runs.root / name).exists() for name in ("2", "4")] == [bool(workers), False]


def test_a_run_that_vanishes_while_it_is_scored_is_not_made_again(runs, webeval, pytester):
    path = runs.add(107)
    runs.add(108)
    pytester.makeconftest(
        """
        import shutil
        import pytest
        @pytest.fixture
        def webeval_evaluators(webeval_evaluators, webeval_run):
            if webeval_run.task_id == 107:
                webeval_run.response, webeval_run.trace
                shutil.rmtree(webeval_run.path)
            return webeval_evaluators
        """
    )
    webeval().assert_outcomes(passed=1, failed=1)
    told = f"cannot write {path}/eval_result.json: the run was removed during the session"
    assert runs.reasons == {"107": f"{told}; restore it or choose another directory with --webeval-output"}
    assert not path.exists()


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize("mode", [0, 0o444, 0o111])
def test_a_run_root_that_nobody_may_read_is_a_usage_error_of_one_line(runs, session, locked, mode):
    runs.add(107)
    locked(runs.root, mode)
    result = session("--webeval-runs=runs")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    told = f"ERROR: --webeval-runs: cannot read {runs.root}: Permission denied; make it readable"
    assert [line for line in result.errlines if line] == [told]


def test_a_run_root_behind_a_locked_directory_is_a_usage_error(pytester, session, locked):
    (pytester.path / "above/runs").mkdir(parents=True)
    locked(pytester.path / "above")
    result = session("--webeval-runs=above/runs")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    told = f"ERROR: --webeval-runs: directory not found: {pytester.path}/above/runs; pass the directory of the"
    assert [line for line in result.errlines if line] == [f"{told} recorded runs"]


@pytest.mark.whole
def test_python_tests_over_runs_are_errors_for_what_nobody_may_list(runs, session, pytester, locked):
    runs.add(107)
    path = runs.add(108)
    locked(path)
    test = pytester.makepyfile(test_it="def test_it(webeval_run): assert webeval_run.task_id == 107")
    session("--webeval-runs=runs", test).assert_outcomes(passed=1, errors=1)
    assert runs.reasons == {"108": "cannot list runs/108: Permission denied; make it readable"}


def test_the_list_of_secrets_names_what_nobody_may_list(runs, session, locked):
    runs.add(107)
    path = runs.add(108)
    locked(path)
    result = session("--webeval-runs=runs", "--webeval-audit-secrets")
    result.stdout.fnmatch_lines([f"runs/108: not read: cannot list {path}: Permission denied; make it readable"])
    result.stdout.fnmatch_lines(["0 secrets in 0 of 1 run"])


def test_a_link_to_where_nobody_may_look_is_an_error(runs, session, locked, pytester):
    runs.add(107)
    private = pytester.mkdir("private")
    (private / "108").mkdir()
    (runs.root / "108").symlink_to(private / "108")
    locked(private)
    session("--webeval-runs=runs").assert_outcomes(passed=1, errors=1)
    assert runs.reasons == {"108": "runs/108 is a link without a target; remove it"}


@pytest.fixture
def public(runs):
    """A copy of the runs where any user may look."""
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        place.chmod(0o777)
        yield place


@pytest.mark.whole
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@WORKERS
def test_runs_of_another_user_are_errors_and_all_others_are_scored(runs, public, workers):
    command = (*prefix(*NOBODY), sys.executable)
    probe = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', 'import pytest_webeval']))"
    if subprocess.run((*command, "-c", probe), cwd=public, check=False, capture_output=True).returncode and workers:
        pytest.skip("another user may not use this Python")
    for number in (107, 108):
        runs.add(number)
    shutil.copytree(runs.root, public / "runs")
    (public / "runs/108").chmod(0o700)
    arguments = ("-m", "pytest", *PLAIN, "--webeval-runs=runs", "--webeval-output=out", *workers)
    ended = subprocess.run((*command, *arguments), cwd=public, check=False, capture_output=True, text=True)
    assert ended.returncode == pytest.ExitCode.TESTS_FAILED, ended.stdout + ended.stderr
    summary = json.loads((public / "out/eval_summary.json").read_bytes())
    found = {row["run"]: (row["status"], row["reason"]) for row in summary["task_results"]}
    denied = "cannot list runs/108: Permission denied; make it readable"
    assert found == {"runs/107": ("success", None), "runs/108": ("error", denied)}
