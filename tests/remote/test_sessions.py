"""Sessions over a store leave what sessions over a local copy leave."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from tests.remote.conftest import BUCKET, SESSIONS
from tests.support.faulty_s3 import Faults
from tests.support.sessions import read_files

SLOW = {"xdist", "dask", "processes"}
KINDS = [pytest.param(kind, marks=[pytest.mark.whole] if kind in SLOW else []) for kind in SESSIONS]


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_those_of_a_local_copy_even_where_reads_fail(s3, copied, session, here, kind):
    local = session(kind, copied(24), "--webeval-output=local")
    s3.restart(Faults(share=0.05))
    remote = session(kind, BUCKET, "--webeval-output=remote")
    assert local.returncode == remote.returncode == 1, remote.text
    expected = read_files(here / "local")
    assert len(expected) == 25
    assert read_files(here / "remote") == expected


@pytest.mark.whole
def test_the_store_is_listed_once_and_each_file_fetched_once(s3, copied, session):
    copied(8)
    s3.restart()
    session("processes", BUCKET, "--webeval-output=remote")
    requests = s3.requests()
    assert requests.count("GET /bucket") + requests.count("GET /bucket/") == 1
    assert sorted(requests) == sorted(set(requests))
    s3.restart()
    session("processes", BUCKET, "--webeval-output=again")
    assert not [request for request in s3.requests() if request.endswith(("har", "json"))]


@pytest.mark.whole
def test_workers_of_xdist_use_the_listing_of_their_controller(s3, copied, session):
    copied(8)
    s3.restart()
    session("xdist", BUCKET, "--webeval-output=remote")
    assert len([request for request in s3.requests() if request in {"GET /bucket", "GET /bucket/"}]) == 1


@pytest.mark.whole
def test_screenshots_are_fetched_for_a_report_alone(s3, copied, session):
    copied(4)
    s3.put({"runs/2/screenshot.png": b"\x89PNG"})
    session("processes", BUCKET, "--webeval-output=remote")
    assert "GET /bucket/runs/2/screenshot.png" not in s3.requests()
    session("processes", BUCKET, "--webeval-output=remote", "--webeval-report=report")
    assert "GET /bucket/runs/2/screenshot.png" in s3.requests()


@pytest.mark.whole
def test_a_cache_of_bounded_size_gives_room_back(s3, copied, session, tmp_path, here):
    copied(12)
    options = (f"--webeval-cache={tmp_path / 'small'}", "--webeval-cache-size=1KB")
    session("processes", BUCKET, "--webeval-output=remote", *options)
    fetched = [path for path in (tmp_path / "small").rglob("*.har") if path.stat().st_mtime]
    assert len(read_files(here / "remote")) == 13
    assert len(fetched) < 4


def test_a_store_may_stand_in_the_configuration_file(copied, session, here):
    copied(4)
    (here / "pytest.ini").write_text(f"[pytest]\nwebeval_runs = {BUCKET}\nwebeval_output = results\n")
    done = session("pytest", BUCKET)
    (here / "results").rename(here / "first")
    assert done.returncode == 1, done.text
    assert len(read_files(here / "first")) == 5


def test_commands_and_lines_name_the_store_rather_than_the_cache(s3, copied, session, tmp_path, here):
    root = copied(4)
    s3.put({"runs/4/agent_response.json": (root / "3/agent_response.json").read_bytes()})
    s3.delete("runs/2/network.har")
    done = session("pytest", BUCKET, "--webeval-output=results", "--junitxml=junit.xml")
    assert f"no network trace in {BUCKET}/2" in done.text
    assert f"no network trace in {BUCKET}/2" in (here / "junit.xml").read_text()
    assert re.search(f"pytest --webeval-runs={BUCKET} .*--webeval-output=results -k", done.text)
    assert str(tmp_path / "caches") not in done.text


@pytest.mark.whole
def test_no_session_imports_what_lies_in_a_cache(s3, copied, session, here):
    copied(2)
    s3.put(dict.fromkeys(("runs/1/test_agent.py", "runs/1/conftest.py"), b"open('imported', 'w')\ndef test(): pass\n"))
    assert session("pytest", BUCKET, "--webeval-output=results", "--webeval-cache=cache").returncode == 0
    assert all(path.stat().st_mtime for path in here.rglob("test_agent.py"))
    command = [sys.executable, "-m", "pytest", "-pno:cacheprovider"]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, len(list(here.rglob("test_agent.py")))) == (5, 1), done.stdout
    assert not (here / "imported").exists()


@pytest.mark.whole
def test_a_run_that_a_command_names_is_scored_alone(copied, session, here):
    copied(4)
    (here / "runs/3").mkdir(parents=True)  # of another root, of which the session has nothing
    done = session("pytest", BUCKET, "--webeval-output=results", "runs/3::task")
    assert "1 failed" in done.text
    assert [name for name in read_files(here / "results") if "summary" not in name] == ["3/eval_result.json"]


@pytest.mark.whole
def test_objects_without_a_file_are_named(s3, copied, session):
    copied(4)
    s3.put({"runs/../secret": b"x"})
    for kind in ("pytest", "processes"):
        assert "skipped object" in session(kind, BUCKET, "--webeval-output=results").text


@pytest.mark.whole
def test_reuse_goes_by_the_listing_and_not_by_what_was_fetched(s3, copied, session, tmp_path):
    root = copied(6)
    reused = "--webeval-reuse"
    session("processes", BUCKET, "--webeval-output=results", reused)
    cold = {"XDG_CACHE_HOME": str(tmp_path / "other caches")}
    s3.restart()
    done = session("processes", BUCKET, "--webeval-output=results", reused, **cold)
    assert "reused: 6 of 6 results" in done.text
    answer = json.loads((root / "2/agent_response.json").read_text()) | {"retrieved_data": ["chair"]}
    s3.put({"runs/2/agent_response.json": json.dumps(answer).encode()})
    done = session("processes", BUCKET, "--webeval-output=results", reused, **cold)
    assert "reused: 5 of 6 results" in done.text
