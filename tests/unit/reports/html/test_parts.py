"""What a report shows of a recording: the table of requests, the filmstrip, screenshots, kinds of warnings."""

from __future__ import annotations

import io
import json
import os
import struct
from base64 import b64decode
from dataclasses import replace

import pytest
from PIL import Image

from pytest_webeval import load_run
from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.trajectory.step import Screenshot, Target
from pytest_webeval.reports.html.requests import LONGEST_TEXT as LONGEST_FIELD
from pytest_webeval.reports.html.requests import MOST_EVENTS, marks_of, network_table
from pytest_webeval.reports.html.screenshots import HEIGHT, WIDTH, Links, Picture, Thumbnails, thumbnail
from pytest_webeval.reports.html.timeline import LONGEST_TEXT, MOST_STEPS, _target_to_json, step_timeline
from pytest_webeval.results import Difference, EvaluatorResult, Explanation, NamedEvent, Status
from pytest_webeval.rules import find_rules
from pytest_webeval.safety.pictures import MOST_PIXELS


def entry(url, **more):
    return {"request": {"method": "GET", "url": url, "headers": []}, "response": {"status": 200, "cookies": []}} | more


@pytest.fixture
def recorded(tmp_path):
    """A run with that recording."""

    def make(*entries):
        (tmp_path / "107").mkdir(exist_ok=True)
        (tmp_path / "107" / "agent_response.json").write_text("{}")
        (tmp_path / "107" / "network.har").write_text(json.dumps({"log": {"entries": entries}}))
        return load_run(tmp_path / "107")

    return make


def test_requests_are_listed_and_static_assets_are_counted(recorded):
    run = recorded(
        entry("http://shop.test/", _resourceType="document"),
        entry("http://shop.test/style.css"),
        entry("http://shop.test/search?q=lamp"),
    )
    assert network_table(run, {2: "nearest"}) == {
        "total": 3,
        "assets": 1,
        "left_out": 0,
        "events": [
            [0, "GET", "http://shop.test/", 200, "document", None, ""],
            [2, "GET", "http://shop.test/search?q=lamp", 200, None, None, "nearest"],
        ],
    }


def test_times_count_from_the_first_event(recorded):
    run = recorded(
        entry("http://shop.test/", startedDateTime="2026-01-31T12:00:00.000Z"),
        entry("http://shop.test/a", startedDateTime="2026-01-31T12:00:01.250Z"),
        entry("http://shop.test/b", startedDateTime="no time"),
    )
    assert [row[5] for row in network_table(run, {})["events"]] == [0, 1.25, None]


def test_times_count_from_the_earliest_event_where_a_later_one_is_recorded_first(recorded):
    run = recorded(
        entry("http://shop.test/", startedDateTime="2026-01-31T12:00:01.250Z"),
        entry("http://shop.test/a", startedDateTime="2026-01-31T12:00:00Z"),
    )
    assert [(row[0], row[5]) for row in network_table(run, {})["events"]] == [(1, 0), (0, 1.25)]
    run = replace(run, rules=find_rules("default"))  # which keeps the order of the file
    assert [(row[0], row[5]) for row in network_table(run, {})["events"]] == [(0, 1.25), (1, 0)]


def test_of_many_requests_the_marked_ones_stay_and_the_last_ones(recorded):
    run = recorded(*(entry(f"http://shop.test/{number}") for number in range(MOST_EVENTS + 10)))
    table = network_table(run, {3: "candidate"})
    indices = [row[0] for row in table["events"]]
    assert indices == [3, *range(11, MOST_EVENTS + 10)]
    assert table["left_out"] == 10
    everything = network_table(run, dict.fromkeys(range(MOST_EVENTS + 10), "candidate"))
    assert [row[0] for row in everything["events"]] == list(range(MOST_EVENTS))


def test_a_damaged_request_is_listed_as_far_as_it_can_be_read(recorded):
    odd = {"request": {"method": 7, "url": "http://shop.test/a", "headers": []}, "response": {"status": 200}}
    damaged = {"request": {"method": "GET", "headers": []}, "response": {"status": []}}
    rows = network_table(recorded(entry("http://shop.test/"), odd, damaged), {})["events"]
    assert rows[1] == [1, "(cannot be read)", "http://shop.test/a", 200, None, None, ""]
    assert rows[2] == [2, "GET", "(cannot be read)", "(cannot be read)", None, None, ""]


def test_a_long_address_is_cut(recorded):
    run = recorded(entry("http://shop.test/" + "x" * 1_000_000))
    assert len(network_table(run, {})["events"][0][2]) == LONGEST_FIELD + 1


