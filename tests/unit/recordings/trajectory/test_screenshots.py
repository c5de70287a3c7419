"""Screenshots: `fara_webeval.md` §2.3."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.recordings.trajectory.screenshots import Screenshots, align, find_screenshots, number_of
from pytest_webeval.recordings.trajectory.step import Screenshot, Step

HERE = Path("/runs/here/traj/books_find_7")  # there is no such directory: names alone decide
FARA = [f"screenshot{n}.png" for n in range(12)]


def find(listed, on_disk, *, is_rel_paths=True):
    return find_screenshots(listed, is_rel_paths, on_disk, HERE)


def names(found):
    return [shot.name for shot in found.all]


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("screenshot0.png", 0),
        ("screenshot12.png", 12),
        ("screenshot_007.png", 7),
        ("screenshot_3_pre.png", 3),
        ("screenshot_3_post.png", 3),
        ("screenshot_post_4.png", 4),
        ("screenshot_scaled.png", 0),
        ("screenshot-5.1.png", 1),
        ("screenshot5b.png", 0),
        ("shots2/x.png", 0),
        ("screenshot²٣.png", 0),
        ("1712345678901234567.png", 712345678901234567),
        (f"{'9' * 6000}.png", 10**18 - 1),
    ],
)
def test_the_number_is_the_integer_that_the_name_ends_in(name, number):
    assert number_of(name) == number


@pytest.mark.parametrize(
    "in_order",
    [
        FARA,
        [f"screenshot_{n}.png" for n in range(1, 12)],
        ["screenshot_0_pre.png"] + [f"screenshot_{n}_{side}.png" for n in range(1, 12) for side in ("pre", "post")],
        [f"screenshot{side}_{n}.png" for n in range(12) for side in ("", "_post")],
        ["b.png", "a.png", "c0.png", "z1.png", "a1.png"],
    ],
)
def test_every_convention_is_sorted_by_number_and_then_as_listed(in_order):
    assert names(find(in_order, in_order)) == in_order
    descending = sorted(in_order, key=number_of, reverse=True)  # of equal numbers the first stays the first
    assert names(find(descending, in_order[::-1])) == in_order


def test_an_image_before_an_action_comes_before_that_after_it():
    listed = ["screenshot_1_post.png", "screenshot_1_pre.png", "screenshot_0_pre.png"]
    assert names(find(listed, listed)) == listed[::-1]
    assert names(find([], listed)) == listed[::-1]


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ("screenshot0.png", "screenshot0.png"),
        ("./screenshot0.png", "screenshot0.png"),
        (f"{HERE}/screenshot0.png", "screenshot0.png"),
        (f"{HERE}//./screenshot0.png", "screenshot0.png"),
        (r"odd\name0.png", r"odd\name0.png"),
        ("IMAGE0.PNG", "IMAGE0.PNG"),
        ("photo0.jpeg", "photo0.jpeg"),
    ],
)
@pytest.mark.parametrize("is_rel_paths", [True, False])
def test_an_entry_is_a_path_in_the_directory_under_either_reading(entry, name, is_rel_paths):
    found = find([entry], [name], is_rel_paths=is_rel_paths)
    assert found == Screenshots((Screenshot(name, 0),))


@pytest.mark.parametrize(
    "elsewhere",
    [
        "/home/ana/runs/traj/books_find_7/",
        r"C:\Users\ana\runs\books_find_7" + "\\",
        "D:/runs/",
        r"\\server\share" + "\\",
        "books_find_7/",
        "file:///home/ana/",
        f"{HERE}2/",
    ],
)
def test_entries_of_a_moved_run_are_found_by_name_with_one_warning_for_all(elsewhere):
    found = find([f"{elsewhere}screenshot{n}.png" for n in (1, 0, 2)], FARA[:3])  # §11, vector 6
    assert names(found) == FARA[:3]
    told = "3 listed with another path, and read from the run's directory by name, such as 'screenshot1.png'"
    assert found.warnings == (f"screenshots: {told}",)
    assert found.missing == ()


def test_paths_that_are_not_relative_are_not_looked_up_below_the_directory(tmp_path):
    (tmp_path / "shots").mkdir()
    (tmp_path / "shots/a0.png").touch()
    (tmp_path / "a0.png").touch()
    relative = find_screenshots(["shots/a0.png"], True, os.listdir(tmp_path), tmp_path)  # noqa: FBT003, PTH208
    verbatim = find_screenshots(["shots/a0.png"], False, os.listdir(tmp_path), tmp_path)  # noqa: FBT003, PTH208
    assert (names(relative), relative.warnings) == (["shots/a0.png"], ())
    assert (names(verbatim), len(verbatim.warnings)) == (["a0.png"], 1)


@pytest.mark.parametrize(
    "entry",
    [
        "../screenshot0.png",
        "../../etc/screenshot0.png",
        "x/../screenshot0.png",
        r"..\screenshot0.png",
        f"{HERE}/../books_find_7/screenshot0.png",
        "",
        "/",
        ".",
        "screenshot0.png/",
        "screenshot0",
        "web_surfer.log",
        "a\n0.png",
    ],
)
def test_an_entry_that_leads_out_or_names_no_image_is_refused(entry):
    found = find([entry, "screenshot1.png"], [*FARA[:2], "screenshot0", "web_surfer.log", "a\n0.png"])
    assert (names(found), found.missing) == (["screenshot1.png"], ())
    assert found.warnings[0] == (
        f"screenshots: 1 listed, but not a regular image file inside the run's directory; ignored, such as {entry!r}"
    )


def test_links_are_refused_wherever_they_stand_in_a_path(tmp_path):
    run, other = tmp_path / "run", tmp_path / "other"
    run.mkdir()
    other.mkdir()
    (other / "b1.png").touch()
    (run / "screenshot0.png").touch()
    (run / "screenshot1.png").symlink_to("screenshot0.png")
    (run / "folder").symlink_to(other)
    listed = ["screenshot0.png", "screenshot1.png", "folder/b1.png"]
    found = find_screenshots(listed, True, os.listdir(run), run)  # noqa: FBT003, PTH208
    assert names(found) == ["screenshot0.png"]
    told = "2 listed, but not a regular image file inside the run's directory; ignored, such as 'screenshot1.png'"
    assert found.warnings == (f"screenshots: {told}",)


def test_links_that_a_verifier_left_are_no_unlisted_screenshots(tmp_path):
    for n in range(2):
        (tmp_path / f"screenshot{n}.png").touch()
        (tmp_path / f"screenshot_{n + 1}.png").symlink_to(f"screenshot{n}.png")
    found = find_screenshots([], True, os.listdir(tmp_path), tmp_path)  # noqa: FBT003, PTH208
    assert names(found) == FARA[:2]
    assert found.warnings[0].startswith("screenshots: 2 in the run's directory, and used ")


def test_listed_files_that_are_gone_are_missing():
    found = find(["screenshot0.png", "screenshot1.png", "/old/screenshot2.png", "a/b3.png"], FARA[:1])
    assert names(found) == ["screenshot0.png"]
    assert found.missing == ("screenshot1.png", "screenshot2.png", "b3.png")
    assert found.warnings == (
        "screenshots: 3 listed, but not in the run's directory; copy the run again, such as 'screenshot1.png'",
    )


def test_files_that_are_not_listed_are_told_of_and_not_used():
    others = ["screenshot_scaled.png", "screenshot.jpg", "my_screenshot1.png", "web_surfer.log", "screenshots"]
    found = find(["screenshot0.png"], [*FARA[:1], "screenshot10.png", "screenshot9.png", *others])
    assert names(found) == ["screenshot0.png"]
    assert found.warnings == (
        "screenshots: 2 in the run's directory, but not listed; ignored, such as 'screenshot9.png'",
    )


def test_what_is_there_is_used_if_nothing_is_listed():
    found = find([], [*FARA[::-1], "screenshot_scaled.png"])
    assert names(found) == FARA
    told = (
        "12 in the run's directory, and used although the answer file lists no screenshots, such as 'screenshot0.png'"
    )
    assert found.warnings == (f"screenshots: {told}",)
    assert find([], []) == Screenshots()


def test_the_copy_of_the_last_image_counts_if_it_is_listed():
    assert names(find(["screenshot_scaled.png"], ["screenshot_scaled.png"])) == ["screenshot_scaled.png"]


def test_an_image_that_is_listed_twice_is_used_once():
    found = find(["screenshot1.png", "screenshot0.png", "/old/screenshot1.png"], FARA[:2])
    assert names(found) == FARA[:2]
    assert found.warnings == ("screenshots: 1 listed more than once; used once, such as 'screenshot1.png'",)


def shots_of(*names):
    return tuple(Screenshot(name, number_of(name)) for name in names)


def steps_of(count):
    return tuple(Step(n, "wait", "wait", None, {}, "", None, None, None, None, line=n) for n in range(1, count + 1))


def images(steps):
    return [tuple(shot and shot.name for shot in (step.before, step.after)) for step in steps]


@pytest.mark.parametrize(
    ("shots", "count", "expected", "alignment"),
    [
        (["s0", "s1", "s2"], 2, [("s0", "s1"), ("s1", "s2")], "n+1"),
        (["s_1", "s_2"], 2, [("s_1", "s_2"), ("s_2", None)], "n"),
        (["s_1"], 2, [("s_1", None), (None, None)], "n-1"),
        (["s0", "post_1", "post_2"], 2, [("s0", "post_1"), ("post_1", "post_2")], "n+1"),
        (["0_pre", "1_pre", "1_post", "2_pre", "2_post"], 2, [("1_pre", "1_post"), ("2_pre", "2_post")], "n+1"),
        (["1_pre", "1_post", "2_pre", "2_post"], 2, [("1_pre", "1_post"), ("2_pre", "2_post")], "n"),
        (["0_pre", "0_post", "1_pre", "1_post"], 2, [("0_pre", "0_post"), ("1_pre", "1_post")], "n"),
        (["0_pre", "1_pre", "2_pre", "2_post"], 2, [("1_pre", None), ("2_pre", "2_post")], "n+1"),
        (["1_pre", "1_post"], 2, [("1_pre", "1_post"), (None, None)], "n-1"),
        ([], 0, [], "n"),
        ([], 1, [(None, None)], "n-1"),
        (["s0"], 0, [], "n+1"),
        (["s0", "s1"], 0, [], "misaligned"),
        (["s0", "s1", "s2"], 1, [("s0", "s1")], "misaligned"),
        (["s0"], 3, [("s0", None), (None, None), (None, None)], "misaligned"),
        (["1_pre", "2_pre", "3_pre", "3_post"], 1, [("1_pre", None)], "misaligned"),
    ],
)
def test_steps_get_the_images_before_and_after_them(shots, count, expected, alignment):
    steps, found = align(steps_of(count), shots_of(*(f"{name}.png" for name in shots)))
    expected = [tuple(name and f"{name}.png" for name in pair) for pair in expected]
    assert (images(steps), found) == (expected, alignment)
    assert [step.line for step in steps] == list(range(1, count + 1))


TEXTS = st.text(max_size=6) | st.sampled_from(
    ["/", "..", "\\", ".png", "screenshot", "1", "_post", "C:", "\0", "\ud800"]
)
ENTRIES = st.lists(TEXTS, max_size=5).map("".join)


@given(st.lists(ENTRIES, max_size=4), st.lists(ENTRIES, max_size=4), st.booleans())
def test_any_list_is_accounted_for_and_only_names_on_the_disk_are_used(listed, on_disk, is_rel_paths):
    found = find(listed, on_disk, is_rel_paths=is_rel_paths)
    assert {shot.name for shot in found.all} <= set(on_disk)
    assert not any(".." in shot.name.split("/") for shot in found.all)
    assert len(found.missing) + (len(found.all) if listed else 0) <= len(listed)
    assert all(text.isprintable() for text in found.warnings)
