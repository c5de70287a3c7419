"""Mirrors: a store as a local directory into which runs are fetched before they are read."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import pickle
import shutil
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_webeval.api import score_run, score_runs
from pytest_webeval.errors import SettingsError, StoreError
from pytest_webeval.recordings.formats import list_signs
from pytest_webeval.safety.files import CACHE_TREE, read_beginning_inside, read_file_inside
from pytest_webeval.safety.limits import Limits
from pytest_webeval.sessions.placement.score_settings import ScoreSettings
from pytest_webeval.stores import cache, obstore_source
from pytest_webeval.stores import mirror as module
from pytest_webeval.stores.cache import default_cache
from pytest_webeval.stores.choice import LocalStore, open_store
from pytest_webeval.stores.mirror import Ahead, Mirror, attach, find_mirror
from pytest_webeval.stores.store import StoredObject, find_key_problem
from pytest_webeval.tasks.dataset import load_tasks
from pytest_webeval.tasks.sites import load_sites
from tests.support.default_run import examples
from tests.support.faulty_s3 import Faults
from tests.support.runs import Runs

ROOT = Path(__file__).parents[3]
CONTENTS = {"1/a.json": b"one", "1/shot.png": b"picture" * 100, "2/b/c.json": b"two" * 100, "empty": b""}


class CountingStore:
    """A store in memory that counts what is read from it."""

    location = "counting://store"

    def __init__(self, contents):
        self.contents, self.reads, self.etags = dict(contents), [], {}
        self.lost, self.modified, self.seconds = set(), 1_000.0, 0.0

    def list(self, prefix="", most=None):  # noqa: ARG002  (the signature)
        start = f"{prefix}/" if prefix else ""
        for key in sorted(self.contents):
            if key.startswith(start):
                yield StoredObject(key, len(self.contents[key]), self.etags.get(key), self.modified)

    def read(self, key):
        self.reads.append(key)
        time.sleep(self.seconds)
        if key in self.lost:
            raise StoreError(f"cannot read {key}: it is lost; look for it")
        return self.contents[key]


@pytest.fixture
def store():
    return CountingStore(CONTENTS)


@pytest.fixture
def opened(store, tmp_path):
    """Opens the mirror of the store, as each session does."""
    return lambda **options: Mirror.open(store, cache=tmp_path / "cache", **options)


@pytest.fixture
def mirror(opened):
    return opened()


def tree_of(root):
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*"))


def fetched(mirror, contents=CONTENTS):
    """The keys of files with the content of their objects."""
    return [key for key, content in contents.items() if content and (mirror.path / key).read_bytes() == content]


def test_a_mirror_has_the_names_and_sizes_of_all_objects_and_reads_none(mirror, store):
    assert mirror.path.name == "store"
    assert tree_of(mirror.path) == ["1", "1/a.json", "1/shot.png", "2", "2/b", "2/b/c.json", "empty"]
    assert {key: (mirror.path / key).stat().st_size for key in CONTENTS} == {k: len(v) for k, v in CONTENTS.items()}
    assert sum(path.stat().st_blocks for path in mirror.path.rglob("*") if path.is_file()) == 0
    assert (store.reads, mirror.problems, fetched(mirror)) == ([], [], [])


def test_a_run_is_fetched_as_a_whole_and_once_but_for_pictures(mirror, store):
    for _ in range(2):
        with mirror.using(mirror.path / "1"):
            assert fetched(mirror) == store.reads == ["1/a.json"]
    assert (mirror.path / "1/a.json").stat().st_mtime == 1_000
    for _ in range(2):
        mirror.fetch([mirror.path], with_pictures=True)
    assert fetched(mirror) == sorted(store.reads) == ["1/a.json", "1/shot.png", "2/b/c.json"]
    assert mirror.find_problem(mirror.path) is None


@pytest.mark.parametrize("name", ["a.PNG", "b.jpeg", "c.webm"])
def test_pictures_and_videos_are_known_by_their_names(tmp_path, name):
    store = CountingStore({f"1/{name}": b"1", "1/png": b"1"})
    mirror = Mirror.open(store, cache=tmp_path / "cache")
    mirror.fetch([mirror.path])
    assert store.reads == ["1/png"]


def test_a_path_through_a_link_is_of_the_mirror(mirror, store, tmp_path):
    (tmp_path / "link").symlink_to(mirror.path)
    mirror.fetch([tmp_path / "link/1"])
    assert store.reads == ["1/a.json"]
    with pytest.raises(StoreError, match=r"is not below .*; use a path of the mirror"):
        mirror.fetch([tmp_path])


def test_of_a_file_beyond_the_limit_there_is_the_size_alone(opened, store):
    mirror = opened(limits=Limits(file_size=299))
    mirror.fetch([mirror.path])
    assert store.reads == ["1/a.json"]
    assert (mirror.path / "2/b/c.json").stat().st_size == 300
    assert mirror.find_problem(mirror.path) is None


def test_large_files_are_fetched_one_by_one(mirror, store, monkeypatch):
    monkeypatch.setattr(module, "LARGEST_AT_ONCE", 2)
    monkeypatch.setattr(module, "ThreadPoolExecutor", None)
    mirror.fetch([mirror.path])
    assert store.reads == ["1/a.json", "2/b/c.json"]


def test_the_files_by_which_runs_are_recognized_are_fetched_before_the_others(tmp_path):
    names = ["1/result.json", "1/log.txt", "2/agent/trajectory.json", "2/agent/notes", "3/run.har", "tasks.json"]
    names += (
        [f"4/{number:02}.json" for number in range(12)]
        + [f"5{number}/result.json" for number in range(50)]
        + ["4/4.json", "4/interact_messages.json", "4/my_history_1.json"]
    )
    store = CountingStore(dict.fromkeys(names, b"1"))
    mirror = Mirror.open(store, cache=tmp_path / "cache")
    for _ in range(2):
        mirror.fetch_signs(list_signs)
    few = [*(f"4/{number:02}.json" for number in range(10)), "4/4.json"]
    others = ["1/result.json", "2/agent/trajectory.json", "4/interact_messages.json", "4/my_history_1.json"]
    others += [f"5{number}/result.json" for number in range(50)]
    assert sorted(store.reads) == sorted([*others, *few, "tasks.json"])
    assert "tasks.json" in store.reads[: module.THREADS]  # without which no run is scored


def test_of_the_files_by_which_runs_are_recognized_no_more_are_kept_than_the_cache_may_hold(opened, store):
    store.contents = {f"{number}/a/{name}": b"1" * 100 for number in range(20) for name in ("result.json", "log")}
    mirror = opened(most_bytes=450)
    mirror.fetch_signs(list_signs)
    for number in [*range(20), 3, 3]:
        for name in (f"{number}", f"{number}/a", f"{number}/a"):
            mirror.bring_signs(mirror.path / name, list_signs)
            assert mirror._index.used_bytes <= 400
        assert read_file_inside(mirror.path, f"{number}/a/result.json") == b"1" * 100
    assert len(store.reads) == 20 + 4
    for number in (9, 3, 4):
        mirror.bring_signs(mirror.path / f"{number}/a", list_signs, is_searching=False)
    assert store.reads[24:] == ["9/a/result.json", "3/a/result.json", "4/a/result.json"]
    assert not any(key.endswith("log") for key in store.reads)


def test_a_file_by_which_a_run_is_recognized_may_be_larger_than_the_cache(opened, store):
    store.contents = {"1/result.json": b"1" * 100, "2/result.json": b"2" * 10}
    mirror = opened(most_bytes=50)
    mirror.fetch_signs(list_signs)
    mirror.bring_signs(mirror.path / "1", list_signs)
    assert read_file_inside(mirror.path / "1", "result.json") == b"1" * 100
    mirror.bring_signs(mirror.path / "2", list_signs)
    assert fetched(mirror, store.contents) == ["2/result.json"]


def test_files_of_a_run_in_use_are_not_removed_for_those_by_which_another_is_recognized(opened, store):
    store.contents = {"1/agent/trajectory.json": b"1" * 100, "2/result.json": b"2" * 10}
    mirror = opened(most_bytes=100)
    mirror.fetch_signs(list_signs)
    with opened(most_bytes=100).using(mirror.path / "1"):
        mirror.bring_signs(mirror.path / "2", list_signs)
        assert fetched(mirror, store.contents) == list(store.contents)


def test_why_a_file_beyond_the_limit_was_not_fetched_is_told_by_who_recognizes_runs(opened, store):
    store.contents = {"1/result.json": b"1" * 100}
    mirror = opened(limits=Limits(file_size=99))
    mirror.fetch_signs(list_signs)
    with pytest.raises(StoreError, match=r"1/result.json has 100 bytes; the limit is 99; see file_size in"):
        read_beginning_inside(mirror.path / "1", "result.json", 10)
    assert mirror.find_problem(mirror.path) is None


@pytest.mark.parametrize("hole", [(0, 8192), (4096, 8192), (0, 4096)])
def test_a_file_with_a_part_that_was_never_written_is_fetched_again(opened, store, hole):
    store.contents = {"1/a.json": b"1" * 8192}
    mirror = opened()
    mirror.fetch([mirror.path])
    path, start, end = mirror.path / "1/a.json", *hole
    status = path.stat()
    with path.open("r+b") as file:
        file.truncate(0)
        file.write(b"1" * start)
        file.seek(end)
        file.write(b"1" * (8192 - end))
        file.truncate(8192)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (status.st_ino, status.st_mtime_ns)
    for reopened in (mirror, opened()):
        reopened.fetch([reopened.path])
        assert fetched(mirror, store.contents) == ["1/a.json"]
    assert store.reads == ["1/a.json"] * 2


def test_the_content_of_an_object_that_was_replaced_is_gone_with_the_next_listing(opened, store):
    opened().fetch([opened().path])
    store.contents["1/a.json"], store.etags = b"two", {"1/a.json": "new"}
    mirror = opened()
    with pytest.raises(StoreError, match=r"a.json was not fetched from its store, or has changed there"):
        read_file_inside(mirror.path / "1", "a.json")
    store.lost = {"1/a.json"}
    mirror.fetch([mirror.path])
    with pytest.raises(StoreError, match="it is lost; look for it"):
        read_file_inside(mirror.path / "1", "a.json")


def test_a_run_whose_object_cannot_be_fetched_has_a_problem_and_no_other_run(mirror, store):
    store.lost = {"1/a.json"}
    mirror.fetch([mirror.path / "1", mirror.path / "2"])
    problem = "cannot read 1/a.json: it is lost; look for it"
    assert [mirror.find_problem(mirror.path / name) for name in "12"] == [problem, None]
    assert not list((mirror.cache / "parts").iterdir())
    with pytest.raises(StoreError, match=f"^{problem}$"):
        read_file_inside(mirror.path / "1", "a.json")
    with pytest.raises(StoreError, match=r"shot\.png was not fetched from its store"):
        read_file_inside(mirror.path / "1", "shot.png")
    assert read_file_inside(mirror.path / "2", "b/c.json") == CONTENTS["2/b/c.json"]


@pytest.mark.parametrize("is_ahead", [True, False])
def test_what_has_failed_is_told_once_and_then_tried_again(mirror, store, is_ahead):
    store.lost = {"1/a.json"}
    if is_ahead:
        mirror.prefetch([mirror.path / "1"])
        mirror.prefetch([mirror.path / "1"])
    with mirror.using(mirror.path / "1"):
        assert mirror.find_problem(mirror.path / "1") is not None
    assert store.reads == ["1/a.json"]
    store.lost = set()
    with mirror.using(mirror.path / "1"):
        assert mirror.find_problem(mirror.path / "1") is None
        assert fetched(mirror) == ["1/a.json"]


def test_a_file_for_which_the_disk_has_no_room_is_a_problem_of_its_run(mirror, store):
    shutil.rmtree(mirror.path / "1")
    mirror.fetch([mirror.path / "1", mirror.path / "2"])
    problem = "cannot keep counting://store/1/a.json in the cache: No such file or directory; make room in "
    assert mirror.find_problem(mirror.path / "1").startswith(problem)
    assert mirror.find_problem(mirror.path / "2") is None
    assert not list((mirror.cache / "parts").iterdir())


@pytest.mark.parametrize("content", [b"", b"on", b"oneone"])
def test_an_object_of_another_size_than_listed_is_read_again_and_then_an_error(mirror, store, content, quick_retries):
    store.contents["1/a.json"] = content
    mirror.fetch([mirror.path / "1"])
    message = f"cannot read counting://store/1/a.json: it has {len(content)} bytes, but 3 in the listing; it was"
    assert mirror.find_problem(mirror.path / "1").startswith(message)
    assert len(store.reads) == 3


DIFFERS = "its content differs from the checksum in the listing"


def checksums(contents):
    return {key: hashlib.md5(content, usedforsecurity=False).hexdigest() for key, content in contents.items()}


def test_an_object_that_differs_from_its_checksum_is_an_error(opened, store, quick_retries):
    store.etags = checksums(CONTENTS)
    mirror = opened()
    store.contents["1/a.json"] = b"two"
    mirror.fetch([mirror.path])
    assert DIFFERS in mirror.find_problem(mirror.path / "1")
    assert (mirror.find_problem(mirror.path / "2"), fetched(mirror)) == (None, ["2/b/c.json"])


def test_the_only_object_of_a_store_has_to_fit_its_checksum(tmp_path, quick_retries):
    store = CountingStore({"a": b"one"})
    store.etags = {"a": "0" * 32}
    mirror = Mirror.open(store, cache=tmp_path / "cache")
    mirror.fetch([mirror.path])
    assert DIFFERS in mirror.find_problem(mirror.path)


def test_etags_that_are_checksums_of_no_object_are_no_checksums(opened, store, quick_retries):
    store.etags = dict.fromkeys(CONTENTS, "0" * 32)
    mirror = opened()
    mirror.fetch([mirror.path / "1"])
    assert fetched(mirror) == ["1/a.json"]


@pytest.mark.parametrize("is_obstore", [True, False])
def test_an_object_that_is_encrypted_with_a_key_has_no_checksum(s3, tmp_path, quick_retries, monkeypatch, is_obstore):
    if not is_obstore:
        monkeypatch.setattr(obstore_source, "find_spec", {}.get)
    s3.put({f"runs/{name}/a": name.encode() for name in ("plain", "encrypted", "altered")})
    s3.restart(Faults(altered=["runs/encrypted/a", "runs/altered/a"], encrypted=["runs/encrypted/a"]))
    mirror = Mirror.open(open_store("s3://bucket/runs"), cache=tmp_path / "cache")
    mirror.fetch([mirror.path])
    assert (mirror.path / "encrypted/a").read_bytes() == b"ENCRYPTED"
    assert DIFFERS in mirror.find_problem(mirror.path / "altered")


def test_objects_that_cannot_be_read_prove_nothing_about_checksums(opened, store, quick_retries):
    store.etags = checksums(CONTENTS)
    mirror = opened()
    store.contents["1/a.json"] = b"two"
    store.lost = {"1/shot.png", "2/b/c.json"}
    mirror.fetch([mirror.path / "1"])
    assert DIFFERS in mirror.find_problem(mirror.path / "1")


@pytest.mark.parametrize(("most", "count"), [(2, 0), (3, 1), (302, 1), (303, 2)])
def test_no_more_is_fetched_ahead_than_the_budget_of_the_cache(opened, store, most, count):
    mirror = opened(most_bytes=most)
    mirror.prefetch([mirror.path / "1", mirror.path / "2"])
    assert len(store.reads) == count
    mirror.fetch([mirror.path / "1", mirror.path / "2"])
    assert sorted(store.reads) == ["1/a.json", "2/b/c.json"]


def test_a_session_that_ends_waits_only_for_files_on_their_way(opened, store, monkeypatch):
    monkeypatch.setattr(module, "THREADS", 2)
    store.contents = {f"1/{number:03}": b"content" for number in range(300)}
    store.seconds = 0.05
    mirror = opened()
    with ThreadPoolExecutor(1) as pool:
        ahead = pool.submit(mirror.prefetch, [mirror.path / "1"])
        while not store.reads:
            time.sleep(0.01)
        mirror.stop()
        ahead.result(60)
    assert len(store.reads) < 20


def test_a_fetched_file_stays_as_long_as_its_object_is_the_same(opened, store):
    for reads, etag in enumerate("xxy"):
        store.etags = {"1/a.json": etag}
        mirror = opened()
        mirror.fetch([mirror.path / "1"])
        assert len(store.reads) == max(reads, 1)


def test_a_mirror_follows_what_changes_in_the_store(opened, store):
    mirror = opened()
    mirror.fetch([mirror.path])
    (mirror.path / "1/eval_result.json").write_text("{}")
    store.contents = {"1": b"now a file", "2/b/c.json/d": b"now a directory", "3/x": b"new"}
    mirror = opened()
    mirror.fetch([mirror.path])
    assert tree_of(mirror.path) == ["1", "2", "2/b", "2/b/c.json", "2/b/c.json/d", "3", "3/x"]
    assert fetched(mirror, store.contents) == list(store.contents)


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe{", b'\n["1/a.json"', b'\n["1/a.json","",0,0,0]', b"\n[]\n{}\n\n"])
def test_a_damaged_index_costs_a_fetch_at_most(opened, store, damage):
    mirror = opened()
    mirror.fetch([mirror.path / "1"])
    index = mirror.cache / "index.jsonl"
    index.write_bytes(index.read_bytes() + damage if damage else b"")
    for _ in range(2):
        mirror = opened()
        mirror.fetch([mirror.path / "1"])
        assert fetched(mirror) == ["1/a.json"]
    assert len(store.reads) <= 2


def test_a_file_that_was_changed_in_the_cache_is_fetched_again(opened):
    mirror = opened()
    mirror.fetch([mirror.path / "1"])
    (mirror.path / "1/a.json").write_bytes(b"bad")
    mirror = opened()
    mirror.fetch([mirror.path / "1"])
    assert fetched(mirror) == ["1/a.json"]


def test_a_link_in_the_cache_is_replaced_and_not_followed(opened, tmp_path):
    mirror = opened()
    (tmp_path / "own").write_bytes(b"own")
    (mirror.path / "1/a.json").unlink()
    (mirror.path / "1/a.json").symlink_to(tmp_path / "own")
    mirror = opened()
    mirror.fetch([mirror.path / "1"])
    assert fetched(mirror) == ["1/a.json"]
    assert (tmp_path / "own").read_bytes() == b"own"


def test_a_file_of_a_store_with_neither_etags_nor_times_is_fetched_by_each_session(opened, store):
    store.modified = None
    for count, content in enumerate((b"one", b"two"), 1):
        store.contents["1/a.json"] = content
        mirror = opened()
        for _ in range(2):
            mirror.fetch([mirror.path / "1"])
        assert (mirror.path / "1/a.json").read_bytes() == content
        assert len(store.reads) == count


def test_files_that_are_gone_do_not_count_for_the_budget_of_the_cache(opened, store):
    mirror = opened()
    mirror.fetch([mirror.path], with_pictures=True)
    del store.contents["2/b/c.json"]
    store.contents["1/shot.png"] = b"another picture"
    mirror = opened(most_bytes=100)
    mirror.fetch([mirror.path], with_pictures=True)
    mirror.release(mirror.path / "1")
    assert fetched(mirror, store.contents) == ["1/a.json", "1/shot.png"]


def test_a_cache_over_its_budget_gives_room_back_of_runs_that_nobody_uses(opened, store):
    mirror, other = opened(most_bytes=302), opened(most_bytes=302)
    mirror.fetch([mirror.path])
    with other.using(mirror.path / "2"):
        mirror.release(mirror.path / "2")
        assert fetched(mirror) == ["1/a.json", "2/b/c.json"]
    mirror.release(mirror.path / "2")
    mirror.release(mirror.path / "1")
    assert fetched(mirror) == ["1/a.json"]
    assert (mirror.path / "2/b/c.json").stat().st_size == 300
    with mirror.using(mirror.path / "2"):
        assert fetched(mirror) == ["1/a.json", "2/b/c.json"]


def test_a_run_that_is_being_released_is_complete_before_it_is_used(opened, store, monkeypatch):
    mirror = opened(most_bytes=0)
    mirror.fetch([mirror.path / "1"])
    write, releasing = mirror._tree.write, threading.Event()

    def write_late(entry, content):
        if content is None:
            releasing.set()
            time.sleep(0.2)
        return write(entry, content)

    monkeypatch.setattr(mirror._tree, "write", write_late)
    with ThreadPoolExecutor(1) as pool:
        release = pool.submit(mirror.release, mirror.path / "1")
        assert releasing.wait(10)
        with mirror.using(mirror.path / "1"):
            assert fetched(mirror) == ["1/a.json"]
        release.result(10)


def test_room_that_cannot_be_given_back_ends_no_session(opened):
    mirror = opened(most_bytes=0)
    mirror.fetch([mirror.path / "1"])
    (mirror.cache / "index.jsonl").unlink()
    (mirror.cache / "index.jsonl").mkdir()
    mirror.release(mirror.path / "1")


def test_a_store_without_objects_is_a_warning(tmp_path):
    mirror = Mirror.open(CountingStore({}), cache=tmp_path / "cache")
    assert mirror.problems == ["there are no objects at counting://store; check the location"]
    assert (mirror.problem_count, tree_of(mirror.path)) == (1, [])


def test_objects_of_a_listing_become_a_part_of_the_tree_elsewhere(store, mirror, tmp_path):
    batches = [list(mirror.objects_below(mirror.path / name)) for name in ("1", "2")]
    mirrors = [Mirror.of_objects(store, batch, tmp_path / "other") for batch in batches]
    assert mirrors[0].path == mirrors[1].path
    assert tree_of(mirrors[0].path) == ["1", "1/a.json", "1/shot.png", "2", "2/b", "2/b/c.json"]
    for each in mirrors:
        each.fetch([each.path])
    assert fetched(mirrors[0]) == ["1/a.json", "2/b/c.json"]


def test_a_run_of_which_all_objects_are_given_has_no_file_from_before(store, tmp_path):
    store.contents |= {"1/old/a.json": b"old"}
    mirror = Mirror.of_objects(store, store.list(), tmp_path / "cache")
    mirror.fetch([mirror.path], with_pictures=True)
    rest = [entry for entry in store.list() if entry.key == "1/a.json"]
    mirror.lay_out(rest, {"1"})
    assert tree_of(mirror.path) == ["1", "1/a.json", "2", "2/b", "2/b/c.json", "empty"]
    assert fetched(mirror, {"1/a.json": b"one"}) == ["1/a.json"]
    assert [entry.key for entry in mirror.objects_below(mirror.path)] == ["1/a.json"]


def test_a_run_that_is_scored_alone_has_no_file_from_before(tmp_path):
    origin = Runs(tmp_path / "store/runs")
    origin.add(7)
    store = LocalStore(str(tmp_path / "store"))
    location = CountingStore({entry.key: store.read(entry.key) for entry in store.list()})
    settings = ScoreSettings(tasks=load_tasks(origin.root / "tasks.json"))
    assert score_run(location, "runs/7", settings, cache=tmp_path / "cache").status == "success"
    location.lost, location.etags = {"runs/7/network.har"}, {"runs/7/network.har": "new"}
    result = score_run(location, "runs/7", settings, cache=tmp_path / "cache")
    assert (result.status, result.error_msg) == (
        "error",
        "cannot read runs/7/network.har: it is lost; look for it",
    )
    del location.contents["runs/7/network.har"]
    result = score_run(location, "runs/7", settings, cache=tmp_path / "cache")
    assert (result.status, "network.har" in (result.error_msg or "")) == ("error", True)


def test_the_index_of_a_cache_is_read_once_for_many_parts_of_its_tree(store, tmp_path, monkeypatch):
    lines = []
    decoder = cache._DECODER

    class Counting:
        def decode(self, line):
            lines.append(line)
            return decoder.decode(line)

    monkeypatch.setattr(cache, "_DECODER", Counting())
    for _ in range(5):
        mirror = Mirror.of_objects(store, store.list(), tmp_path / "cache")
        mirror.fetch([mirror.path], with_pictures=True)
    assert len(lines) == len(store.reads) == 3


def test_a_file_that_another_session_has_removed_keeps_no_other_from_being_released(opened):
    mirror = opened(most_bytes=0)
    mirror.fetch([mirror.path / "1"], with_pictures=True)
    (mirror.path / "1/a.json").unlink()
    mirror.release(mirror.path / "1")
    assert (mirror.path / "1/shot.png").read_bytes() == bytes(700)


def test_a_mirror_is_one_object_in_a_process_as_long_as_it_is_used(mirror, store, tmp_path):
    assert attach(store, mirror.cache, mirror.listing) is mirror
    assert pickle.loads(pickle.dumps(Mirror.open(LocalStore(str(tmp_path)), cache=tmp_path / "own"))).largest == 2**29
    assert find_mirror(mirror.path) is mirror
    assert find_mirror(tmp_path) is None


def _fetch_all(mirror, names):
    mirror.fetch([mirror.path])
    return [(mirror.path / name).read_bytes() for name in names]


@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_processes_share_a_mirror(tmp_path, method):
    origin = LocalStore(str(tmp_path / "origin"))
    contents = {f"{number}/a": f"{number}".encode() * 1000 for number in range(50)}
    for key, content in contents.items():
        origin.write(key, content)
    mirror = Mirror.open(origin, cache=tmp_path / "cache")
    with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
        futures = [pool.submit(_fetch_all, mirror, list(contents)) for _ in range(2)]
        for future in futures:
            assert future.result(60) == list(contents.values())
    assert pickle.loads(pickle.dumps(mirror)) is mirror
    shutil.rmtree(origin.location)
    mirror.fetch([mirror.path])
    assert mirror.find_problem(mirror.path) is None


def test_what_processes_that_are_gone_left_is_removed_from_the_cache(opened, store, tmp_path, monkeypatch):
    opened()
    (tmp_path / "cache/parts/0123").touch()
    store.contents = {"other": b"1"}
    opened()
    assert len(list((tmp_path / "cache").glob("listing-*"))) == 2
    monkeypatch.setattr(cache, "_SECONDS", -60.0)
    opened()
    assert len(list((tmp_path / "cache").glob("listing-*"))) == 1
    assert not list((tmp_path / "cache/parts").iterdir())


def test_the_index_is_written_anew_when_most_of_it_is_of_no_use(opened, monkeypatch):
    monkeypatch.setattr(cache, "_MOST_STALE", 3)
    mirror = opened(most_bytes=0)
    for _ in range(5):
        mirror.fetch([mirror.path / "1"])
        mirror.release(mirror.path / "1")
    mirror.fetch([mirror.path / "1"])
    index = mirror.cache / "index.jsonl"
    assert index.read_bytes().count(b"\n") == 11
    assert fetched(opened()) == ["1/a.json"]
    assert index.read_bytes().count(b"\n") == 1


def test_the_cache_is_private_and_named_after_the_location(store, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    with Mirror.open(store) as mirror:
        place = default_cache(store.location)
        assert mirror.path.parents[1] == place
        assert place.parent == tmp_path / "caches/pytest-webeval"
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in (place, mirror.path, mirror.path / "1"))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert default_cache("a") == Path.home() / ".cache/pytest-webeval" / default_cache("a").name


def test_a_user_without_home_needs_a_cache(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    with pytest.raises(SettingsError, match="no home directory for a cache; set XDG_CACHE_HOME"):
        default_cache("a")


OPEN = """
import sys
from pathlib import Path
from pytest_webeval.stores.cache import open_cache
sys.stdin.read()
for number in range(300):
    open_cache(Path(sys.argv[1], str(number)), "a")
