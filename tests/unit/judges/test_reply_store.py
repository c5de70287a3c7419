from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from itertools import count
from shutil import copytree

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.judges.calls import build_messages
from pytest_webeval.judges.questions import Ending, Question, Reply, TokenUsage
from pytest_webeval.judges.reply_store import InvalidReplyFile, ReplyStore
from tests.unit.judges.scripted import image

REPLY = Reply(text="It did: ✓", model="m-2024-08-06", usage=TokenUsage(prompt=5, completion=3, reasoning=2, cached=1))


def question(text="Done?", **changes):
    fields = {"model": "m", "method": "method", "version": "1", "step": "s", "parameters": {"seed": 1, "n_ctx": 0.5}}
    return Question(**(fields | {"messages": build_messages("Judge.", text, image(1))} | changes))


@pytest.fixture
def store(tmp_path):
    return ReplyStore(tmp_path / "judge" / "replies")


def test_a_reply_is_remembered_in_a_file_that_people_can_read(store):
    asked = question()
    assert store.get(asked) is None
    store.put(asked, REPLY)
    assert store.get(asked) == REPLY
    path = store.directory / asked.key[:2] / f"{asked.key}.json"
    assert [path] == [file for file in store.directory.rglob("*") if file.is_file()]
    content = json.loads(path.read_text("utf-8"))
    assert list(content) == ["store_version", "key", "question", "reply"]
    assert content["key"] == asked.key
    assert content["question"] == asked.to_json()
    assert content["question"]["messages"][1]["parts"] == ["Done?", {"image": image(1).sha256}]
    assert '"text": "It did: ✓"' in path.read_text("utf-8")


def test_the_same_reply_has_the_same_bytes_whatever_the_order_of_parameters(store, tmp_path):
    other = ReplyStore(tmp_path / "other")
    store.put(question(), REPLY)
    other.put(question(parameters={"n_ctx": 0.5, "seed": 1}), REPLY)
    assert store.path(question()).read_bytes() == other.path(question()).read_bytes()


def test_stores_are_merged_by_copying(store, tmp_path):
    other = ReplyStore(tmp_path / "other")
    for target, text in ((store, "first"), (other, "second")):
        with target.lock(question(text)):
            target.put(question(text), REPLY)
    copytree(other.directory, store.directory, dirs_exist_ok=True)
    assert store.get(question("first")) == store.get(question("second")) == REPLY


@pytest.mark.parametrize("ending", [Ending.TRUNCATED, Ending.FILTERED, Ending.REFUSED])
def test_an_incomplete_reply_is_not_remembered(store, ending):
    with pytest.raises(ValueError, match=f"a {ending.value} reply is not remembered"):
        store.put(question(), Reply(text="", model="m", ending=ending))
    assert not store.directory.exists()


@pytest.mark.parametrize("parameters", [{"seed": float("nan")}, {"stop": ["\ud800", "é"]}, {"seed": 2**63}])
def test_odd_values_come_back(store, parameters):
    asked = question("\udfff ✓", parameters=parameters)
    store.put(asked, REPLY)
    assert store.get(asked) == REPLY


def change(**members):
    return lambda content: json.dumps(json.loads(content) | members).encode()


