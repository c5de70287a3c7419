"""Run roots in stores: what a session says about them, and what it does not let them end."""

from __future__ import annotations

import pytest

from pytest_webeval.safety import files
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.sessions.remote_roots import list_problems
from pytest_webeval.sessions.remote_roots import release
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


@pytest.fixture(autouse=True)
def _detached():
    yield
    for late in list(files.LATE_FILES):
        late.close()


@pytest.mark.parametrize(
    ("count", "more"), [(0, []), (3, []), (4, ["… and 1 more"]), (20, ["… and 17 more"]), (1234, ["… and 1,231 more"])]
)
def test_the_first_skipped_objects_are_named_and_all_are_counted(tmp_path, count, more):
    mirror = Mirror.open(MemoryStore("1/a", *(f"../{number:04}" for number in range(count))), cache=tmp_path / "cache")
    lines = list_problems([mirror.description])
    assert len(lines[:3]) == min(count, 3)
    assert all(line.startswith("skipped object ") and "../0" in line for line in lines[:3])
    assert lines[3:] == more


def test_an_empty_store_is_one_problem(tmp_path):
    mirror = Mirror.open(MemoryStore(), cache=tmp_path / "cache")
    assert list_problems([mirror.description]) == ["there are no objects at memory://store/runs; check the location"]


def test_room_that_cannot_be_given_back_ends_no_session(tmp_path):
    with Mirror.open(MemoryStore("1/a"), cache=tmp_path / "cache", most_bytes=0) as mirror:
        read_file_inside(mirror.path / "1", "a")
        (tmp_path / "cache/index.jsonl").unlink()
        (tmp_path / "cache/index.jsonl").mkdir()
        release([mirror], mirror.path / "1")