def test_a_trace_that_cannot_be_read_has_no_table(recorded):
    run = recorded(entry("http://shop.test/"))
    (run.path / "network.har").write_text("{")
    assert network_table(run, {}) is None


def result(status, nearest, candidates, *differences):
    named = None if nearest is None else NamedEvent(nearest, 9, "GET", "http://shop.test/")
    explanation = Explanation(list(differences), named, candidates)
    return EvaluatorResult(evaluator_name="NetworkEventEvaluator", status=status, score=0.0, explanation=explanation)


def test_events_are_marked_by_what_they_were_for_the_verdicts():
    unexplained = EvaluatorResult(evaluator_name="NetworkEventEvaluator", status=Status.FAILURE, score=0.0)
    marks = marks_of([result(Status.FAILURE, 2, [1, 2, 3]), unexplained, result(Status.FAILURE, None, [2, 7])])
    assert marks == {1: "candidate", 2: "nearest", 3: "candidate", 7: "candidate"}


def test_an_event_that_should_not_be_there_is_marked_so():
    extra = Difference("network_event", "extra", None, "http://shop.test/")
    assert marks_of([result(Status.FAILURE, 4, [4, 6], extra)]) == {4: "forbidden", 6: "candidate"}
    assert marks_of([result(Status.SUCCESS, 4, [4, 6], extra)])[4] == "match"


def image(width, height, kind="PNG"):
    written = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(written, kind)
    return written.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_small_copy_of_an_image_is_a_jpeg_that_fits(kind):
    with Image.open(io.BytesIO(thumbnail(image(1440, 900, kind)))) as copy:
        assert (copy.format, copy.width) == ("JPEG", WIDTH)
        assert copy.height <= HEIGHT


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        image(8, 8, "GIF"),
        image(600, 600)[:200],
        image(8_000, 8_000),
    ],
    ids=["nothing", "SVG", "GIF", "cut", "too many pixels"],
)
def test_what_is_no_image_that_can_be_made_small_is_refused(content):
    with pytest.raises(RecordingError):
        thumbnail(content)


@pytest.fixture
def trajectory(tmp_path):
    """A trajectory of so many clicks, each with a screenshot after it."""

    def make(steps, thought="on we go"):
        path = tmp_path / "traj" / "books_1"
        path.mkdir(parents=True)
        lines = []
        for number in range(1, steps + 1):
            arguments = {"action": "left_click", "coordinate": [number, 2], "thoughts": thought}
            told = {"source": "WebSurfer", "action": "left_click", "arguments": arguments, "url": "https://shop.test/"}
            lines.append(json.dumps({"timestamp": "2026-01-31T12:00:00", "message": thought, **told}))
            (path / f"screenshot_{number}.png").write_bytes(image(64, 40))
        (path / "web_surfer.log").write_text("\n".join(lines) + "\n")
        answer = {"final_answer": "done", "is_aborted": False, "screenshots": [], "token_usage": {}}
        (path / "books_1_final_answer.json").write_text(json.dumps(answer))
        return load_run(path)

    return make


def test_the_filmstrip_has_actions_thoughts_and_links_to_screenshots(trajectory, tmp_path):
    run = trajectory(2)
    steps = step_timeline(run, Links(run.path, tmp_path / "report"))
    assert [step["index"] for step in steps] == [1, 2]
    assert steps[0]["thought"] == "on we go"
    assert steps[0]["before"] == "../traj/books_1/screenshot_1.png"
    assert (steps[1]["url"], steps[1]["events"]) == ("https://shop.test/", None)


def test_long_trajectories_show_their_last_steps_and_long_texts_are_cut(trajectory, tmp_path):
    run = trajectory(MOST_STEPS + 5, "x" * (LONGEST_TEXT + 7))
    steps = step_timeline(run, None)
    assert (len(steps), steps[-1]["index"]) == (MOST_STEPS, MOST_STEPS + 5)
    assert steps[0]["thought"] == "x" * LONGEST_TEXT + f"… ({LONGEST_TEXT + 7:,} characters)"
    assert steps[0]["before"] is None


def test_without_a_readable_log_the_screenshots_alone_are_shown(trajectory, tmp_path):
    run = trajectory(2)
    (run.path / "web_surfer.log").unlink()
    steps = step_timeline(load_run(run.path), Links(run.path, tmp_path))
    assert [(step["action"], step["after"]) for step in steps] == [
        ("", "traj/books_1/screenshot_1.png"),
        ("", "traj/books_1/screenshot_2.png"),
    ]


def test_a_run_that_is_no_trajectory_has_no_filmstrip(recorded):
    assert step_timeline(recorded(entry("http://shop.test/")), None) is None