"""


def test_processes_make_a_cache_at_the_same_time(tmp_path):
    command = [sys.executable, "-c", OPEN, str(tmp_path / "caches")]
    with (tmp_path / "errors").open("w") as errors:
        processes = [subprocess.Popen(command, stdin=subprocess.PIPE, stderr=errors) for _ in range(3)]
        time.sleep(0.5)  # so that both wait
        for process in processes:
            process.stdin.close()
        assert [process.wait(60) for process in processes] == [0, 0, 0], (tmp_path / "errors").read_text()


def test_a_directory_that_others_can_read_becomes_private(opened, tmp_path):
    (tmp_path / "cache").mkdir(mode=0o755)
    opened()
    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700


FETCH_ALL = """
import sys
from pathlib import Path
from pytest_webeval.stores.choice import LocalStore
from pytest_webeval.stores.mirror import Mirror
mirror = Mirror.open(LocalStore(sys.argv[1]), cache=Path(sys.argv[2]))
while True:
    mirror.prefetch([mirror.path])
    for entry in mirror.objects_below(mirror.path):
        mirror._tree.write(entry, None)
"""


def test_processes_that_are_killed_while_they_fetch_leave_a_cache_that_holds_no_wrong_file(tmp_path):
    origin, cache = LocalStore(str(tmp_path / "origin")), tmp_path / "cache"
    contents = {f"{number}/a": f"{number}".encode() * 100 for number in range(100)}
    for key, content in contents.items():
        origin.write(key, content)
    processes = [subprocess.Popen([sys.executable, "-c", FETCH_ALL, origin.location, str(cache)]) for _ in range(2)]
    index, deadline = cache / "index.jsonl", time.monotonic() + 60
    while not index.exists() or index.stat().st_size < 20_000:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    for process in processes:
        process.kill()
        process.wait()
    mirror = Mirror.open(origin, cache=cache)
    mirror.fetch([mirror.path])
    assert fetched(mirror, contents) == list(contents)


def _make_link(path):
    path.symlink_to(path.parent, target_is_directory=True)


def _make_other_files(path):
    path.mkdir()
    (path / "thesis.txt").touch()


def _make_other_location(path):
    other = CountingStore({})
    other.location += "/other"
    Mirror.open(other, path)


def _make_writable(path):
    path.mkdir()
    path.chmod(0o777)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (_make_link, "it is a link, not a directory"),
        (Path.touch, "File exists"),
        (_make_other_files, "it has other files; choose an empty directory"),
        (_make_other_location, "it is the cache of another location; choose another cache"),
        (_make_writable, "other users can write to it; choose another cache"),
    ],
)
def test_a_directory_that_is_no_private_cache_is_refused(store, tmp_path, make, problem):
    make(tmp_path / "cache")
    with pytest.raises(SettingsError, match=problem):
        Mirror.open(store, cache=tmp_path / "cache")
    assert not store.reads


def test_a_listing_beyond_the_limit_is_an_error(store, tmp_path):
    with pytest.raises(StoreError, match="more than 3 objects"):
        Mirror.open(store, cache=tmp_path / "cache", limits=Limits(stored_objects=3))


NAMES = st.text(st.sampled_from("aé./\n\0 \\") | st.characters(exclude_categories=()), min_size=1, max_size=12)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(NAMES | st.sampled_from(["../../x", "/etc/x", "a/../../x", "files/../x"]), st.binary(), max_size=8)
)
def test_nothing_lies_outside_the_cache_and_every_good_key_is_read_as_it_was(tmp_path, contents):
    base = tmp_path / "base"
    shutil.rmtree(base, ignore_errors=True)
    base.mkdir()
    mirror = Mirror.open(CountingStore(contents), cache=base / "cache")
    mirror.fetch([mirror.path], with_pictures=True)
    assert [path.name for path in base.iterdir()] == ["cache"]
    own = {path.name.partition("-")[0] for path in (base / "cache").iterdir()}
    assert own <= {"CACHEDIR.TAG", CACHE_TREE, "parts", "lock", "index.jsonl", "listing"}
    assert [path.name for path in (base / "cache" / CACHE_TREE).iterdir()] == ["store"]
    for key, content in contents.items():
        is_both = any(other.startswith(f"{key}/") for other in contents)
        if find_key_problem(key) is None and not is_both:
            assert (mirror.path / key).read_bytes() == content
    assert not any(Path("/", key.strip("/")).exists() for key in contents if key == "/etc/x")


def scored(root, output):
    sites = load_sites(ROOT / "example_suite/config.json")
    results = {str(result.task_id): result for result in score_runs(root, sites=sites, output=output)}
    return {name: (result.status, result.score, result.error_msg) for name, result in results.items()}


def test_the_example_suite_in_a_store_scores_as_on_the_disk_and_no_screenshot_is_fetched(s3, tmp_path):
    for name in ("runs", "trajectories"):
        local = ROOT / "example_suite" / name
        s3.put_tree(local, f"{name}/")
        mirror = Mirror.open(open_store(f"s3://bucket/{name}"), cache=tmp_path / f"cache-{name}")
        assert mirror.path.name == name
        expected = scored(local, tmp_path / "expected" / name)
        assert scored(mirror.path, tmp_path / "output" / name) == expected
        assert len(expected) >= 7
        shots = list(mirror.path.rglob("*.png"))
        assert not any(path.stat().st_blocks for path in shots)
    assert shots


def test_faults_of_a_store_change_no_result_and_are_told_where_they_last(s3, tmp_path, quick_retries):
    s3.put_tree(ROOT / "example_suite/runs", "runs/")
    expected = scored(ROOT / "example_suite/runs", tmp_path / "expected")
    s3.restart(Faults(share=0.2, half_written=["runs/103/agent_response.json"], altered=["runs/104/network.har"]))
    mirror = Mirror.open(open_store("s3://bucket/runs"), cache=tmp_path / "cache")
    mirror.prefetch([mirror.path / "101", mirror.path / "103"])
    results = scored(mirror.path, tmp_path / "output")
    assert {name for name in expected if results[name] != expected[name]} == {"103", "104"}
    assert "s3://bucket/runs/103/agent_response.json: it has" in results["103"][2]
    assert "differs from the checksum in the listing" in results["104"][2]


PATHS = [Path(str(number)) for number in range(20)]


def test_some_directories_are_fetched_ahead_from_any_on_and_each_once():
    fetched = []
    ahead = Ahead(PATHS, fetched.extend, most=4, size=2)
    ahead.reach(PATHS[10])
    ahead.reach(PATHS[11])
    assert fetched[:2] == PATHS[10:12]
    ahead.reach(PATHS[0])
    ahead.reach(Path("unknown"))
    ahead.close()
    assert sorted(fetched, key=PATHS.index) == [*PATHS[:6], *PATHS[10:16]]


def test_what_a_fetch_raises_reaches_whoever_waits_for_it():
    ahead = Ahead(PATHS, lambda _: 1 / 0, most=1)
    with pytest.raises(ZeroDivisionError):
        ahead.reach(PATHS[0])
