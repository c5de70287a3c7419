"""A full disk is said once, in one line with what is missing, and nothing is said to be written that is not."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_webeval.plugin.workspace import WORKSPACE
from pytest_webeval.sessions.full_disk import FullDisk
from pytest_webeval.summary.store.row_database import is_unfinished

WORKERS = pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=pytest.mark.whole)], ids=["serial", "spread"]
)
NO_SPACE = "No space left on device"
ADVICE = "free some space and rerun with --webeval-reuse"
SHORT = f"disk full: eval_result.json was not written ({NO_SPACE})"
# A conftest.py for which there is no room for files whose path has one of these texts in it.
FULL = """
import errno, os
write = os.write
def full(handle, content):
    try:
        path = os.readlink(f"/proc/self/fd/{{handle}}")
    except OSError:
        path = ""
    if any(text in path for text in {texts!r}):
        if len(content) > 20:
            return write(handle, content[:20])  # of which a part still fits
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return write(handle, content)
os.write = full
if "eval_session.sqlite" in {texts!r}:
    from pytest_webeval.summary.store import row_file
    connect = row_file._connect
    def connect_full(path):
        connection = connect(path)
        connection.execute("PRAGMA max_page_count=1")
        return connection
    row_file._connect = connect_full
"""


@pytest.fixture
def full(pytester):
    """Lets the disk be full for files whose path has one of the texts in it."""

    def fill(*texts):
        (pytester.path / "conftest.py").write_text(FULL.format(texts=texts))

    return fill


@pytest.fixture
def make_room(pytester):
    """Lets every file be written again."""
    return (pytester.path / "conftest.py").unlink


def said(result):
    """The lines of the terminal about a disk that is full, and those about files that were written."""
    starts = ("disk full (", "cannot write", "summary: ", "report: ")
    return [line for line in result.outlines if line.startswith(starts)]


@WORKERS
def test_a_full_disk_is_said_once_with_what_could_not_be_written(
    runs, webeval_apart, pytester, full, make_room, workers
):
    for number in (107, 108, 109):
        runs.add(number)
    full("/out/")
    options = ("--webeval-output=out", "--webeval-report=out/report", *workers)
    result = webeval_apart(*options)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(failed=3)
    out = pytester.path / "out"
    missing = "3 results, 3 pages, the summary and the report"
    assert said(result) == [f"disk full ({NO_SPACE}): cannot write {missing} to {out}; {ADVICE}"]
    result.stdout.no_fnmatch_line("*--webeval-output")
    assert [line.rpartition(": ")[0] for line in result.outlines if line.startswith("      3  ")] == [
        "      3  error: disk full"
    ]
    assert not [path for path in out.rglob("*") if path.is_file() and not path.name.startswith("eval_session")]
    make_room()
    result = webeval_apart("--webeval-reuse", *options)
    result.assert_outcomes(passed=3)
    assert said(result) == [f"summary: {out}/eval_summary.json", f"report: {out}/report/index.html"]


@WORKERS
def test_each_run_without_room_is_an_error_with_the_same_short_text(runs, webeval_apart, full, workers):
    for number in (107, 108, 109):
        runs.add(number)
    full("108/.eval_result", "109/.eval_result")
    result = webeval_apart(*workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, failed=2)
    assert runs.counts == (1, 0, 2)
    assert runs.reasons == {"108": SHORT, "109": SHORT}
    told = f"disk full ({NO_SPACE}): cannot write 2 results to {runs.root}; {ADVICE}"
    assert said(result) == [f"summary: {runs.root}/eval_summary.json", told]


@pytest.mark.whole
@WORKERS
def test_one_result_without_room_is_counted_as_one(runs, webeval_apart, full, workers):
    runs.add(107)
    runs.add(108)
    full("107/.eval_result")
    told = f"disk full ({NO_SPACE}): cannot write 1 result to {runs.root}; {ADVICE}"
    assert told in webeval_apart(*workers).outlines


@pytest.mark.whole
@WORKERS
def test_a_summary_without_room_is_made_from_the_results_by_the_next_session(
    runs, webeval_apart, full, make_room, workers
):
    runs.add(107)
    runs.add(108)
    full("eval_summary.json")
    result = webeval_apart(*workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=2)
    assert said(result) == [f"disk full ({NO_SPACE}): cannot write the summary to {runs.root}; {ADVICE}"]
    make_room()
    result = webeval_apart("--webeval-reuse", *workers)
    result.stdout.fnmatch_lines(["reused: 2 of 2 results taken from an earlier session"])
    assert result.ret == pytest.ExitCode.OK
    assert runs.counts == (2, 0, 0)


@pytest.mark.whole
@WORKERS
def test_a_report_without_room_keeps_the_rows_for_the_next_session(
    runs, webeval_apart, pytester, full, make_room, workers
):
    runs.add(107)
    full("index.html")
    result = webeval_apart("--webeval-report=report", *workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert said(result) == [
        f"summary: {runs.root}/eval_summary.json",
        f"disk full ({NO_SPACE}): cannot write the report to {pytester.path}/report; {ADVICE}",
    ]
    make_room()
    result = webeval_apart("--webeval-reuse", "--webeval-report=report", *workers)
    result.stdout.fnmatch_lines(["reused: 1 of 1 result taken from an earlier session"])
    assert not is_unfinished(runs.root / "eval_session.sqlite")


@WORKERS
def test_a_page_without_room_is_no_half_page_and_not_in_the_list(runs, webeval_apart, pytester, full, workers):
    runs.add(107)
    full("/report/data/")
    result = webeval_apart("--webeval-report=report", *workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    place = pytester.path / "report"
    assert f"disk full ({NO_SPACE}): cannot write 1 page to {place}; {ADVICE}" in said(result)
    assert list(place.glob("data/*")) == []
    assert re.findall(r"task-[0-9a-f]{16}", (place / "index.html").read_text()) == []


@pytest.mark.whole
@WORKERS
def test_rows_without_room_are_in_the_same_line(runs, webeval_apart, full, workers):
    for number in (107, 108):
        runs.add(number)
    full("eval_session.sqlite")
    result = webeval_apart(*workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    told = f"disk full (database or disk is full): cannot write the rows of the session to {runs.root}; {ADVICE}"
    assert [line for line in result.outlines if line.startswith("disk full")] == [told]
    assert runs.counts == (2, 0, 0)


LATE = """
import pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish():
    os.write = full
    return (yield)

