"""Result files: the bytes that Python's own encoder would write, whole or not at all."""

from __future__ import annotations

import json
import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.errors import SettingsError
from pytest_webeval.writing import encoded
from pytest_webeval.writing import write_json

ODD = (1e16, 1e-5, 1e22, 5e-324, -0.0, 2**70, "\x7f", "\u2028", "\udc80", "\U0001f600", "\\u0041", '"', "/", "\x00", "")
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(ODD)
KEYS = st.text() | st.integers() | st.floats() | st.booleans() | st.none() | st.sampled_from(ODD)


def by_python(content) -> bytes:
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=True)
    return text.encode("utf-8", "backslashreplace") + b"\n"


@given(st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=20))
def test_the_bytes_are_those_of_pythons_encoder(content):
    assert encoded(content) == by_python(content)


@pytest.mark.parametrize(
    "content", [[[]], [{}], {"a": {}}, float("nan"), {"a": [float("inf")]}, {1: 2, "1": 3}, (1, 2)]
)
def test_what_is_empty_or_no_json_is_written_as_python_does(content):
    assert encoded(content) == by_python(content)


def test_values_nested_deeply_are_written_as_python_does():
    content = []
    for _ in range(400):
        content = {"a": [content]}
    assert encoded(content) == by_python(content)


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
    with pytest.raises(SettingsError, match=f"cannot write {tmp_path / place}: {told}; choose a place with"):
        write_json(tmp_path / place, {})
    assert sorted(one.name for one in tmp_path.rglob("*")) == ["dangling", "file", "folder"]


def test_a_system_that_takes_a_few_bytes_at_a_time_gets_all_of_them(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr("pytest_webeval.writing.os.write", lambda handle, text: write(handle, text[:3]))
    write_json(tmp_path / "a.json", ["some text"])
    assert json.loads((tmp_path / "a.json").read_bytes()) == ["some text"]


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(handle, text):
        raise OSError(28, "No space left on device")

    (tmp_path / "a.json").write_text("before")
    monkeypatch.setattr("pytest_webeval.writing.os.write", full)
    with pytest.raises(SettingsError, match="No space left on device"):
        write_json(tmp_path / "a.json", [])
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("a.json", "before")]
