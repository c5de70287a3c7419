"""Sessions of pytest that ask a judge, killed at random moments: no reply is lost, and none is paid for twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from threading import Event

import pytest

from tests.support.judge_server import serve
from tests.support.judged_books import (
    MODEL,
    PRICES,
    TASKS,
    Asked,
    BookJudge,
    add_up,
    name_of,
    path_of,
    usage_of,
    verdict_on,
    write_books,
)
from tests.support.sessions import PLAIN, read_files

BOOKS = 30
CONCURRENCY = 4
LONGEST = 120.0  # seconds that anything may take on a busy machine
STORE = "judge_replies"
MOST_REPLIES = {"webvoyager": 2, "webjudge": 8}  # to a session that is killed: the last kill must hit one as well
QUESTIONS = {"webvoyager": BOOKS, "webjudge": BOOKS * 6}


@dataclass
class ThriftyJudge:
    """A script that knows sessions by their keys, and gives one that will be killed only so many replies.

    The others wait until the kill, so that it hits a session that is at work.
    """

    script: BookJudge
    replies: dict[str, int] = field(default_factory=dict)
    kills: dict[str, Event] = field(default_factory=lambda: defaultdict(Event))

    def __call__(self, exchange):
        answer, name = self.script(exchange), session_of(exchange)
        with self.script._lock:
            left = self.replies.get(name, sys.maxsize)
            self.replies[name] = left - 1
        if left <= 0:
            self.kills[name].wait(LONGEST)
        return answer


def session_of(exchange):
    """The name of the session that sent a request."""
    return exchange.headers["authorization"].removeprefix("Bearer ")


def exchanges_of(server, name):
    """What a session sent. One that was killed may have sent something that the server reads later."""
    with server.lock:
        return [exchange for exchange in server.exchanges if session_of(exchange) == name]


def keys_of(server, name):
    return [exchange.key for exchange in exchanges_of(server, name)]


def list_last(server, name):
    """The keys of the questions on the last run and step of a session: those before had to be answered for it."""
    steps = [(Asked(exchange.body).number, Asked(exchange.body).step) for exchange in exchanges_of(server, name)]
    return {key for key, step in zip(keys_of(server, name), steps, strict=True) if step == steps[-1]}


@pytest.fixture
def start(tmp_path):
    """Starts a session in a process of its own."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    write_books(tmp_path, BOOKS)

    def start(server, name, *options):
        environment = os.environ | {"OPENAI_API_KEY": name, "NO_PROXY": "*"}
        arguments = ("--webeval-runs=runs", f"--webeval-judge={MODEL}", f"--webeval-tasks={TASKS}", *options)
        judge = ("--webeval-judge-mode=live", f"--webeval-judge-url={server.url}", f"--webeval-judge-prices={PRICES}")
        return subprocess.Popen(
            [sys.executable, "-m", "pytest", *PLAIN, *arguments, *judge],
            cwd=tmp_path,
            env=environment,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    return start


def kill_later(session, server, name, awaited, seconds):
    """Kill a session some time after it has sent the awaited number of requests."""
    deadline = time.monotonic() + LONGEST
    while session.poll() is None and len(keys_of(server, name)) < awaited and time.monotonic() < deadline:
        time.sleep(0.0005)
    time.sleep(seconds)
    is_running = session.poll() is None
    with suppress(ProcessLookupError):
        os.killpg(session.pid, signal.SIGKILL)
    output, _ = session.communicate(timeout=LONGEST)
    assert is_running, output


def list_stored(directory):
    """The keys of the replies that are there whole."""
    return {json.loads(path.read_bytes())["key"] for path in directory.glob("??/[!.]*.json")}


def list_replies(directory):
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.glob("??/*")}


@pytest.mark.whole
@pytest.mark.parametrize("moments", [3, pytest.param(20, marks=pytest.mark.whole)])
@pytest.mark.parametrize("method", ["webvoyager", "webjudge"])
def test_a_killed_session_loses_no_paid_reply_and_pays_for_none_twice(method, moments, start, tmp_path):
    random, judge = Random(f"{method} {moments}"), ThriftyJudge(BookJudge(method, seconds=0.004))
    options = (f"--webeval-judge-method={method}", f"--webeval-judge-concurrency={CONCURRENCY}")
    names = [f"killed{number}" for number in range(moments)]
    judge.replies.update((name, random.randint(0, MOST_REPLIES[method])) for name in names)
    assert sum(judge.replies.values()) < QUESTIONS[method]
    stored = {"": set()}
    with serve(judge) as server:
        for name in names:
            awaited = max(1, judge.replies[name] + random.randint(-1, 1))
            session = start(server, name, *options)
            kill_later(session, server, name, awaited, random.uniform(0, 0.02))
            judge.kills[name].set()
            stored[name] = list_stored(tmp_path / STORE)
        output, _ = start(server, "completing", *options).communicate(timeout=LONGEST)
        complete = read_files(tmp_path / "runs")
        start(server, "last", *options).communicate(timeout=LONGEST)
        assert keys_of(server, "last") == []
        assert read_files(tmp_path / "runs") == complete
        sent = {name: keys_of(server, name) for name in (*names, "completing")}
        last = {name: list_last(server, name) for name in sent}

    stored["completing"] = list_stored(tmp_path / STORE)
    repeated = Counter()
    for before, name in pairwise(stored):
        assert len(set(sent[name])) == len(sent[name])
        assert stored[before].isdisjoint(sent[name]), "a stored reply was asked for again"
        assert stored[before] <= stored[name] <= {*stored[before], *sent[name]}
        lost = set(sent[name]) - stored[name]
        assert len(lost) <= CONCURRENCY, "more than the requests on their way were lost"
        assert lost <= last[name], "a reply was used before it was stored"
        repeated.update(lost)
    assert repeated, "no kill hit a request on its way"
    questions = stored["completing"]
    assert len(questions) == QUESTIONS[method], output
    assert Counter(exchange.key for exchange in server.exchanges) == Counter(questions) + repeated
    keys = defaultdict(set)
    for exchange in server.exchanges:
        keys[json.dumps(exchange.body, sort_keys=True)].add(exchange.key)
    assert len(keys) == len(questions)
    assert {len(each) for each in keys.values()} == {1}

    for number in range(BOOKS):
        result = json.loads((path_of(tmp_path, number) / "eval_result.json").read_bytes())
        status = "success" if verdict_on(method, number).success else "failure"
        assert (result["task_id"], result["status"]) == (name_of(number), status)
    judging = complete["eval_summary.json"]["webeval"]["judging"]
    usage, cost = add_up([usage_of(key) for key in questions])
    assert (judging["judged"], judging["calls"], judging["not_judged"]) == (BOOKS, len(questions), {})
    assert (judging["usage"], judging["cost_usd"]) == ({MODEL: usage}, pytest.approx(float(cost)))

    with serve(BookJudge(method)) as other:
        start(other, "undisturbed", *options, "--webeval-judge-replies=other").communicate(timeout=LONGEST)
    assert list_replies(tmp_path / STORE) == list_replies(tmp_path / "other"), "a torn file is left"
    assert read_files(tmp_path / "runs") == complete