def change_reply(**members):
    return lambda content: change(reply=json.loads(content)["reply"] | members)(content)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda _: b"", "truncated"),
        (lambda content: content[: len(content) // 2], "truncated"),
        (lambda _: b"\xff" * 10, "malformed"),
        (lambda _: b"[" * 100_000, ""),
        (lambda _: b"[]", "Expected `object`, got `array`"),
        (change(store_version=2), "Invalid enum value 2 @ store_version"),
        (change(key="0" * 64), "it is about another question"),
        (change(question={}), "it is about another question"),
        (change(question=question("Other?").to_json()), "it is about another question"),
        (change(question=question(parameters={"seed": True, "n_ctx": 0.5}).to_json()), "it is about another question"),
        (change(reply="yes"), "Expected `object`, got `str` @ reply"),
        (change_reply(text=None), "Expected `str`, got `null` @ reply.text"),
        (change_reply(usage={}), "missing required field `prompt` @ reply.usage"),
        (
            change_reply(usage={"prompt": -1, "completion": 0, "reasoning": 0, "cached": 0}),
            "Expected `int` >= 0 @ reply.usage.prompt",
        ),
    ],
    ids=count(),
)
def test_a_damaged_file_is_never_a_reply_and_stays_as_it_is(store, damage, message):
    asked = question()
    store.put(asked, REPLY)
    path = store.path(asked)
    path.write_bytes(damage(path.read_bytes()))
    before = path.read_bytes()
    with pytest.raises(
        InvalidReplyFile, match=r"invalid judge reply .*; restore the file, or remove it to ask"
    ) as caught:
        store.get(asked)
    assert message in str(caught.value)
    assert path.read_bytes() == before
    store.put(asked, REPLY)
    assert store.get(asked) == REPLY


def test_a_file_under_the_name_of_another_question_is_never_a_reply(store):
    store.put(question("first"), REPLY)
    store.path(question("second")).parent.mkdir(exist_ok=True)
    os.link(store.path(question("first")), store.path(question("second")))
    with pytest.raises(InvalidReplyFile, match="it is about another question"):
        store.get(question("second"))


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "directory"])
def test_only_a_regular_file_is_a_reply(store, tmp_path, kind):
    asked = question()
    store.put(asked, REPLY)
    path = store.path(asked)
    path.rename(tmp_path / "copy.json")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    else:
        path.symlink_to(tmp_path / ("copy.json" if kind == "link" else "missing.json"))
    with pytest.raises(InvalidReplyFile):
        store.get(asked)


def test_nothing_is_written_through_a_link(store, tmp_path):
    (tmp_path / "outside").mkdir()
    store.directory.mkdir(parents=True)
    for name in (question().key[:2], ".locks"):
        (store.directory / name).symlink_to(tmp_path / "outside")
    with pytest.raises(SettingsError, match="is a link; replace it with a directory"):
        store.put(question(), REPLY)
    with pytest.raises(SettingsError, match="is a link; replace it with a directory"), store.lock(question()):
        pass
    assert not list((tmp_path / "outside").iterdir())


def test_a_directory_that_cannot_be_written_is_refused_before_anything_is_asked(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match=r"cannot write .*; choose a directory for judge replies"):  # noqa: SIM117
        with ReplyStore(tmp_path / "file").lock(question()):
            raise AssertionError


def test_what_a_killed_session_was_writing_is_removed(store):
    store.put(question(), REPLY)
    leftover = store.path(question()).with_name(f".{question().key}.json.0123456789abcdef")
    leftover.write_text("{")
    store.put(question(), REPLY)
    assert not leftover.exists()


def test_a_lock_admits_threads_in_turn_and_leaves_nothing_for_git(store):
    inside, most = [], []

    def enter():
        for _ in range(20):
            with store.lock(question()):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.0005)
                inside.pop()

    threads = [threading.Thread(target=enter) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(most), max(most)) == (120, 1)
    assert [path.name for path in (store.directory / ".locks").iterdir()] == [".gitignore"]
    assert (store.directory / ".locks" / ".gitignore").read_text() == "*\n"


def test_locks_of_different_questions_do_not_wait_for_each_other(store):
    with store.lock(question("first")), store.lock(question("second")):
        pass


HOLD = """
import sys, time
from pathlib import Path
from pytest_webeval.judges.reply_store import ReplyStore
from tests.unit.judges.test_reply_store import question
with ReplyStore(Path(sys.argv[1])).lock(question()):
    print("locked", flush=True)
    time.sleep(60)
"""


def test_a_lock_ends_with_its_process(store):
    command = [sys.executable, "-c", HOLD, str(store.directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "locked\n"
        entered = threading.Event()

        def enter():
            with store.lock(question()):
                entered.set()

        thread = threading.Thread(target=enter)
        thread.start()
        assert not entered.wait(0.2)
        process.kill()
        assert entered.wait(10)
        thread.join()
