"""A store that fails loses no run: each is scored, or told as an error that another session makes good."""

from __future__ import annotations

import threading
import time

import pytest

from tests.remote.conftest import BUCKET, SESSIONS
from tests.support.faulty_s3 import Faults
from tests.support.recorded import write as write_trajectory
from tests.support.sessions import read_files

SLOW = [pytest.param(kind, marks=[pytest.mark.whole] if kind != "processes" else []) for kind in SESSIONS]


def statuses(directory):
    files = read_files(directory)
    files.pop("eval_summary.json")
    return {int(name.partition("/")[0]): content["status"] for name, content in files.items()}


def expected(count, **others):
    return {task_id: "failure" if task_id == 3 else "success" for task_id in range(1, count + 1)} | others


@pytest.mark.whole
@pytest.mark.parametrize("kind", SLOW)
def test_a_half_written_object_is_an_error_of_its_run_that_names_it(s3, copied, session, here, kind):
    copied(12)
    s3.restart(Faults(half_written=["runs/5/network.har"]))
    done = session(kind, BUCKET, "--webeval-output=results")
    assert done.returncode == 1, done.text
    assert statuses(here / "results") == expected(12) | {5: "error"}
    message = read_files(here / "results")["5/eval_result.json"]["error_msg"]
    assert message.startswith("cannot read s3://bucket/runs/5/network.har: ")
    s3.restart(Faults())
    done = session(kind, BUCKET, "--webeval-output=results", "--webeval-resume")
    assert "resumed: 11 of 12 results" in done.text
    assert statuses(here / "results") == expected(12)


@pytest.mark.whole
@pytest.mark.parametrize("kind", ["processes", pytest.param("pytest", marks=pytest.mark.whole)])
def test_a_verdict_without_an_optional_file_that_failed_is_not_resumed(s3, session, here, tmp_path, kind):
    write_trajectory(tmp_path / "runs/amazon--1")
    s3.put_tree(tmp_path / "runs", "runs/")
    s3.restart(Faults(denied=["runs/amazon--1/times.json"]))
    done = session(kind, BUCKET, "--webeval-output=results")
    assert done.returncode == 0, done.text
    before = read_files(here / "results")["amazon--1/eval_result.json"]
    assert "access is denied" in str(before["webeval"]["warnings"])
    s3.restart(Faults())
    done = session(kind, BUCKET, "--webeval-output=results", "--webeval-resume")
    assert "resumed: 0 of 1 result" in done.text
    assert "denied" not in str(read_files(here / "results"))
    assert not (here / "results/eval_journal.jsonl").exists()


@pytest.mark.whole
@pytest.mark.parametrize("kind", SESSIONS)
def test_a_store_that_comes_back_loses_nothing(s3, copied, session, here, kind):
    copied(300)
    s3.restart(Faults(seconds=0.05))
    killing = threading.Thread(target=lambda: (wait_for_reads(s3), s3.kill(), time.sleep(3), s3.start()))
    killing.start()
    done = session(kind, BUCKET, "--webeval-output=results")
    killing.join()
    assert done.returncode == 1, done.text
    assert statuses(here / "results") == expected(300)


def wait_for_reads(s3, count=60):
    """Wait until so many objects were read, with the first runs scored."""
    end = time.monotonic() + 120
    while time.monotonic() < end and sum("agent_response" in each for each in s3.requests()) < count:
        time.sleep(0.02)


@pytest.mark.whole
@pytest.mark.parametrize("kind", SESSIONS)
def test_a_store_that_is_gone_is_told_for_each_run_and_a_later_session_makes_it_good(s3, copied, session, here, kind):
    copied(200)
    s3.restart(Faults(seconds=0.05))
    killing = threading.Thread(target=lambda: (wait_for_reads(s3), s3.kill()))
    killing.start()
    done = session(kind, BUCKET, "--webeval-output=results")
    killing.join()
    found = statuses(here / "results")
    assert done.returncode == 1, done.text
    assert found.keys() == expected(200).keys()
    lost = [task_id for task_id, status in found.items() if status == "error"]
    assert lost
    messages = read_files(here / "results", "eval_result.json")
    assert all(messages[f"{task_id}/eval_result.json"]["error_msg"].startswith("cannot read s3:") for task_id in lost)
    s3.start()
    done = session(kind, BUCKET, "--webeval-output=results", "--webeval-resume")
    assert f"resumed: {200 - len(lost)} of 200 results" in done.text
    assert statuses(here / "results") == expected(200)


def test_a_store_that_cannot_be_listed_ends_the_session_on_one_line(copied, session):
    copied(2)
    done = session("processes", "s3://nowhere/runs", "--webeval-output=results")
    assert done.returncode == 4, done.text
    assert "cannot list s3://nowhere/runs" in done.text
    assert "Traceback" not in done.text


@pytest.mark.whole
@pytest.mark.parametrize("kind", ["processes", "pytest"])
def test_a_wrong_profile_ends_the_session_on_one_line(copied, session, kind):
    copied(2)
    done = session(kind, BUCKET, "--webeval-output=results", AWS_PROFILE="nope")
    assert done.returncode == 4, done.text
    assert f"cannot list {BUCKET}: the configuration of the client cannot be used (ProfileNotFound); " in done.text
    assert "Traceback" not in done.text
