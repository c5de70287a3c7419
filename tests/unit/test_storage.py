"""Result files: the bytes that Python's own encoder would write, whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.errors import DiskFull, SettingsError
from pytest_webeval.safety.run_directory import open_run_directory
from pytest_webeval.storage import remove_leftovers, to_json_bytes, write_in_place, write_json, write_long_json

ODD = (1e16, 1e-5, 1e22, 5e-324, -0.0, 2**70, "\x7f", "\u2028", "\udc80", "\U0001f600", "\\u0041", '"', "/", "\x00", "")
FINITE = st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.none() | st.booleans() | st.integers() | FINITE | st.text() | st.sampled_from(ODD)
KEYS = st.text() | st.integers() | FINITE | st.booleans() | st.none() | st.sampled_from(ODD)


def by_python(content) -> bytes:
    text = json.dumps(content, indent=2, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", lambda found: f"\\\\u{ord(found[0]):04x}", text).encode() + b"\n"


@given(st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=20))
def test_the_bytes_are_those_of_pythons_encoder(content):
    assert to_json_bytes(content) == by_python(content)


@pytest.mark.parametrize("content", [[[]], [{}], {"a": {}}, {1: 2, "1": 3}, (1, 2)])
def test_what_is_empty_or_no_json_is_written_as_python_does(content):
    assert to_json_bytes(content) == by_python(content)


NAN, INFINITY = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("content", "written"),
    [
        (NAN, "NaN"),
        ({"a": [INFINITY, (-INFINITY,)]}, {"a": ["Infinity", ["-Infinity"]]}),
        ({NAN: {INFINITY: 1.5}}, {"NaN": {"Infinity": 1.5}}),
        ([NAN, ("\ud800",)], ["NaN", ["\\ud800"]]),
    ],
)
def test_numbers_that_json_does_not_know_are_written_as_texts(content, written):
    def refused(constant):
        raise ValueError(constant)

    assert json.loads(to_json_bytes(content), parse_constant=refused) == written


def test_values_nested_deeply_are_written_as_python_does():
    content = []
    for _ in range(400):
        content = {"a": [content]}
    assert to_json_bytes(content) == by_python(content)


@given(st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=20))
def test_a_long_file_has_the_same_bytes(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "long.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pytest_webeval.storage._ELEMENTS", 2)
        write_long_json(path, content)
    assert path.read_bytes() == by_python(content)


def test_little_of_a_long_file_is_text_at_one_time(tmp_path, monkeypatch):
    sizes = []
    write = os.write
    monkeypatch.setattr(
        "pytest_webeval.storage.os.write", lambda handle, text: sizes.append(len(text)) or write(handle, text)
    )
    content = {"rows": [{"run": f"runs/{number}"} for number in range(20_000)], "sites": {"a": list(range(5_000))}}
    write_long_json(tmp_path / "a.json", content)
    assert (tmp_path / "a.json").read_bytes() == by_python(content)
    assert max(sizes) < 0.25 * sum(sizes)


def test_a_file_is_for_everybody_to_read_and_its_directory_is_made(tmp_path):
    before = os.umask(0o077)
    try:
        write_json(tmp_path / "a" / "b" / "c.json", {"a": 1})
    finally:
        os.umask(before)
    path = tmp_path / "a" / "b" / "c.json"
    assert path.read_bytes() == b'{\n  "a": 1\n}\n'
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [one.name for one in path.parent.iterdir()] == ["c.json"]


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("file/c.json", "File exists"),
        ("file/b/c.json", "Not a directory"),
        ("dangling/c.json", "File exists"),
        ("folder", "Is a directory"),
    ],
)
def test_a_place_where_nothing_can_be_written_is_told_and_left_as_it_was(tmp_path, place, told):
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "folder").mkdir()
    with pytest.raises(SettingsError, match=f"cannot write {tmp_path / place}: {told}; choose another directory with"):
        write_json(tmp_path / place, {})
    assert sorted(one.name for one in tmp_path.rglob("*")) == ["dangling", "file", "folder"]


def test_a_system_that_takes_a_few_bytes_at_a_time_gets_all_of_them(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr("pytest_webeval.storage.os.write", lambda handle, text: write(handle, text[:3]))
    write_json(tmp_path / "a.json", ["some text"])
    assert json.loads((tmp_path / "a.json").read_bytes()) == ["some text"]


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(handle, text):
        raise OSError(28, "No space left on device")

    (tmp_path / "a.json").write_text("before")
    monkeypatch.setattr("pytest_webeval.storage.os.write", full)
    with pytest.raises(SettingsError, match="No space left on device"):
        write_json(tmp_path / "a.json", [])
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("a.json", "before")]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
@pytest.mark.parametrize("write", [write_json, lambda path, text: write_in_place(path, text, "choose")])
def test_no_room_is_an_error_of_its_own_with_the_path_and_the_reason(tmp_path, monkeypatch, number, write):
    def full(handle, text):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("pytest_webeval.storage.os.write", full)
    with pytest.raises(DiskFull) as caught:
        write(tmp_path / "a.json", "text")
    assert (caught.value.path, caught.value.reason) == (tmp_path / "a.json", os.strerror(number))
    assert caught.value.no_room == {str(tmp_path / "a.json"): os.strerror(number)}


def test_another_error_is_no_lack_of_room(tmp_path):
    with pytest.raises(SettingsError) as caught:
        write_in_place(tmp_path, "text", "choose a file")
    assert type(caught.value) is SettingsError
    assert str(caught.value) == f"cannot write {tmp_path}: Is a directory; choose a file"


@pytest.mark.parametrize("end", [OSError(errno.ENOSPC, "full"), OSError(errno.EIO, "broken"), KeyboardInterrupt()])
def test_a_file_that_is_written_in_place_is_whole_or_gone(tmp_path, monkeypatch, end):
    write = os.write

    def is_partial(handle, text):
        if len(text) <= 3:
            raise end
        return write(handle, text[:-3])

    (tmp_path / "a.js").write_text("before")
    monkeypatch.setattr("pytest_webeval.storage.os.write", is_partial)
    with pytest.raises((SettingsError, KeyboardInterrupt)):
        write_in_place(tmp_path / "a.js", "webeval", "choose")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("write", [write_json, write_long_json])
def test_what_cannot_be_written_as_json_is_told_and_leaves_what_was_there(tmp_path, write):
    round_about: list = []
    round_about.append(round_about)
    (tmp_path / "a.json").write_text("before")
    for content, told in (({1, 2}, "Object of type set is not"), (b"", "type bytes"), (round_about, "recursion")):
        with pytest.raises(SettingsError, match=f"cannot write {tmp_path}/a.json: .*{told}"):
            write(tmp_path / "a.json", content)
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("a.json", "before")]


def test_a_file_that_was_written_has_the_checksum_that_is_told(tmp_path):
    told = write_json(tmp_path / "a.json", {"a": "é"})
    assert told == hashlib.sha256((tmp_path / "a.json").read_bytes()).hexdigest()


def test_whoever_asks_gets_the_file_onto_the_disk_before_its_name_and_then_the_directories(tmp_path):
    seen = []

    def sync(handle):
        name = str(Path(f"/proc/self/fd/{handle}").readlink()).removeprefix(str(tmp_path))
        seen.append((name.rpartition(".")[0] or name, (tmp_path / "new/in/a.json").exists()))

    write_json(tmp_path / "new/in/a.json", {}, sync)
    assert seen == [("/new", False), ("", False), ("/new/in/.a.json", False), ("/new/in", True)]


def test_an_interruption_leaves_nothing_beside_the_file(tmp_path, monkeypatch):
    def interrupted(handle, text):
        raise KeyboardInterrupt

    monkeypatch.setattr("pytest_webeval.storage.os.write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_json(tmp_path / "a.json", [])
    assert list(tmp_path.iterdir()) == []


def test_only_plain_files_named_like_what_we_were_writing_are_leftovers(tmp_path):
    hexadecimal = "0123456789abcdef"
    kept = [f".b.json.{hexadecimal}", f"a.json.{hexadecimal}", f".a.json.{hexadecimal}0", ".a.json.0123456789abcdeg"]
    for name in (*kept, f".a.json.{hexadecimal}", f".a.json.{hexadecimal[::-1]}"):
        (tmp_path / name).touch()
    (tmp_path / ".a.json.0000000000000000").symlink_to(tmp_path / kept[0])
    (tmp_path / ".a.json.1111111111111111").mkdir()
    remove_leftovers(tmp_path, "a.json", "c.json")
    left = {*kept, ".a.json.0000000000000000", ".a.json.1111111111111111"}
    assert {one.name for one in tmp_path.iterdir()} == left
    remove_leftovers(tmp_path / "nowhere", "a.json")


def test_what_was_there_before_a_session_is_none_of_its_leftovers(tmp_path):
    """The time of change is that of the system: no program can set it."""
    leftover = tmp_path / ".a.json.0123456789abcdef"
    leftover.touch()
    os.utime(leftover, (2**31, 2**31))
    changed = leftover.stat().st_ctime
    remove_leftovers(tmp_path, "a.json", since=changed + 0.001)
    assert leftover.exists()
    remove_leftovers(tmp_path, "a.json", since=changed)
    assert not leftover.exists()


def test_a_file_of_a_run_that_has_another_name_as_well_is_not_emptied(tmp_path):
    other, page = tmp_path / "other", tmp_path / "run/page.js"
    page.parent.mkdir()
    other.write_text("mine")
    page.hardlink_to(other)
    with open_run_directory(page.parent, tmp_path):
        with pytest.raises(SettingsError, match="has another name as well"):
            write_in_place(page, "text", "choose a file")
        for text in ("longer", "text"):
            write_in_place(page.with_name("own.js"), text, "choose a file")
    assert (other.read_text(), page.with_name("own.js").read_text()) == ("mine", "text")
