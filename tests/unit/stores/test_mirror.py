"""Mirrors: a store as a local directory whose files are fetched when they are read."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import shutil
import stat
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_webeval.api import score_run, score_runs
from pytest_webeval.errors import RecordingError, SettingsError, StoreError
from pytest_webeval.safety import files
from pytest_webeval.safety.deadline import time_limit
from pytest_webeval.safety.files import read_beginning_inside, read_file_inside
from pytest_webeval.safety.limits import Limits
from pytest_webeval.scoring.score_settings import ScoreSettings
from pytest_webeval.stores import cache_index, obstore_source
from pytest_webeval.stores.cache_directory import FILES, default_cache
from pytest_webeval.stores.choice import open_store
from pytest_webeval.stores.keys import find_key_problem
from pytest_webeval.stores.local import LocalStore
from pytest_webeval.stores.mirror import Mirror, attach
from pytest_webeval.stores.store import StoredObject
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

    def read_range(self, key, start, end):
        self.reads.append((key, start, end))
        time.sleep(self.seconds)
        return self.contents[key][start:end]


@pytest.fixture
def store():
    return CountingStore(CONTENTS)


@pytest.fixture
def mirror(store, tmp_path):
    with Mirror.open(store, cache=tmp_path / "cache") as mirror:
        yield mirror


@pytest.fixture(autouse=True)
def _detached():
    yield
    for late in list(files.LATE_FILES):
        late.close()


def is_fetched(path):
    return path.stat().st_mtime_ns != 0


def tree_of(root):
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*"))


def test_a_mirror_has_the_names_and_sizes_of_all_objects_and_reads_none(mirror, store):
    assert mirror.path.name == "store"
    assert tree_of(mirror.path) == ["1", "1/a.json", "1/shot.png", "2", "2/b", "2/b/c.json", "empty"]
    assert {key: (mirror.path / key).stat().st_size for key in CONTENTS} == {k: len(v) for k, v in CONTENTS.items()}
    assert not any(is_fetched(mirror.path / key) for key in CONTENTS if key != "empty")
    assert (store.reads, mirror.problems) == ([], [])


def test_a_file_is_fetched_when_it_is_first_read(mirror, store):
    for _ in range(2):
        assert read_file_inside(mirror.path / "2", "b/c.json") == CONTENTS["2/b/c.json"]
    assert store.reads == ["2/b/c.json"]
    assert (mirror.path / "2/b/c.json").stat().st_mtime == 1_000
    assert (mirror.path / "2/b/c.json").read_bytes() == CONTENTS["2/b/c.json"]
    assert read_file_inside(mirror.path, "empty") == b""


def test_a_path_through_a_link_or_the_present_directory_is_of_the_mirror(mirror, tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(mirror.path)
    assert read_file_inside(tmp_path / "link/1", "a.json") == b"one"
    monkeypatch.chdir(mirror.path)
    assert read_file_inside(Path("2"), "b/c.json") == CONTENTS["2/b/c.json"]


def test_the_beginning_of_a_file_does_not_fetch_it(mirror, store):
    for _ in range(2):
        assert read_beginning_inside(mirror.path / "2", "b/c.json", 4) == b"twot"
    assert store.reads == [("2/b/c.json", 0, 4)]
    assert not is_fetched(mirror.path / "2/b/c.json")
    assert read_beginning_inside(mirror.path / "1", "a.json", 4) == b"one"
    assert is_fetched(mirror.path / "1/a.json")


def test_a_file_beyond_the_limit_is_refused_before_it_is_fetched(mirror, store):
    with pytest.raises(RecordingError, match=r"has 300 bytes; the limit is 10"):
        read_file_inside(mirror.path / "2", "b/c.json", 10)
    assert not store.reads


def test_a_local_file_whose_time_is_0_is_read_as_it_is(mirror, tmp_path):
    (tmp_path / "a").write_text("local")
    os.utime(tmp_path / "a", (0, 0))
    assert read_file_inside(tmp_path, "a") == b"local"
    assert read_beginning_inside(tmp_path, "a", 2) == b"lo"


@pytest.mark.parametrize("read", [read_file_inside, partial(read_beginning_inside, most=2)])
def test_a_placeholder_is_never_read_as_zeros(mirror, read):
    mirror.close()
    with pytest.raises(StoreError, match=r"/1/a\.json is in a store that this process has not opened; open its mirror"):
        read(mirror.path / "1", "a.json")
    assert read(mirror.path, "empty") == b""


def test_a_placeholder_that_is_not_in_the_listing_is_an_error(mirror):
    (mirror.path / "1/new").write_bytes(b"\0\0")
    os.utime(mirror.path / "1/new", (0, 0))
    with pytest.raises(RecordingError, match="is not in the listing of the store; score the runs again"):
        read_file_inside(mirror.path / "1", "new")


def test_an_object_that_cannot_be_read_is_an_error_of_its_run(mirror, store):
    del store.contents["1/a.json"]
    store.read = lambda key: (_ for _ in ()).throw(StoreError(f"cannot read {key}"))
    for read in (read_file_inside, read_beginning_inside):
        with pytest.raises(StoreError, match=r"cannot read 1/a\.json"):
            read(mirror.path / "1", "a.json", 100)
    assert not is_fetched(mirror.path / "1/a.json")
    assert not list((mirror.path.parents[1] / "parts").iterdir())


def test_the_time_of_a_slow_store_is_not_that_of_a_run(mirror, store):
    store.seconds = 0.2
    with time_limit(0.1, "the time is over"):
        assert read_beginning_inside(mirror.path / "2", "b/c.json", 2) == b"tw"
        assert read_file_inside(mirror.path / "1", "a.json") == b"one"


@pytest.mark.parametrize("content", [b"", b"on", b"oneone"])
def test_an_object_of_another_size_than_listed_is_read_again_and_then_an_error(mirror, store, content, quick_retries):
    store.contents["1/a.json"] = content
    message = rf"cannot read counting://store/1/a\.json: it has {len(content)} bytes, but 3 in the listing; it was"
    with pytest.raises(StoreError, match=message):
        read_file_inside(mirror.path / "1", "a.json")
    assert len(store.reads) == 3


def test_an_object_that_differs_from_its_checksum_is_an_error(store, tmp_path, quick_retries):
    import hashlib

    store.etags = {key: hashlib.md5(content).hexdigest() for key, content in CONTENTS.items()}
    with Mirror.open(store, cache=tmp_path / "cache") as mirror:
        store.contents["1/a.json"] = b"two"
        with pytest.raises(StoreError, match="its content differs from the checksum in the listing"):
            read_file_inside(mirror.path / "1", "a.json")
        assert read_file_inside(mirror.path / "2", "b/c.json") == CONTENTS["2/b/c.json"]


def test_the_only_object_of_a_store_has_to_fit_its_checksum(tmp_path, quick_retries):
    store = CountingStore({"a": b"one"})
    store.etags = {"a": "0" * 32}
    with (
        Mirror.open(store, cache=tmp_path / "cache") as mirror,
        pytest.raises(StoreError, match="its content differs from the checksum"),
    ):
        read_file_inside(mirror.path, "a")


def test_etags_that_are_checksums_of_no_object_are_no_checksums(store, tmp_path, quick_retries):
    store.etags = dict.fromkeys(CONTENTS, "0" * 32)
    with Mirror.open(store, cache=tmp_path / "cache") as mirror:
        assert read_file_inside(mirror.path / "1", "a.json") == b"one"


@pytest.mark.parametrize("is_obstore", [True, False])
def test_an_object_that_is_encrypted_with_a_key_has_no_checksum(s3, tmp_path, quick_retries, monkeypatch, is_obstore):
    if not is_obstore:
        monkeypatch.setattr(obstore_source, "find_spec", {}.get)
    s3.put({f"runs/1/{name}": name.encode() for name in ("plain", "encrypted", "altered")})
    s3.restart(Faults(altered=["runs/1/encrypted", "runs/1/altered"], encrypted=["runs/1/encrypted"]))
    with Mirror.open(open_store("s3://bucket/runs"), cache=tmp_path / "cache") as mirror:
        assert read_file_inside(mirror.path / "1", "encrypted") == b"ENCRYPTED"
        with pytest.raises(StoreError, match="altered: its content differs from the checksum"):
            read_file_inside(mirror.path / "1", "altered")


def test_objects_that_cannot_be_read_prove_nothing_about_checksums(store, tmp_path, quick_retries):
    import hashlib

    store.etags = {key: hashlib.md5(content).hexdigest() for key, content in CONTENTS.items()}
    with Mirror.open(store, cache=tmp_path / "cache") as mirror:
        store.contents["1/a.json"] = b"two"
        store.lost = {"1/shot.png", "2/b/c.json"}
        with pytest.raises(StoreError, match="its content differs from the checksum in the listing"):
            read_file_inside(mirror.path / "1", "a.json")


def test_files_are_fetched_ahead_but_for_screenshots(mirror, store):
    mirror.prefetch([mirror.path / "1", mirror.path / "2"])
    assert sorted(store.reads) == ["1/a.json", "2/b/c.json"]
    mirror.prefetch([mirror.path / "1", mirror.path / "2"])
    assert len(store.reads) == 2
    names = []
    mirror.prefetch([mirror.path / "2", mirror.path / "1"], lambda name, size: names.append((name, size)) or True)
    assert names == [("b/c.json", 300), ("a.json", 3), ("shot.png", 700)]
    assert read_file_inside(mirror.path / "1", "shot.png") == CONTENTS["1/shot.png"]
    assert sorted(store.reads) == ["1/a.json", "1/shot.png", "2/b/c.json"]


@pytest.mark.parametrize(("most", "count"), [(2, 0), (3, 1), (302, 1), (303, 2)])
def test_no_more_is_fetched_ahead_than_the_budget_of_the_cache(store, tmp_path, most, count):
    with Mirror.open(store, cache=tmp_path / "cache", most_bytes=most) as mirror:
        mirror.prefetch([mirror.path / "1", mirror.path / "2"])
    assert len(store.reads) == count


def test_what_fails_ahead_is_an_error_of_the_next_read_and_no_other(mirror, store, quick_retries):
    content = store.contents.pop("1/a.json")
    store.contents["1/a.json"] = b"other"
    mirror.prefetch([mirror.path / "1", mirror.path / "2"])
    store.contents["1/a.json"] = content
    with pytest.raises(StoreError, match="it has 5 bytes, but 3"):
        read_file_inside(mirror.path / "1", "a.json")
    assert read_file_inside(mirror.path / "1", "a.json") == b"one"


def test_a_session_that_ends_waits_only_for_files_on_their_way(store, tmp_path):
    store.contents = {f"1/{number:03}": b"content" for number in range(300)}
    store.seconds = 0.05
    with Mirror.open(store, cache=tmp_path / "cache") as mirror, ThreadPoolExecutor(1) as pool:
        ahead = pool.submit(mirror.prefetch, [mirror.path / "1"], threads=2)
        while not store.reads:
            time.sleep(0.01)
        mirror.stop()
        ahead.result(60)
        assert len(store.reads) < 20
        assert read_file_inside(mirror.path / "1", "299") == b"content"


def test_a_failure_ahead_does_not_stop_another_attempt(mirror, store):
    for lost in ({"1/a.json"}, set()):
        store.lost = lost
        mirror.prefetch([mirror.path / "1"])
    assert read_file_inside(mirror.path / "1", "a.json") == b"one"
    assert store.reads == ["1/a.json", "1/a.json"]


def test_a_fetched_file_stays_as_long_as_its_object_is_the_same(store, tmp_path):
    for round_number, etags in enumerate([{"1/a.json": "x"}, {"1/a.json": "x"}, {"1/a.json": "y"}]):
        store.etags = etags
        with Mirror.open(store, cache=tmp_path / "cache") as mirror:
            assert is_fetched(mirror.path / "1/a.json") is (round_number == 1)
            read_file_inside(mirror.path / "1", "a.json")
    assert store.reads == ["1/a.json"] * 2


def test_a_mirror_follows_what_changes_in_the_store(store, tmp_path):
    with Mirror.open(store, cache=tmp_path / "cache") as mirror:
        read_file_inside(mirror.path / "1", "a.json")
        (mirror.path / "1/eval_result.json").write_text("{}")
    store.contents = {"1": b"now a file", "2/b/c.json/d": b"now a directory", "3/x": b"new"}
    with Mirror.open(store, cache=tmp_path / "cache") as mirror:
        assert tree_of(mirror.path) == ["1", "2", "2/b", "2/b/c.json", "2/b/c.json/d", "3", "3/x"]
        assert read_file_inside(mirror.path, "1") == b"now a file"
        assert read_file_inside(mirror.path, "2/b/c.json/d") == b"now a directory"


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe{", b'\n["1/a.json"', b'\n["1/a.json","",0,0,0]', b"\n[]\n{}\n\n"])
def test_a_damaged_index_costs_a_fetch_at_most(store, tmp_path, damage):
    with Mirror.open(store, cache=tmp_path / "cache") as mirror:
        read_file_inside(mirror.path / "1", "a.json")
    index = tmp_path / "cache/index.jsonl"
    index.write_bytes(index.read_bytes() + damage if damage else b"")
    for _ in range(2):
        with Mirror.open(store, cache=tmp_path / "cache") as mirror:
            assert read_file_inside(mirror.path / "1", "a.json") == b"one"
    assert len(store.reads) <= 2


def test_a_file_that_was_changed_in_the_cache_is_fetched_again(store, tmp_path):
    with Mirror.open(store, cache=tmp_path / "cache") as mirror:
        read_file_inside(mirror.path / "1", "a.json")
        (mirror.path / "1/a.json").write_bytes(b"bad")
    with Mirror.open(store, cache=tmp_path / "cache") as mirror:
        assert read_file_inside(mirror.path / "1", "a.json") == b"one"


def test_a_file_of_a_store_with_neither_etags_nor_times_is_fetched_by_each_session(store, tmp_path):
    store.modified = None
    for content in (b"one", b"two"):
        store.contents["1/a.json"] = content
        with Mirror.open(store, cache=tmp_path / "cache") as mirror:
            assert read_file_inside(mirror.path / "1", "a.json") == content


def test_files_that_are_gone_do_not_count_for_the_budget_of_the_cache(store, tmp_path):
    with Mirror.open(store, cache=tmp_path / "cache") as mirror:
        read_file_inside(mirror.path / "2", "b/c.json")
        read_file_inside(mirror.path / "1", "shot.png")
    del store.contents["2/b/c.json"]
    store.contents["1/shot.png"] = b"another picture"
    with Mirror.open(store, cache=tmp_path / "cache", most_bytes=100) as mirror:
        read_file_inside(mirror.path / "1", "a.json")
        mirror.release(mirror.path / "1")
        assert is_fetched(mirror.path / "1/a.json")


def test_a_run_is_released_once_the_cache_is_over_its_budget(store, tmp_path):
    with Mirror.open(store, cache=tmp_path / "cache", most_bytes=100) as mirror:
        read_file_inside(mirror.path / "1", "a.json")
        mirror.release(mirror.path / "1")
        assert is_fetched(mirror.path / "1/a.json")
        read_file_inside(mirror.path / "2", "b/c.json")
        mirror.release(mirror.path / "2")
        assert not is_fetched(mirror.path / "2/b/c.json")
        assert (mirror.path / "2/b/c.json").stat().st_blocks == 0
        assert read_file_inside(mirror.path / "2", "b/c.json") == CONTENTS["2/b/c.json"]
        mirror.release(mirror.path / "1")
        assert not is_fetched(mirror.path / "1/a.json")


def test_a_search_for_runs_fetches_no_file_into_a_cache_over_its_budget(store, tmp_path):
    with Mirror.open(store, cache=tmp_path / "cache", most_bytes=100) as mirror:
        for name, most in (("2/b/c.json", 500), ("1/a.json", 500), ("1/a.json", 2), ("1/a.json", 500)):
            assert read_beginning_inside(mirror.path, name, most) == CONTENTS[name][:most]
        assert is_fetched(mirror.path / "2/b/c.json")
        assert not is_fetched(mirror.path / "1/a.json")
        assert read_file_inside(mirror.path, "1/a.json") == b"one"


def test_a_prefix_is_a_part_of_a_store(store, tmp_path):
    with Mirror.open(store, "/2/", cache=tmp_path / "cache") as mirror:
        assert (mirror.path.name, tree_of(mirror.path)) == ("2", ["b", "b/c.json"])
        assert read_file_inside(mirror.path / "b", "c.json") == CONTENTS["2/b/c.json"]
        assert [entry.key for entry in mirror.objects_below(mirror.path / "b")] == ["2/b/c.json"]


def test_a_store_without_objects_is_a_warning(tmp_path):
    with Mirror.open(CountingStore({}), cache=tmp_path / "cache") as mirror:
        assert mirror.problems == ["there are no objects at counting://store; check the location"]
        assert tree_of(mirror.path) == []


def test_objects_of_a_listing_become_a_part_of_the_tree_elsewhere(store, tmp_path):
    with Mirror.open(store, cache=tmp_path / "cache") as mirror:
        batches = [list(mirror.objects_below(mirror.path / name)) for name in ("1", "2")]
    mirrors = [Mirror.of_objects(store, batch, tmp_path / "other") for batch in batches]
    assert mirrors[0].path == mirrors[1].path
    assert tree_of(mirrors[0].path) == ["1", "1/a.json", "1/shot.png", "2", "2/b", "2/b/c.json"]
    assert read_file_inside(mirrors[0].path / "1", "a.json") == b"one"
    assert read_file_inside(mirrors[0].path / "2", "b/c.json") == CONTENTS["2/b/c.json"]


def test_a_run_of_which_all_objects_are_given_has_no_file_from_before(store, tmp_path):
    store.contents |= {"1/old/a.json": b"old"}
    with Mirror.of_objects(store, store.list(), tmp_path / "cache") as mirror:
        for name in ("1/a.json", "1/shot.png", "1/old/a.json", "2/b/c.json"):
            mirror.fetch(mirror.path / name)
    rest = [entry for entry in store.list() if entry.key == "1/a.json"]
    with Mirror.of_objects(store, rest, tmp_path / "cache", complete={"1"}) as mirror:
        assert tree_of(mirror.path) == ["1", "1/a.json", "2", "2/b", "2/b/c.json", "empty"]
        assert is_fetched(mirror.path / "1/a.json")


def test_a_run_that_is_scored_alone_has_no_file_from_before(tmp_path):
    origin = Runs(tmp_path / "store/runs")
    origin.add(7)
    store = LocalStore(str(tmp_path / "store"))
    location = CountingStore({entry.key: store.read(entry.key) for entry in store.list()})
    settings = ScoreSettings(tasks=load_tasks(origin.root / "tasks.json"))
    assert score_run(location, "runs/7", settings, cache=tmp_path / "cache").status == "success"
    del location.contents["runs/7/network.har"]
    result = score_run(location, "runs/7", settings, cache=tmp_path / "cache")
    assert (result.status, "network.har" in (result.error_msg or "")) == ("error", True)


def test_the_index_of_a_cache_is_read_once_for_many_parts_of_its_tree(store, tmp_path, monkeypatch):
    lines = []
    decoder = cache_index._DECODER

    class Counting:
        def decode(self, line):
            lines.append(line)
            return decoder.decode(line)

    monkeypatch.setattr(cache_index, "_DECODER", Counting())
    for _ in range(5):
        with Mirror.of_objects(store, store.list(), tmp_path / "cache") as mirror:
            for name in ("1/a.json", "1/shot.png", "2/b/c.json"):
                read_file_inside(mirror.path, name)
    assert len(lines) == len(store.reads) == 3


def test_a_file_that_another_session_has_removed_keeps_no_other_from_being_released(store, tmp_path):
    with Mirror.open(store, cache=tmp_path / "cache", most_bytes=0) as mirror:
        for name in ("a.json", "shot.png"):
            read_file_inside(mirror.path / "1", name)
        (mirror.path / "1/a.json").unlink()
        mirror.release(mirror.path / "1")
        assert not is_fetched(mirror.path / "1/shot.png")


def test_a_mirror_is_attached_once_to_a_process(mirror):
    assert attach(mirror.description) is mirror
    assert len(files.LATE_FILES) == 1
    mirror.close()
    assert not files.LATE_FILES


def test_a_mirror_that_is_opened_twice_is_closed_twice(store, tmp_path):
    with Mirror.open(store, cache=tmp_path / "cache") as first:
        with Mirror.open(store, cache=tmp_path / "cache", most_bytes=0) as second:
            assert (first.description.most_bytes, second.description.most_bytes) == (None, 0)
        assert read_file_inside(first.path / "1", "a.json") == b"one"
    assert not files.LATE_FILES


def _read_twice(mirror, names):
    return [read_file_inside(mirror.path, name) for name in names for _ in range(2)]


@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_processes_share_a_mirror(tmp_path, method):
    origin = LocalStore(str(tmp_path / "origin"))
    contents = {f"{number}/a": f"{number}".encode() * 1000 for number in range(50)}
    for key, content in contents.items():
        origin.write(key, content)
    with (
        Mirror.open(origin, cache=tmp_path / "cache") as mirror,
        ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool,
    ):
        futures = [pool.submit(_read_twice, mirror, list(contents)) for _ in range(2)]
        for future in futures:
            assert future.result(60) == [content for content in contents.values() for _ in range(2)]
        assert pickle.loads(pickle.dumps(mirror)) is mirror
    with Mirror.open(origin, cache=tmp_path / "cache") as mirror:
        assert all(is_fetched(mirror.path / key) for key in contents)


def test_what_processes_that_are_gone_left_is_removed_from_the_cache(store, tmp_path, monkeypatch):
    Mirror.open(store, cache=tmp_path / "cache").close()
    (tmp_path / "cache/parts/0123").touch()
    store.contents = {"other": b"1"}
    Mirror.open(store, cache=tmp_path / "cache").close()
    assert len(list((tmp_path / "cache").glob("listing-*"))) == 2
    monkeypatch.setattr("pytest_webeval.stores.cache_directory._SECONDS", -60.0)
    Mirror.open(store, cache=tmp_path / "cache").close()
    assert len(list((tmp_path / "cache").glob("listing-*"))) == 1
    assert not list((tmp_path / "cache/parts").iterdir())


def test_the_index_is_written_anew_when_most_of_it_is_of_no_use(store, tmp_path, monkeypatch):
    monkeypatch.setattr("pytest_webeval.stores.cache_index._MOST_STALE", 3)
    with Mirror.open(store, cache=tmp_path / "cache", most_bytes=0) as mirror:
        for _ in range(5):
            read_file_inside(mirror.path / "1", "a.json")
            mirror.release(mirror.path / "1")
        read_file_inside(mirror.path / "1", "a.json")
    index = tmp_path / "cache/index.jsonl"
    assert index.read_bytes().count(b"\n") == 11
    with Mirror.open(store, cache=tmp_path / "cache") as mirror:
        assert is_fetched(mirror.path / "1/a.json")
    assert index.read_bytes().count(b"\n") == 1


def test_the_cache_is_private_and_named_after_the_location(store, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    with Mirror.open(store) as mirror:
        cache = default_cache(store.location)
        assert mirror.path.parents[1] == cache
        assert cache.parent == tmp_path / "caches/pytest-webeval"
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in (cache, mirror.path, mirror.path / "1"))
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
from pytest_webeval.stores.cache_directory import open_cache
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


def test_a_directory_that_others_can_read_becomes_private(store, tmp_path):
    (tmp_path / "cache").mkdir(mode=0o755)
    with Mirror.open(store, cache=tmp_path / "cache"):
        assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700


FETCH_ALL = """
import sys
from pathlib import Path
from pytest_webeval.stores.local import LocalStore
from pytest_webeval.stores.mirror import Mirror
mirror = Mirror.open(LocalStore(sys.argv[1]), cache=Path(sys.argv[2]))
while True:
    mirror.prefetch([mirror.path])
    for entry in mirror.objects_below(mirror.path):
        mirror._tree.replace_by_placeholder(mirror.path / entry.key, entry)
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
    with Mirror.open(origin, cache=cache) as mirror:
        fetched = [key for key in contents if is_fetched(mirror.path / key)]
        assert all((mirror.path / key).read_bytes() == contents[key] for key in fetched)
        assert {key: read_file_inside(mirror.path, key) for key in contents} == contents


