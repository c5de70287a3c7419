"""Python tests of a run that cannot be scored are errors, as its item is: no run is passed in silence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

TEST = "def test_it(webeval_run): assert webeval_run.task_id in (103, 105)"


@pytest.fixture
def refused(monkeypatch):
    """Lets nobody list directories that are called 104."""
    listing = os.scandir

    def scandir(path="."):
        if Path(os.fsdecode(path) if not isinstance(path, int) else "fd").name == "104":
            raise PermissionError(13, "Permission denied", str(path))
        return listing(path)

    monkeypatch.setattr(os, "scandir", scandir)


def test_a_directory_that_cannot_be_listed_is_an_error_of_its_test(runs, webeval, pytester, refused):
    runs.add(103)
    (runs.root / "104").mkdir()
    result = webeval(pytester.makepyfile(TEST))
    result.assert_outcomes(passed=1, errors=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    told = "cannot list runs/104: Permission denied; make it readable"
    result.stdout.fnmatch_lines([f"*RecordingError: {told.replace('runs/', f'{runs.root}/')}"])
    assert runs.reasons["104"] == told


def test_a_directory_without_the_recording_of_its_task_is_an_error_of_its_test(runs, webeval, pytester):
    runs.add(103)
    runs.define(runs.definition(104))
    (runs.root / "104").mkdir()
    result = webeval(pytester.makepyfile(TEST))
    result.assert_outcomes(passed=1, errors=1)
    assert runs.reasons["104"].startswith("unknown layout of runs/104: ")


def test_a_link_out_of_the_root_is_not_followed_by_a_test(runs, webeval, pytester, another_root):
    runs.add(103)
    (runs.root / "105").symlink_to(another_root("other").add(105))
    result = webeval(pytester.makepyfile(TEST))
    result.assert_outcomes(passed=1, errors=1)
    told = "runs/105 is a link to a target outside the run root; copy the directory here"
    result.stdout.fnmatch_lines([f"*RecordingError: {told.replace('runs/', f'{runs.root}/')}"])


@pytest.mark.whole
def test_workers_agree_on_the_tests_of_broken_runs(runs, webeval_apart, pytester):
    runs.add(103)
    runs.define(runs.definition(104))
    (runs.root / "104").mkdir()
    webeval_apart("-n2", pytester.makepyfile(TEST)).assert_outcomes(passed=1, errors=1)
