"""What a session cannot write to is said before it scores anything, and nothing is said to be written that is not."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from pytest_webeval import storage as writing
from tests.support.default_run import first_by_default

DIRECTORIES = ("--webeval-output", "--webeval-metrics", "--webeval-report")
# Root may write anywhere: without these, it is as any other user is.
AS_USER = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


@pytest.fixture
def as_user(pytester, runs):
    """A session of a user to whom permissions apply."""
    if shutil.which("setpriv") is None:
        pytest.skip("no setpriv on this machine")

    def session(*options):
        command = (*AS_USER, sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--webeval-runs={runs.root}")
        return subprocess.run([*command, *options], cwd=pytester.path, capture_output=True, text=True, check=False)

    return session


@pytest.mark.parametrize("option", DIRECTORIES)
def test_a_path_below_a_file_is_refused_at_the_start(pytester, runs, webeval, option):
    runs.add(107)
    (pytester.path / "taken").write_text("mine")
    path = pytester.path / "taken" / "out"
    result = webeval(f"{option}={path}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{option}: cannot write into {path}: Not a directory; choose another directory"])
    assert runs.written == []


def test_an_output_directory_that_is_a_file_is_refused_at_the_start(pytester, runs, webeval):
    runs.add(107)
    path = pytester.path / "taken"
    path.write_text("mine")
    result = webeval(f"--webeval-output={path}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    told = f"--webeval-output: cannot write into {path}: Not a directory; choose another directory"
    result.stderr.fnmatch_lines([f"*{told}"])
    assert path.read_text() == "mine"


def test_a_metrics_file_that_is_a_directory_is_refused_at_the_start(pytester, runs, webeval):
    runs.add(107)
    result = webeval(f"--webeval-gitlab-metrics={pytester.path}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    told = f"--webeval-gitlab-metrics: cannot write {pytester.path}: Is a directory; choose another file"
    result.stderr.fnmatch_lines([f"*{told}"])


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize("processes", [(), pytest.param(("-n2",), marks=pytest.mark.whole)])
@pytest.mark.parametrize("option", DIRECTORIES)
def test_a_directory_that_the_user_may_not_write_is_refused_at_the_start(pytester, runs, as_user, option, processes):
    runs.add(107)
    closed = pytester.mkdir("closed")
    closed.chmod(0o555)
    done = as_user(f"{option}={closed / 'out'}", *processes)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    told = f"{option}: cannot write into {closed / 'out'}: Permission denied; choose another directory"
    assert [line for line in done.stderr.splitlines() if told in line]
    assert runs.written == []


@pytest.mark.whole
def test_a_run_root_that_the_user_may_not_write_needs_an_output_directory(pytester, runs, as_user):
    runs.add(107)
    runs.root.chmod(0o555)
    done = as_user()
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    advice = "choose a directory for the results with --webeval-output"
    assert f"--webeval-runs: cannot write into {runs.root}: Permission denied; {advice}\n" in done.stderr
    assert as_user("--collect-only").returncode == pytest.ExitCode.OK
    assert as_user(f"--webeval-output={pytester.path / 'out'}").returncode == pytest.ExitCode.OK


@pytest.mark.thinned(every=2)
@pytest.mark.parametrize(
    "option",
    first_by_default(
        [
            "--collect-only",
            "--setup-plan",
            "--setup-only",
            "--fixtures",
            "--fixtures-per-test",
            "--markers",
            "--help",
            "--version",
            "--cache-show",
            "--webeval-audit-secrets",
        ],
        2,
    ),
)
def test_what_writes_nothing_is_not_refused(runs, as_user, option):
    runs.add(107)
    runs.root.chmod(0o555)
    done = as_user("-p", "cacheprovider", option)
    assert (done.returncode, done.stderr) == (pytest.ExitCode.OK, "")


@pytest.mark.parametrize("option", ["--help", "--markers", "--webeval-audit-secrets"])
def test_what_writes_nothing_leaves_the_report_of_an_earlier_session(runs, webeval, pytester, option):
    runs.add(107)
    webeval("--webeval-report=report")
    before = sorted(path.name for path in pytester.path.glob("report/**/*"))
    webeval("--webeval-report=report", option)
    assert sorted(path.name for path in pytester.path.glob("report/**/*")) == before
    assert "index.html" in before


def test_no_line_says_that_a_summary_was_written_when_it_was_not(runs, webeval, monkeypatch):
    runs.add(107)
    opened = writing._open_temporary

    def full(path, parent, sync):
        if path.name.startswith(".eval_summary.json."):
            raise OSError(28, "No space left on device")
        return opened(path, parent, sync)

    monkeypatch.setattr(writing, "_open_temporary", full)
    result = webeval()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    place = runs.root / "eval_summary.json"
    lines = [line for line in result.outlines if str(place) in line]
    assert lines == []
    told = f"cannot write the summary to {runs.root}; free some space and rerun with --webeval-reuse"
    assert f"disk full (No space left on device): {told}" in result.outlines


@pytest.mark.parametrize("place", ["runs/107", "runs/107/results"])
@pytest.mark.parametrize("option", ["--webeval-output", "--webeval-judge-replies"])
def test_an_output_or_replies_in_a_recording_are_refused(runs, webeval, place, option):
    path = runs.add(107)
    if option == "--webeval-judge-replies":  # which must be there
        (path / "results").mkdir()
    result = webeval(f"{option}={place}", "--webeval-judge=m")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {option}: *runs/107 is a recorded run; choose a separate directory"])


def test_a_link_to_replies_in_a_recording_is_refused(runs, webeval, pytester):
    (runs.add(107) / "replies").mkdir()
    (pytester.path / "link").symlink_to(runs.root / "107/replies")
    result = webeval("--webeval-judge-replies=link", "--webeval-judge=m")
    result.stderr.fnmatch_lines(["ERROR: --webeval-judge-replies: *runs/107 is a recorded run; choose *"])


@pytest.mark.parametrize("is_root", [False, True])
def test_replies_that_lie_in_a_recording_because_the_session_does_are_refused(runs, pytester, is_root):
    run = runs.add(107)
    where = f"--webeval-runs={run if is_root else runs.root}"
    result = pytester.runpytest_subprocess(f"--rootdir={run}", where, "--webeval-judge=m")
    result.stderr.fnmatch_lines(["ERROR: --webeval-judge-replies: *runs/107 is a recorded run; choose *"])


def test_an_output_in_a_root_that_is_a_recording_is_allowed(runs, pytester):
    path = runs.add(107)
    pytester.runpytest(
        "--webeval-runs=runs/107", "--webeval-tasks=runs/tasks.json", "--webeval-output=runs/107/results"
    )
    assert (path / "results/eval_result.json").exists()


def test_an_empty_path_is_refused(runs, webeval):
    runs.add(107)
    result = webeval("--webeval-output=")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: invalid --webeval-output ''; use a path"])
