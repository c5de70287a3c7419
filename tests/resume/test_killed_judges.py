"""Processes that ask a judge, killed at random moments, and two that ask the same at once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from decimal import Decimal
from random import Random

import pytest

from pytest_webeval.judges.prices import load_prices
from pytest_webeval.judges.reply_store import ReplyStore
from pytest_webeval.judges.spending import SpendingLimit
from tests.resume.judge_session import COUNT, build_questions
from tests.support.judge_server import reply, serve

COST = Decimal("0.00035")  # of a reply of the server
KEYS = [question.key for question in build_questions()]
STDERR = subprocess.STDOUT


@pytest.fixture
def start(tmp_path):
    """Starts a process that asks a server."""

    def start(server):
        paths = [str(tmp_path / "replies"), str(tmp_path / "ledger.jsonl")]
        command = [sys.executable, "-m", "tests.resume.judge_session", server.url, *paths]
        environment = os.environ | {"OPENAI_API_KEY": "", "NO_PROXY": "*"}
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=STDERR, text=True)

    return start


def read_spent(tmp_path):
    return SpendingLimit(Decimal(10), tmp_path / "ledger.jsonl", load_prices()).spent


def list_stored(store):
    return {question.key for question in build_questions() if store.get(question)}


def wait_for(server, count):
    deadline = time.monotonic() + 30
    while len(server.keys) < count and time.monotonic() < deadline:
        time.sleep(0.0005)


@pytest.mark.whole
@pytest.mark.parametrize("moments", [4, pytest.param(20, marks=pytest.mark.whole)])
def test_a_killed_session_loses_no_stored_reply_and_pays_for_none_twice(start, tmp_path, moments):
    """Each kill is at a random time after a random request began, so that it hits sending, waiting and storing."""
    random = Random(61)
    store = ReplyStore(tmp_path / "replies")
    repeated, stored, printed = [], set(), set()
    with serve(lambda _: reply("yes")._replace(seconds=0.004)) as server:
        for _ in range(moments):
            begun = len(server.keys)
            with start(server) as process:
                wait_for(server, begun + random.randint(1, 2))
                time.sleep(random.uniform(0, 0.008))
                process.kill()
                printed |= set(process.stdout.read().split()) & set(KEYS)
            sent = server.keys[begun:]
            assert not stored & set(sent), "a stored reply was asked for again"
            assert len(set(sent)) == len(sent)
            stored = list_stored(store)
            assert printed <= stored, "a reply that was used is not stored"
            lost = [key for key in sent if key not in stored]
            assert lost in ([], sent[-1:]), "more than the request on its way was lost"
            repeated += lost
        assert len(stored) < COUNT  # else the last kills hit nothing
        with start(server) as process:
            output, _ = process.communicate(timeout=60)
        assert output.splitlines()[-1] == f"sent {COUNT - len(stored)} remembered {len(stored)}"
        requests = len(server.keys)
        with start(server) as process:
            output, _ = process.communicate(timeout=60)
        assert output.splitlines()[-1] == f"sent 0 remembered {COUNT}"
    assert len(server.keys) == requests == COUNT + len(repeated)
    assert Counter(server.keys) == Counter(KEYS) + Counter(repeated)
    assert len(repeated) <= moments
    assert read_spent(tmp_path) >= COUNT * COST
    assert not list(store.directory.rglob(".*.json.*")), "a torn file is left"


def test_two_sessions_at_once_send_each_question_once(start, tmp_path):
    with serve(lambda exchange: reply(exchange.text)._replace(seconds=0.01)) as server:
        processes = [start(server) for _ in range(2)]
        outputs = [process.communicate(timeout=60)[0].splitlines() for process in processes]
    assert Counter(server.keys) == Counter(KEYS)
    counts = [line.split() for line in (output[-1] for output in outputs)]
    assert sum(int(count[1]) for count in counts) == COUNT
    assert sum(int(count[3]) for count in counts) == COUNT
    assert [output[:-1] for output in outputs] == [KEYS, KEYS]
    assert read_spent(tmp_path) == COUNT * COST
