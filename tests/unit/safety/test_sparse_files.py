"""Files that take little room on the disk and much in the memory: holes, zeros and JSON of very many values."""

from __future__ import annotations

import errno
import os
import tracemalloc
from functools import partial

import pytest

from pytest_webeval import Limits
from pytest_webeval.errors import RecordingError, StoreError
from pytest_webeval.recordings.formats import fara_trajectory
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from pytest_webeval.safety.files import open_file_inside, read_beginning_inside, read_file_inside
from pytest_webeval.safety.json import load_exact, load_lenient

SPARSE = 300 * 2**20
NAMES = [
    "network.har",
    "trace.zip",
    "trace.network",
    "core.log",
    "scores.json",
    "log.jsonl",
    "shot.png",
    "answer",
    "a.txt",
]
SHAPES = {
    "all": [(0, b"")],
    "beginning": [(0, b"PNG")],
    "end": [(SPARSE - 3, b"END")],
    "both": [(0, b"PNG"), (SPARSE - 3, b"END")],
    "many": [(place, b"DATA") for place in range(0, SPARSE, 8 * 2**20)],
}


def write_pieces(path, pieces, size=SPARSE):
    with path.open("wb") as file:
        file.truncate(size)
        for place, content in pieces:
            file.seek(place)
            file.write(content)


@pytest.fixture
def peak():
    """The largest amount of memory that was in use since."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


@pytest.mark.parametrize("time", [None, 0])
@pytest.mark.parametrize("pieces", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("name", NAMES)
def test_a_large_file_that_takes_no_room_on_the_disk_takes_none_in_the_memory(tmp_path, peak, name, pieces, time):
    write_pieces(tmp_path / name, pieces)
    if time is not None:
        os.utime(tmp_path / name, (time, time))
    with pytest.raises(RecordingError, match=f"{name} (ends in zeros: |has a hole of .*, which were never written)"):
        RunInputs(tmp_path).read(name)
    assert peak() < 2**20


@pytest.mark.parametrize("pieces", [[(0, b"PNG")], [(15 * 2**20, b"PNG")], [(9 * 2**20, b"PNG")]])
def test_a_file_with_a_hole_of_less_than_16_mib_is_read(tmp_path, pieces):
    write_pieces(tmp_path / "shot.png", pieces, 16 * 2**20)
    assert RunInputs(tmp_path).read("shot.png").strip(b"\0") == b"PNG"


@pytest.mark.parametrize("error", [errno.EINVAL, errno.ENOSYS])
def test_a_system_that_knows_no_holes_reads_the_file(tmp_path, monkeypatch, error):
    lseek = os.lseek

    def seek(handle, place, kind):
        if kind != os.SEEK_SET:
            raise OSError(error, os.strerror(error))
        return lseek(handle, place, kind)

    write_pieces(tmp_path / "shot.png", [(0, b"PNG")], 20 * 2**20)
    monkeypatch.setattr(os, "lseek", seek)
    assert len(RunInputs(tmp_path).read("shot.png")) == 20 * 2**20


def test_a_file_of_written_zeros_has_no_hole(tmp_path):
    (tmp_path / "shot.png").write_bytes(bytes(17 * 2**20))
    assert len(RunInputs(tmp_path).read("shot.png")) == 17 * 2**20


@pytest.mark.parametrize("folder", [".", ".files", "cache/.files/7"])
def test_a_local_file_of_zeros_is_in_no_store_whatever_its_time(tmp_path, folder):
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    path = tmp_path / folder / "a.json"
    path.write_bytes(bytes(100))
    os.utime(path, (0, 0))
    assert read_file_inside(path.parent, "a.json") == bytes(100)
    assert read_beginning_inside(path.parent, "a.json", 10) == bytes(10)


def _read_opened(directory, name):
    with open_file_inside(directory, name) as file:
        return file.read()


READERS = [
    read_file_inside,
    partial(read_beginning_inside, most=10),
    _read_opened,
]


@pytest.mark.parametrize("read", READERS)
def test_zeros_below_the_tag_of_a_cache_are_not_read(tmp_path, read):
    path = tmp_path / "cache/.files/7/a.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(bytes(100))
    os.utime(path, (0, 0))
    (tmp_path / "cache/CACHEDIR.TAG").touch()
    with pytest.raises(StoreError, match="was not fetched from its store, or has changed there since; list the"):
        read(path.parent, "a.json")


MANY = f"[{','.join(['[]'] * 150)}]"


def test_json_of_many_small_values_is_not_read(tmp_path):
    (tmp_path / "a.json").write_text(f'{{"other": {MANY}}}')
    (tmp_path / "task_data.json").write_text(f'{{"other": {MANY}}}')
    inputs = RunInputs(tmp_path, limits=Limits(values=200))
    with pytest.raises(
        UnreadableTrajectory, match=r"a.json holds more values than 200; the limit is 200; raise values"
    ):
        RecordedFiles(inputs).read_json("a.json")
    trajectory = fara_trajectory.read(RecordedFiles(inputs))
    assert trajectory.task_data.raw == {}
    assert any("task_data.json holds more values than 200; " in text for text in trajectory.warnings)
    assert len(RecordedFiles(RunInputs(tmp_path)).read_json("a.json").raw["other"]) == 150
    whole = fara_trajectory.read(RecordedFiles(RunInputs(tmp_path)))
    assert len(whole.task_data.raw["other"]) == 150


@pytest.mark.parametrize("read", [load_lenient, load_exact])
def test_a_line_or_a_verdict_of_more_values_than_memory_has_room_for_is_not_read(read):
    with pytest.raises(ValueError, match="it holds more than 2,000,000 values"):
        read(f"[{','.join(['[]'] * 1_000_001)}]")
