"""Results that go to a store are those of a directory; what could not be uploaded waits for the next session."""

from __future__ import annotations

import json

import pytest

from tests.remote.conftest import BUCKET, SESSIONS
from tests.support.faulty_s3 import Faults
from tests.support.sessions import read_files

OUTPUT = "--webeval-output=s3://bucket/results"
SLOW = {"xdist", "dask", "processes"}
KINDS = [pytest.param(kind, marks=[pytest.mark.whole] if kind in SLOW else []) for kind in SESSIONS]
SECRETS = ("AKIAPLANTED", "planted/secret")


@pytest.fixture
def uploaded(s3, tmp_path):
    """The results in the bucket."""

    def read():
        directory = tmp_path / "downloaded"
        for key, content in s3.objects("results/").items():
            path = directory / key.removeprefix("results/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return read_files(directory)

    return read


@pytest.mark.whole
@pytest.mark.parametrize("kind", KINDS)
def test_results_in_a_store_are_those_in_a_directory(copied, session, here, uploaded, tmp_path, kind):
    copied(12)
    session(kind, BUCKET, "--webeval-output=results")
    done = session(kind, BUCKET, OUTPUT)
    assert done.returncode == 1, done.text
    assert "summary: s3://bucket/results/eval_summary.json" in done.text
    assert uploaded() == read_files(here / "results")
    assert not list((tmp_path / "caches").rglob("eval_*"))


@pytest.mark.whole
def test_local_runs_may_have_their_results_in_a_store(copied, session, uploaded):
    session("processes", copied(4), OUTPUT)
    assert len(uploaded()) == 5


@pytest.mark.whole
@pytest.mark.parametrize("kind", ["processes", pytest.param("pytest", marks=pytest.mark.whole)])
def test_what_cannot_be_uploaded_is_told_and_uploaded_by_the_next_session(s3, copied, session, uploaded, kind):
    copied(6)
    s3.restart(Faults(unwritable=["results/2/eval_result.json", "results/4/eval_result.json"]))
    done = session(kind, BUCKET, OUTPUT)
    assert done.returncode == 1, done.text
    assert "2 of " in done.text
    assert "were not uploaded to s3://bucket/results: cannot write s3://bucket/results/2/eval_result.json" in done.text
    assert "2/eval_result.json" not in uploaded()
    s3.restart(Faults())
    done = session(kind, BUCKET, OUTPUT, "--webeval-reuse")
    assert "reused: 6 of 6 results" in done.text
    assert len(uploaded()) == 7


@pytest.mark.whole
@pytest.mark.parametrize("kind", ["processes", "pytest"])
def test_a_place_that_cannot_be_written_ends_the_session_before_a_run_is_read(s3, copied, session, kind):
    copied(3)
    s3.restart(Faults(unwritable=["denied/eval_summary.json"]))
    problems = {"nowhere/results": "there is no such bucket or location; check it", "bucket/denied": "access is denied"}
    for place, problem in problems.items():
        done = session(kind, BUCKET, f"--webeval-output=s3://{place}")
        assert done.returncode == 4, done.text
        assert f"ERROR: cannot write s3://{place}/eval_summary.json: {problem}" in done.text
        assert "Traceback" not in done.text
    assert not [request for request in s3.requests() if request.endswith(".har")]


@pytest.mark.whole
@pytest.mark.parametrize("kind", ["processes", "pytest"])
def test_a_summary_that_was_not_uploaded_is_not_named_as_written(s3, copied, session, uploaded, kind):
    copied(3)
    s3.restart(Faults(unwritable=["results/eval_summary.json"], has_uploads=False))
    done = session(kind, BUCKET, OUTPUT)
    assert done.returncode == 1, done.text
    problem = "cannot write s3://bucket/results/eval_summary.json: access is denied"
    assert f"1 of 1 files were not uploaded to s3://bucket/results: {problem}" in done.text
    assert "summary: " not in done.text
    assert len(uploaded()) == 3


@pytest.mark.whole
@pytest.mark.parametrize("kind", ["processes", pytest.param("pytest", marks=pytest.mark.whole)])
def test_a_broken_run_does_not_keep_results_that_are_in_the_store(s3, copied, session, uploaded, tmp_path, kind):
    copied(3)
    s3.delete("runs/2/network.har")
    s3.delete("runs/2/agent_response.json")
    s3.put({"runs/2/notes.txt": b"of another program"})
    assert session(kind, BUCKET, OUTPUT).returncode == 1
    assert uploaded()["2/eval_result.json"]["error_msg"].startswith("unknown layout")
    assert not list((tmp_path / "caches").rglob("eval_*"))


@pytest.mark.whole
def test_no_file_and_no_line_has_credentials(s3, copied, session, tmp_path):
    copied(4)
    s3.restart(Faults(half_written=["runs/2/network.har"], unwritable=["results/1/eval_result.json"]))
    text = session("pytest", BUCKET, OUTPUT, "--webeval-report=report", "-vv").text
    text += session("processes", BUCKET, "--webeval-output=results").text
    for path in tmp_path.rglob("*"):
        if path.is_file() and "server" not in path.parts:
            text += path.read_bytes().decode(errors="replace")
    assert not [secret for secret in SECRETS if secret in text]
    assert json.loads((tmp_path / "here/results/eval_summary.json").read_text())


@pytest.mark.thinned(every=5)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--webeval-runs: results cannot be written to s3://bucket/runs; choose a directory or another location"),
        ((OUTPUT, "--webeval-report=s3://bucket/r"), "--webeval-report cannot use a store (s3://…); pass a local path"),
        (
            (OUTPUT, "--webeval-tasks=s3://bucket/t.json"),
            "--webeval-tasks cannot use a store (s3://…); pass a local path",
        ),
        (("--webeval-output=s3://AKIAPLANTED:planted/secret@b/r",), "the s3:// location has credentials"),
        ((OUTPUT, "--webeval-cache-size=much"), "invalid --webeval-cache-size 'much'"),
    ],
)
@pytest.mark.parametrize("kind", ["processes", pytest.param("pytest", marks=pytest.mark.whole)])
def test_what_cannot_be_is_refused_on_one_line(copied, session, options, message, kind):
    copied(1)
    done = session(kind, BUCKET, *options)
    assert done.returncode in {2, 4}, done.text
    own = message.replace("--webeval-runs", "RUNS").replace("--webeval-", "--")
    assert (message if kind == "pytest" else own) in done.text
    assert "Traceback" not in done.text
    assert not [secret for secret in SECRETS if secret in done.text]