os.write = write
"""
RECORDS = """
from pytest_webeval import EvaluatorResult

def test_more(webeval_run, record_evaluation):
    record_evaluation(EvaluatorResult(evaluator_name="Mine", status="success", score=1.0))
"""


@pytest.mark.whole
@WORKERS
def test_a_result_to_which_a_python_test_added_something_needs_room_as_well(
    runs, webeval_apart, pytester, full, workers
):
    runs.add(107)
    (pytester.path / "test_more.py").write_text(RECORDS)
    full("107/.eval_result")
    with (pytester.path / "conftest.py").open("a") as conftest:
        conftest.write(LATE)
    result = webeval_apart("runs", "test_more.py", *workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=2)
    assert runs.counts == (0, 0, 1)
    assert runs.reasons == {"107": SHORT}
    told = f"disk full ({NO_SPACE}): cannot write 1 result to {runs.root}; {ADVICE}"
    assert said(result) == [f"summary: {runs.root}/eval_summary.json", told]


CRASHES = """
def pytest_runtest_setup(item):
    if "108" in item.nodeid:
        os._exit(1)
"""


@pytest.mark.whole
def test_the_result_of_a_run_that_lost_its_worker_is_counted_as_well(runs, webeval_apart, pytester, full):
    runs.add(107)
    runs.add(108)
    full("108/.eval_result")
    with (pytester.path / "conftest.py").open("a") as conftest:
        conftest.write(CRASHES)
    result = webeval_apart("-n2")
    told = f"disk full ({NO_SPACE}): cannot write 1 result to {runs.root}; {ADVICE}"
    assert said(result) == [f"summary: {runs.root}/eval_summary.json", told]


def test_files_for_ci_without_room_are_in_the_same_line(runs, webeval_apart, pytester, full):
    runs.add(107)
    full(".metrics.txt", "eval_summary.json")
    result = webeval_apart("--webeval-gitlab-metrics=ci/metrics.txt")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    places = f"{runs.root} and {pytester.path}/ci"
    told = f"disk full ({NO_SPACE}): cannot write the summary and metrics.txt to {places}; {ADVICE}"
    assert said(result) == [told]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_page_of_github_without_room_is_in_the_same_line(runs, webeval, monkeypatch):
    runs.add(107)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "/dev/full")
    result = webeval()
    told = f"disk full ({NO_SPACE}): cannot write full to /dev; {ADVICE}"
    assert said(result) == [f"summary: {runs.root}/eval_summary.json", told]
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.whole
@pytest.mark.thinned(every=4)
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_three_directories_are_named_and_more_are_counted(pytester, runs, count):
    runs.add(107)
    disk = FullDisk(pytester.parseconfigure("--webeval-runs=runs").stash[WORKSPACE].settings)
    assert (bool(disk), disk.lines()) == (False, [])
    for number in range(count):
        disk.add({f"/place{number}/eval_summary.json": "Quota exceeded"})
    places = {1: "/place0", 2: "/place0 and /place1", 3: "/place0, /place1 and /place2"}
    told = places.get(count, "/place0, /place1, /place2 and 2 more")
    assert disk.lines() == [f"disk full (Quota exceeded): cannot write the summary to {told}; {ADVICE}"]


def test_a_result_for_which_there_is_room_later_is_not_missing(pytester, runs):
    runs.add(107)
    disk = FullDisk(pytester.parseconfigure("--webeval-runs=runs").stash[WORKSPACE].settings)
    disk.replace("runs/107", {f"{runs.root}/107/eval_result.json": NO_SPACE})
    assert bool(disk)
    disk.replace("runs/107", None)
    assert (bool(disk), disk.lines()) == (False, [])


SCRIPT = """
mount -t tmpfs -o size=64k none out || exit 99
head -c 65536 /dev/zero > out/filler
"$@"; echo "exit code $?"
rm out/filler
"$@" --webeval-reuse; echo "exit code $?"
"""


@pytest.mark.whole
@WORKERS
def test_a_disk_that_is_truly_full(runs, pytester, workers):
    for number in (107, 108, 109):
        runs.add(number)
    out = pytester.mkdir("out")
    session = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--webeval-runs=runs", "--webeval-output=out")
    if shutil.which("unshare") is None:
        pytest.skip("no unshare on this machine")
    command = ("unshare", "-m", "sh", "-c", SCRIPT, "sh", *session, *workers)
    done = subprocess.run(command, cwd=pytester.path, capture_output=True, text=True, check=False)
    if done.returncode == 99 or done.stderr.startswith("unshare:"):
        pytest.skip("this user may mount nothing")
    starts = ("disk full (", "cannot write", "summary: ", "reused: ", "exit code", "3 scored: ")
    assert [line for line in done.stdout.splitlines() if line.startswith(starts)] == [
        "3 scored: 0 success, 0 failure, 3 error, 0 excluded",
        f"disk full ({NO_SPACE}): cannot write 3 results and the summary to {out}; {ADVICE}",
        "exit code 1",
        "3 scored: 3 success, 0 failure, 0 error, 0 excluded",
        f"summary: {out}/eval_summary.json",
        "reused: 0 of 3 results taken from an earlier session",
        "exit code 0",
    ]
