"""Whoever crashes, hangs, dies or takes too much memory is found, with the input that made it so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_webeval.errors import RecordingError
from tests.fuzz.engine import parts
from tests.fuzz.engine.corpus import Corpus
from tests.fuzz.engine.watch import resident, watched
from tests.fuzz.targets.definition import memory
from tests.fuzz.targets.table import TARGETS
from tests.fuzz.targets.target import Misbehaved, Target, expect, written

PROJECT = Path(__file__).parents[2]
MUCH = 2**28


class Numbers(Corpus):
    """Inputs that are their own numbers."""

    documents = ()

    def numbered(self, number):
        return str(number).encode()


def crash(content):
    raise KeyError(content)


def refuse(content):
    raise RecordingError("a clear word")


def ramble(content):
    raise RecordingError("one\ntwo")


def hang(content):
    time.sleep(60 if content == b"1" else 0)


def die(content):
    if content == b"1":
        os.kill(os.getpid(), signal.SIGSEGV)


def gorge(content):
    if content == b"1":
        held = b"x" * (2 * MUCH)
        time.sleep(len(held) * 0)


def report(read, inputs=3):
    return watched(Numbers(Target("made_up", read, seconds=2)), inputs, 60.0, resident(os.getpid()) + MUCH)


@pytest.mark.parametrize(
    ("read", "kind", "content"),
    [
        (crash, "crash", b"0"),
        (ramble, "crash", b"0"),
        (hang, "hang", b"1"),
        (die, "death", b"1"),
        (gorge, "memory", b"1"),
    ],
)
def test_a_fault_is_found_with_its_input_and_the_other_inputs_are_read_all_the_same(read, kind, content):
    found = report(read)
    assert [(one.kind, one.content) for one in found.findings.values()] == [(kind, content)]
    assert found.inputs == 3


def test_a_refusal_is_no_finding():
    found = report(refuse)
    assert (found.inputs, found.findings) == (3, {})
    assert found.line.startswith("made_up                3 inputs")
    assert found.line.endswith("0 findings")


def test_time_that_is_up_ends_the_work():
    found = watched(Numbers(Target("made_up", lambda _: time.sleep(0.01))), 10**9, 0.3)
    assert 1 < found.inputs < 100


def test_inputs_are_the_same_for_the_same_number_and_others_for_another_seed():
    one, same, other = (Corpus(TARGETS["har"], seed, draws=5) for seed in (1, 1, 2))
    numbers = range(20, 60)
    assert [one.numbered(number) for number in numbers] == [same.numbered(number) for number in numbers]
    assert [one.numbered(number) for number in numbers] != [other.numbered(number) for number in numbers]


def test_each_target_has_seeds_and_all_of_them_are_small():
    sizes = {name: [len(content) for content in Corpus(target).seeds] for name, target in TARGETS.items()}
    assert [name for name, each in sizes.items() if not each] == []
    assert sum(map(sum, sizes.values())) < 300_000


def test_parts_of_an_input_are_joined_as_they_were():
    content = parts.of_files({"a.json": b"{}\n", "b/c": b"x === no name", "d": b""})
    assert parts.is_parted(content)
    assert parts.files(content) == {"a.json": b"{}\n", "b/c": b"x === no name", "d": b""}


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN"])
def test_what_no_standard_knows_is_not_written(number, monkeypatch):
    written({"a": float(number)})
    monkeypatch.setattr("tests.fuzz.targets.target.to_json_bytes", lambda _: f'{{"a": {number}}}'.encode())
    with pytest.raises(Misbehaved, match=f"{number} in what is written, which is no JSON"):
        written({})


def test_what_is_expected_and_does_not_hold_is_told():
    expect(holds=True, told="nothing")
    with pytest.raises(Misbehaved, match="a word"):
        expect(holds=False, told="a word")


def run(*arguments, cwd):
    command, environment = (sys.executable, "-m", "tests.fuzz.run"), os.environ | {"PYTHONPATH": str(PROJECT)}
    return subprocess.run([*command, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.whole
def test_the_command_prints_a_line_for_each_target_and_exits_with_0_where_nothing_was_found(tmp_path):
    done = run("--inputs", "50", "times", cwd=tmp_path)
    assert [line.split()[:3] for line in done.stdout.splitlines()] == [["times", "50", "inputs"]]
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "fuzz-findings").exists()


def test_the_command_reads_one_input_again(tmp_path):
    (tmp_path / "found").write_bytes(b"[]")
    assert run("subset", "--reproduce", "found", cwd=tmp_path).stdout.startswith("subset refused it: the subset")
    assert run("nothing", cwd=tmp_path).returncode == 2


def test_a_child_leaves_no_file_and_takes_none_of_its_parent_away(tmp_path):
    own = memory()
    before = set(own.parent.iterdir())
    assert watched(Corpus(TARGETS["subset"], draws=1), 5, 60.0).inputs == 5
    assert watched(Numbers(Target("made_up", lambda _: os.kill(memory() and os.getpid(), 9))), 1, 60.0).findings
    assert own.is_dir()
    assert [path for path in set(own.parent.iterdir()) - before if path.name.startswith("fuzz-")] == []
