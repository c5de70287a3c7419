"""A report in one file that is sent to somebody: all that it shows is in it, and it is no larger than asked for."""

# ruff: noqa: E501  (rows of data and scripts of the page read best in one line)

from __future__ import annotations

import json
import re
import shutil

import pytest

from tests.browser import pages, sessions

pytestmark = pytest.mark.browser
IMAGES = "[...document.querySelectorAll('#task .shot img, #task .thumb img')].map((one) => [one.src.slice(0, 23), one.naturalWidth])"
IMAGE = re.compile(r"data:image/jpeg;base64,[A-Za-z0-9+/=]+")
ROOM = 62_000  # bytes for pages: enough for the tasks that did not succeed, not for all
ONE_KILOBYTE = "--webeval-report-embed=1KB"
LEFT_OUT = "This report holds no details of this task."
HUGE = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x01\x86\xa0\x00\x01\x86\xa0\x08\x02\x00\x00\x00"  # 100,000 pixels wide and high
ODD = {
    "a GIF": b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;",
    "an SVG": b"<svg xmlns='http://www.w3.org/2000/svg' onload='window.pwned=1'><script>window.pwned=1</script></svg>",
    "very many pixels": HUGE,
    "cut": pages.png(640, 400, (90, 120, 200))[:200],
    "nothing": b"",
}


@pytest.fixture
def sent(tmp_path):
    """The report of a session in one file, alone in a directory."""

    def sending(*options, spoil=None):
        directory = sessions.copied(tmp_path / "here")
        if spoil:
            spoil(directory)
        session = sessions.scored(directory, *options)
        alone = tmp_path / "elsewhere" / "report.html"
        alone.parent.mkdir()
        shutil.move(session.page.with_name("report.html"), alone)
        shutil.rmtree(directory / "report")
        shutil.rmtree(directory / "suite")
        return alone

    return sending


def measure_list(directory):
    """How many bytes a report in one file needs without any task."""
    printed = sessions.called(sessions.copied(directory), *sessions.RUNS, "--webeval-report=r", ONE_KILOBYTE)
    return int(re.search(r"the task list needs ([\d,]+) bytes", printed)[1].replace(",", ""))


def rows_of(path):
    index = json.loads(re.search(r'id="webeval-index">(.*?)</script>', path.read_text("utf-8"), re.DOTALL)[1])
    return [dict(zip(index["columns"], row, strict=True)) for row in index["rows"]]


def walked(report, count):
    """The texts of all tasks in the order of the list."""
    for _ in range(count):
        report.pressed("j").page.wait_for_selector("#task .body[aria-busy=true]", state="detached")
        for at in range(report.page.locator(".thumb").count()):
            report.page.locator(".thumb").nth(at).scroll_into_view_if_needed()
            report.page.wait_for_timeout(50)  # for the image that comes into sight
        yield report.page.locator("#task").inner_text()


def other_requests(report):
    return [one for one in report.requests if not one.startswith((report.address, "about:blank", "data:"))]


def test_trajectories_travel_with_their_screenshots(opened, sent):
    path = sent(*sessions.TRAJECTORIES, "--webeval-report-embed=5MB")
    assert path.stat().st_size <= 5_000_000
    report, images = opened(path).go(), []
    for text in walked(report, 9):
        assert LEFT_OUT not in text
        report.until(f"{IMAGES}.every(([, width]) => width > 0)")
        images += report.page.evaluate(IMAGES)
    assert len(images) > 20
    assert {source for source, _ in images} == {"data:image/jpeg;base64,"}
    assert report.settled() == other_requests(report) == []


def test_runs_travel_with_their_requests(opened, sent):
    path = sent(*sessions.RUNS, "--webeval-report-embed=5MB")
    assert path.stat().st_size <= 5_000_000
    report = opened(path).go("#task=106")
    assert report.page.locator(".network tr.nearest th").all_inner_texts() == ["14"]
    assert report.page.locator("#task a").count() == 0  # there is nothing beside it that a link could lead to
    assert report.settled() == other_requests(report) == []


def test_what_there_is_no_room_for_says_so_and_failures_come_first(opened, sent, tmp_path):
    budget = measure_list(tmp_path / "first") + ROOM
    path = sent(*sessions.RUNS, f"--webeval-report-embed={budget}")
    assert path.stat().st_size <= budget
    rows = rows_of(path)
    kept = {row["status"] for row in rows if row["data"]}
    assert kept >= {"error", "failure"}
    assert all(row["data"] for row in rows if row["status"] != "success")
    assert not all(row["data"] for row in rows)
    report = opened(path).go("#sort=recorded")
    for row, text in zip(rows, walked(report, 36), strict=True):
        assert (LEFT_OUT in text) is (row["data"] is None)
        assert row["run"] in text
    assert report.settled() == other_requests(report) == []


def test_of_a_report_with_no_room_for_any_task_the_list_is_left(opened, sent, tmp_path):
    least = measure_list(tmp_path / "first")
    path = sent(*sessions.RUNS, f"--webeval-report-embed={least + 99}")
    report = opened(path).go("#sort=recorded")
    assert report.count == 36
    for row, text in zip(rows_of(path), walked(report, 36), strict=True):
        assert LEFT_OUT in text
        assert (row["reason"] or row["intent"]) in text
    assert report.settled() == other_requests(report) == []


def test_images_that_cannot_be_made_small_are_left_out(opened, sent):
    def spoil(directory):
        trajectories = sorted(directory.glob("suite/trajectories/**/traj/books_*"))
        for path, content in zip(trajectories, ODD.values(), strict=False):
            for image in path.glob("screenshot*.png"):
                image.write_bytes(content)

    report = opened(sent(*sessions.TRAJECTORIES, "--webeval-report-embed=5MB", spoil=spoil)).go()
    counts = [(report.page.locator("#task img").count(), text) for text in walked(report, 9)]
    bare = [text for count, text in counts if count == 0]
    assert len(bare) == len(ODD)
    assert all("no screenshot" in text for text in bare)
    assert report.settled() == other_requests(report) == []
    assert report.page.evaluate("window.pwned") is None


def test_under_strict_redaction_no_screenshot_leaves_the_run_directories(opened, sent):
    path = sent(*sessions.TRAJECTORIES, "--webeval-report-embed=5MB", "--webeval-redact=strict")
    assert "data:image/jpeg" not in path.read_text("utf-8")
    report = opened(path).go()
    assert "no screenshot" in "".join(walked(report, 9))
    assert report.page.locator("#task img").count() == 0
    assert report.settled() == other_requests(report) == []


def test_each_run_has_an_equal_share_of_the_room_for_images(tmp_path):
    directory = sessions.copied(tmp_path / "here")
    session = sessions.scored(directory, *sessions.TRAJECTORIES, "--webeval-report-embed=200KB")
    pages_of_runs = list((session.page.parent / "data").iterdir())
    found = [sum(map(len, set(IMAGE.findall(path.read_text("utf-8"))))) for path in pages_of_runs]
    assert 0 < max(found) <= 200_000 // len(pages_of_runs)
