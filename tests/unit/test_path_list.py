"""The paths of very many runs in little memory."""

from __future__ import annotations

import tracemalloc

import pytest

from pytest_webeval.sessions.placement.session_scoring import PathList


@pytest.mark.parametrize("count", [0, 1, 999, 1_000, 1_001, 2_500])
def test_paths_come_back_in_their_order_again_and_again(count):
    paths = [f"/data/runs/attempt_{number // 812:06}/{number % 812}" for number in range(count)]
    listed = PathList(paths)
    assert len(listed) == count
    assert [list(listed), list(listed)] == [paths, paths]


def test_a_path_may_have_line_breaks_and_bytes_that_are_no_text():
    paths = ["/a\nb", "/\udcff", "/ü"] * 400
    assert list(PathList(paths)) == paths


def test_a_path_takes_few_bytes():
    tracemalloc.start()
    try:
        listed = PathList(f"/data/runs/attempt_{number // 812:06}/{number % 812}" for number in range(20_000))
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size / len(listed) < 20
