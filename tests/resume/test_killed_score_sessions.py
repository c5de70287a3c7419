"""kill -9 of the process that sums up a session of `score`: what follows is what an undisturbed session leaves."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from random import Random

import pytest

from tests.resume.killing import SUITE, timeless
from tests.support.rows import count_rows

COPIES, KILLS = 32, 3
CHECKSUM = re.compile(rb'("sha256": ?)"[^"]*"')
TIME = re.compile(rb'("wall_time":)[-+.e0-9]+')


@pytest.fixture
def place(tmp_path):
    for number in range(COPIES):
        ignored = shutil.ignore_patterns("eval_*", "tasks.json")
        shutil.copytree(SUITE / "runs", tmp_path / "runs" / str(number), ignore=ignored)
    shutil.copy(SUITE / "runs/tasks.json", tmp_path / "runs")
    shutil.copy(SUITE / "config.json", tmp_path)
    return tmp_path


def start(place, form, *options):
    command = [sys.executable, "-m", "pytest_webeval", "score", "runs", "--output=out", f"--results={form}"]
    command += ["--executor=process:2", "--batch=20", "--no-progress", "--config=config.json", *options]
    return subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def read_out(place):
    """All that a session left, unfinished files included, except for times."""
    paths = sorted(path for path in (place / "out").rglob("*eval_*") if path.suffix != ".sqlite")
    contents = {path.relative_to(place / "out").as_posix(): timeless(path.read_bytes()) for path in paths}
    return {name: CHECKSUM.sub(rb"\1null", TIME.sub(rb"\1null", text)) for name, text in contents.items()}


def kill(place, form, line):
    session = start(place, form)
    while session.poll() is None and count_rows(place / "out/eval_session.sqlite") < line:
        time.sleep(0.001)
    os.kill(session.pid, signal.SIGKILL)
    session.communicate()


@pytest.mark.whole
@pytest.mark.parametrize(("form", "first"), [("shards", 1_010), ("files", 10), ("shards", 10)])
def test_a_killed_session_goes_on_with_what_is_there(place, form, first):
    start(place, form).communicate()
    expected = read_out(place)
    random = Random(first)
    for _ in range(KILLS):
        shutil.rmtree(place / "out")
        kill(place, form, random.randrange(first, COPIES * 36 - 60))
        printed, _ = start(place, form, "--reuse").communicate()
        resumed = re.search(r"^reused: ([\d,]+) of", printed, re.MULTILINE)
        assert resumed is not None
        assert int(resumed[1].replace(",", "")) > 0
        assert read_out(place) == expected