def test_small_copies_are_made_as_long_as_there_is_room(trajectory):
    run = trajectory(3)
    size = len(Thumbnails(run.trajectory.image, 10**6)(run.trajectory.screenshots[0]).url)
    copies = Thumbnails(run.trajectory.image, 2 * size + 1)
    told = [copies(shot).url for shot in run.trajectory.screenshots]
    assert told[0] == told[1]
    assert told[0].startswith("data:image/jpeg;base64,")
    assert b64decode(told[0].partition(",")[2])[:2] == b"\xff\xd8"
    assert told[2] is None
    assert copies(run.trajectory.screenshots[0]).url == told[0]


def header(width, height):
    """The beginning of a PNG of so many pixels."""
    return b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", width, height) + b"\x08\x02\x00\x00\x00"


SVG = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"
NO_IMAGE = "not a PNG, JPEG or WebP image"


@pytest.mark.parametrize(
    ("content", "picture"),
    [
        (image(64, 40), ("shot.png", (64, 40), None)),
        (image(64, 40, "JPEG"), ("shot.png", (64, 40), None)),
        (header(10_000, 5_000), ("shot.png", (10_000, 5_000), None)),
        (header(10_000, 5_001), (None, None, f"the image has 10,000 x 5,001 pixels; the limit is {MOST_PIXELS:,}")),
        (header(30_000, 30_000), (None, None, f"the image has 30,000 x 30,000 pixels; the limit is {MOST_PIXELS:,}")),
        (SVG, (None, None, NO_IMAGE)),
        (b"<!doctype html><script>alert(1)</script>", (None, None, NO_IMAGE)),
        (b"", (None, None, NO_IMAGE)),
        (None, ("shot.png", None, None)),
    ],
    ids=["PNG", "JPEG", "as large as may be", "larger", "huge", "SVG", "HTML", "empty", "missing"],
)
def test_only_images_that_a_browser_can_show_are_linked(tmp_path, content, picture):
    if content is not None:
        (tmp_path / "shot.png").write_bytes(content)
    assert Links(tmp_path, tmp_path)(Screenshot("shot.png", 1)) == Picture(*picture)


def test_a_pipe_and_a_link_in_the_place_of_an_image_are_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "other.png").write_bytes(image(64, 40))
    (tmp_path / "link.png").symlink_to(tmp_path / "other.png")
    links = Links(tmp_path, tmp_path)
    assert links(Screenshot("pipe.png", 1)) == links(Screenshot("link.png", 2)) == Picture(problem=NO_IMAGE)


def test_an_image_is_looked_at_once_for_all_of_its_steps(tmp_path):
    (tmp_path / "shot.png").write_bytes(image(64, 40))
    links = Links(tmp_path, tmp_path)
    first = links(Screenshot("shot.png", 1))
    (tmp_path / "shot.png").unlink()
    assert links(Screenshot("shot.png", 1)) is first


def test_a_step_has_the_place_of_its_click_in_pixels_of_the_screenshot(trajectory, tmp_path):
    run = trajectory(2)
    steps = step_timeline(run, Links(run.path, tmp_path))
    assert [(step["target"], step["size"]) for step in steps] == [([1, 2, 0, 0], [64, 40]), ([2, 2, 0, 0], [64, 40])]
    assert [step["target"] for step in step_timeline(run, None)] == [None, None]


def test_a_box_in_a_page_of_another_scale_is_scaled_to_the_screenshot():
    place = Target(10, 20, 30, 40, (400, 300))
    assert _target_to_json(place, Picture("shot.png", (800, 600))) == [20, 40, 60, 80]
    assert _target_to_json(place, Picture("shot.png")) == [10, 20, 30, 40]
    assert _target_to_json(place, Picture(problem="too large")) is None


def test_a_step_says_why_its_screenshot_is_not_shown(trajectory, tmp_path):
    run = trajectory(1)
    (run.path / "screenshot_1.png").write_bytes(SVG)
    (step,) = step_timeline(run, Links(run.path, tmp_path))
    assert (step["before"], step["problem"], step["size"], step["target"]) == (None, NO_IMAGE, None, None)


def test_small_copies_say_the_size_of_the_image_and_no_path_of_this_machine(trajectory):
    run = trajectory(2)
    (run.path / "screenshot_2.png").write_bytes(header(30_000, 30_000))
    copies = [Thumbnails(run.trajectory.image, 10**6)(shot) for shot in run.trajectory.screenshots]
    assert (copies[0].size, copies[0].problem) == ((64, 40), None)
    assert copies[1] == Picture(problem=f"the image has 30,000 x 30,000 pixels; the limit is {MOST_PIXELS:,}")
    assert "raise --webeval-report-embed" in Thumbnails(run.trajectory.image, 0)(run.trajectory.screenshots[0]).problem
