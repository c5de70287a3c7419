"""Run roots in stores: what a session says about them, and what it does not let them end."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.safety.limits import USUAL
from pytest_webeval.sessions.session_header import list_store_problems
from pytest_webeval.sessions.settings.option_values import CommandSource, find_location
from pytest_webeval.sessions.settings.remote_roots import open_stores
from pytest_webeval.sessions.settings.settings import read_settings
from pytest_webeval.stores.mirror import Mirror
from pytest_webeval.stores.store import StoredObject


class MemoryStore:
    """Objects in memory."""

    location = "memory://store/runs"

    def __init__(self, *keys):
        self.keys = keys

    def list(self, prefix="", most=None):  # noqa: ARG002  (the signature)
        yield from (StoredObject(key, 4, None, 1_000.0) for key in sorted(self.keys))

    def read(self, key):  # noqa: ARG002  (the signature)
        return b"four"


def list_problems(mirror):
    return list_store_problems(replace(read_settings(CommandSource(argparse.Namespace())), mirrors=(mirror,)))


@pytest.mark.parametrize(
    ("count", "more"), [(0, []), (3, []), (4, ["… and 1 more"]), (20, ["… and 17 more"]), (1234, ["… and 1,231 more"])]
)
def test_the_first_skipped_objects_are_named_and_all_are_counted(tmp_path, count, more):
    mirror = Mirror.open(MemoryStore("1/a", *(f"../{number:04}" for number in range(count))), cache=tmp_path / "cache")
    lines = list_problems(mirror)
    assert len(lines[:3]) == min(count, 3)
    assert all(line.startswith("skipped object ") and "../0" in line for line in lines[:3])
    assert lines[3:] == more


def test_an_empty_store_is_one_problem(tmp_path):
    mirror = Mirror.open(MemoryStore(), cache=tmp_path / "cache")
    assert list_problems(mirror) == ["there are no objects at memory://store/runs; check the location"]


def test_results_may_go_to_the_url_of_a_directory(tmp_path):
    arguments = argparse.Namespace(webeval_runs=[str(tmp_path)], webeval_output=f"file://{tmp_path}/results")
    assert read_settings(CommandSource(arguments)).output == tmp_path / "results"


@pytest.mark.parametrize("arguments", [{"webeval_runs": ["s3://"]}, {"webeval_output": "S3://"}])
def test_a_scheme_alone_is_no_directory(tmp_path, arguments):
    with pytest.raises(SettingsError, match="the location s3:// names no place"):
        read_settings(CommandSource(argparse.Namespace(**{"webeval_runs": [str(tmp_path)], **arguments})))


@pytest.mark.parametrize(
    ("place", "location"),
    [
        ("S3://bucket/runs/", "s3://bucket/runs"),
        (Path("/here/S3:/bucket/runs"), "s3://bucket/runs"),
        (Path("/here/zip:/runs::s3:/bucket/a.zip"), "zip://runs::s3://bucket/a.zip"),
        (Path("/here/C:/runs"), None),
        ("runs/", None),
    ],
)
def test_a_store_is_known_by_its_scheme_in_options_and_configuration_files(place, location):
    assert find_location(place) == location


RUNS = "s3://bucket/runs"
AMONG = "--webeval-output: {} would have results among the runs of {}; choose a directory or another location"
READ_ONLY = (
    "--webeval-output: results cannot be written to {}://; use a directory, or a location of s3, gs, az, abfs, hf"
)
SECRET = "the s3:// location has credentials or a signed query in it"


@pytest.mark.parametrize(
    ("runs", "output", "problem"),
    [
        ([RUNS, f"{RUNS}/a"], None, f"--webeval-runs: {RUNS}/a lies inside {RUNS}; pass only one of them"),
        ([RUNS], RUNS, AMONG.format(RUNS, RUNS)),
        ([RUNS], f"{RUNS}/results", AMONG.format(f"{RUNS}/results", RUNS)),
        ([RUNS, "s3://bucket/more"], "s3://bucket", AMONG.format("s3://bucket", RUNS)),
        ([], "https://host/results", READ_ONLY.format("https")),
        ([], "zip://results.zip", READ_ONLY.format("zip")),
        ([], "memory://results", READ_ONLY.format("memory")),
        (["s3://user:secret@b/r", "s3://user:secret@b/r/a"], None, SECRET),
        (["s3://user:secret@b/r"], "s3://user:secret@b/r/a", SECRET),
    ],
)
def test_locations_that_do_not_go_together_are_refused_without_credentials(tmp_path, runs, output, problem):
    values = {"runs": tuple(runs), "output": output, "cache": tmp_path, "cache_size": None, "limits": USUAL}
    with pytest.raises(SettingsError) as caught:
        open_stores(values)
    assert str(caught.value).startswith(problem)
    assert "secret" not in str(caught.value)
    assert not list(tmp_path.iterdir())