def _make_link(path):
    path.symlink_to(path.parent, target_is_directory=True)


def _make_other_files(path):
    path.mkdir()
    (path / "thesis.txt").touch()


def _make_other_location(path):
    Mirror.open(CountingStore({}), "other", path).close()


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
    with Mirror.open(CountingStore(contents), cache=base / "cache") as mirror:
        assert [path.name for path in base.iterdir()] == ["cache"]
        own = {path.name.partition("-")[0] for path in (base / "cache").iterdir()}
        assert own <= {"CACHEDIR.TAG", FILES, "parts", "lock", "index.jsonl", "listing"}
        assert [path.name for path in (base / "cache" / FILES).iterdir()] == ["store"]
        for key, content in contents.items():
            is_both = any(other.startswith(f"{key}/") for other in contents)
            if find_key_problem(key) is None and not is_both and key.isprintable():
                assert read_file_inside(mirror.path, key) == content
    assert not any(Path("/", key.strip("/")).exists() for key in contents if key == "/etc/x")


def scored(root, output):
    sites = load_sites(ROOT / "example_suite/config.json")
    results = {str(result.task_id): result for result in score_runs(root, sites=sites, output=output)}
    return {name: (result.status, result.score, result.error_msg) for name, result in results.items()}


def test_the_example_suite_in_a_store_scores_as_on_the_disk_and_no_screenshot_is_fetched(s3, tmp_path):
    for name in ("runs", "trajectories"):
        local = ROOT / "example_suite" / name
        s3.put_tree(local, f"{name}/")
        with Mirror.open(open_store(f"s3://bucket/{name}"), cache=tmp_path / f"cache-{name}") as mirror:
            assert mirror.path.name == name
            expected = scored(local, tmp_path / "expected" / name)
            assert scored(mirror.path, tmp_path / "output" / name) == expected
            assert len(expected) >= 7
            shots = list(mirror.path.rglob("*.png"))
            assert not any(map(is_fetched, shots))
    assert shots


def test_faults_of_a_store_change_no_result_and_are_told_where_they_last(s3, tmp_path, quick_retries):
    s3.put_tree(ROOT / "example_suite/runs", "runs/")
    expected = scored(ROOT / "example_suite/runs", tmp_path / "expected")
    s3.restart(Faults(share=0.2, half_written=["runs/103/agent_response.json"], altered=["runs/104/network.har"]))
    with Mirror.open(open_store("s3://bucket/runs"), cache=tmp_path / "cache") as mirror:
        mirror.prefetch([mirror.path / "101", mirror.path / "103"])
        results = scored(mirror.path, tmp_path / "output")
    assert {name for name in expected if results[name] != expected[name]} == {"103", "104"}
    assert "s3://bucket/runs/103/agent_response.json: it has" in results["103"][2]
    assert "differs from the checksum in the listing" in results["104"][2]
