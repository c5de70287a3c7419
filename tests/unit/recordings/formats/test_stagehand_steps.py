"""`trajectory.json` of Stagehand, as its own writers leave it and damaged."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_webeval.recordings.formats.stagehand_steps import classify, is_budget, parse_image_path, read_trajectory
from pytest_webeval.recordings.trajectory.answer import Usage
from pytest_webeval.recordings.trajectory.step import Screenshot, Target, UnreadableTrajectory
from pytest_webeval.safety.warning_log import WarningLog
from tests.support.stagehand import SAMPLES, sample

TASK = {"id": "tea_1", "instruction": "Find the price of green tea."}
STEP = {"actionName": "act", "actionArgs": {}, "reasoning": "", "agentEvidence": {"modalities": []}}
DOCUMENT = {"task": TASK, "steps": [], "status": "complete"}
SUCCESS = (sample("07", "success") / "trajectory.json").read_bytes()


def read(**fields):
    """The trajectory of a document with these fields."""
    return read_trajectory(json.dumps(DOCUMENT | fields).encode())


def step(**fields):
    """The only step of a trajectory with these fields."""
    return read(steps=[STEP | fields]).steps[0]


@pytest.mark.parametrize("layout", ["05", "06", "07"])
def test_steps_are_the_same_in_each_layout(layout):
    trajectory = read_trajectory((sample(layout, "success") / "trajectory.json").read_bytes())
    assert [(step.action, step.thought, step.url, step.observation) for step in trajectory.steps] == [
        ("goto", "Open the shop.", "http://shop.example/", "navigated"),
        (
            "act",
            "The tea page lists prices.",
            "http://shop.example/tea",
            '{"success":true,"description":"clicked Tea","screenshotBase64":"[redacted inline image payload]"}',
        ),
        ("extract", "", "http://shop.example/tea", "error: element not found"),
    ]
    assert trajectory.steps[1].arguments == {"action": "click the link Tea"}
    assert (trajectory.final_answer, trajectory.status, trajectory.warnings) == (
        "Green tea costs 4.50.",
        "complete",
        (),
    )
    assert trajectory.usage == Usage(1200, 90, None, None, {"cached_input_tokens": 100})
    assert trajectory.inference_seconds == 2.5


def test_a_task_has_its_id_from_the_file_not_from_the_directory():
    path = sample("07", "success")
    task = read_trajectory((path / "trajectory.json").read_bytes()).task
    assert (task.id, task.init_url, path.name) == ("tea_success", "http://shop.example/", "2026-11-24T05-00-00-000Z")
    assert task.precomputed_rubric is not None
    assert [item["maxPoints"] for item in task.precomputed_rubric.items] == [2, 3]


def test_screenshots_are_those_before_and_after_each_step_and_the_last_page():
    path = sample("07", "success")
    trajectory = read_trajectory((path / "trajectory.json").read_bytes())
    assert trajectory.steps[1].before == Screenshot("screenshots/agent/2_0.png", 2)
    assert trajectory.steps[1].after == Screenshot("screenshots/probe/2.png", 2)
    assert all((path / shot.name).is_file() for shot in trajectory.screenshots)
    last = read_trajectory((sample("07", "codex") / "trajectory.json").read_bytes()).screenshots
    assert last == (Screenshot("screenshots/agent/1_0.png", 1), Screenshot("screenshots/probe/final.png", 0))


def test_a_screenshot_of_several_steps_is_listed_once():
    image = {"modalities": [{"type": "image", "imagePath": "screenshots/agent/1.png", "mediaType": "image/png"}]}
    trajectory = read(steps=[STEP | {"agentEvidence": image}] * 3)
    assert trajectory.screenshots == (Screenshot("screenshots/agent/1.png", 1),)
    assert [step.before for step in trajectory.steps] == [*trajectory.screenshots] * 3


@pytest.mark.parametrize(
    ("output", "observation"),
    [
        (None, None),
        ({"ok": True}, None),
        ({"ok": True, "result": None}, None),
        ({"ok": True, "result": 'a "b"\n'}, 'a "b"\n'),
        ({"ok": True, "result": [1, {"a": None}]}, '[1,{"a":null}]'),
        ({"ok": False, "result": "x"}, "error: the action failed"),
        ({"ok": True, "result": "x", "error": "late"}, "error: late"),
        ({"ok": True, "result": "x" * 3000}, "x" * 1999 + "…"),
    ],
)
def test_an_observation_is_the_result_or_the_error(output, observation):
    assert step(toolOutput=output).observation == observation


@pytest.mark.parametrize(
    ("path", "number"),
    [("screenshots/probe/12.png", 12), ("screenshots/agent/3_1.png", 3), ("final.PNG", 0), ("a/b.webp", 0)],
)
def test_an_image_below_the_directory_is_a_screenshot(path, number):
    warnings = WarningLog("f")
    assert parse_image_path(path, warnings) == Screenshot(path, number)
    assert warnings.texts == ()


@pytest.mark.parametrize(
    "path",
    [
        "../1.png",
        "a/../../1.png",
        "/etc/1.png",
        "./1.png",
        "a\\1.png",
        "C:1.png",
        "1.svg",
        "1",
        "",
        "a\n1.png",
        "a\0.png",
        "http://a.test/1.png",
    ],
)
def test_another_path_is_ignored_with_a_warning(path):
    trajectory = read(finalObservation={"screenshotPath": path})
    assert trajectory.screenshots == ()
    assert trajectory.warnings[0].startswith("trajectory.json: not an image below the run directory: ")
    assert trajectory.warnings[0].isprintable()


def test_images_inside_the_file_are_not_read():
    trajectory = read(steps=[STEP | {"agentEvidence": {"modalities": [{"type": "image", "bytesBase64": "iVBO"}]}}])
    assert trajectory.screenshots == ()
    assert trajectory.warnings == ("trajectory.json: images inside the file (bytesBase64) are not read",)


@pytest.mark.parametrize(
    "usage", [None, {}, {"input_tokens": 0, "output_tokens": 0}, {"input_tokens": -1, "output_tokens": 5}]
)
def test_tokens_that_nobody_counted_are_unknown(usage):
    assert read(usage=usage).usage is None


@pytest.mark.parametrize(
    ("fields", "is_graded", "kind", "reasons"),
    [
        ({"finalAnswer": "4.50"}, True, "completed", ()),
        ({"finalAnswer": "4.50"}, False, "completed", ()),
        ({"finalAnswer": " "}, True, "completed", ("empty_answer",)),
        ({}, False, "completed", ("empty_answer",)),
        ({"status": "error", "finalAnswer": "4.50"}, True, "completed", ("error",)),
        ({"status": "error", "finalAnswer": "4.50"}, False, "aborted", ("error",)),
        ({"status": "aborted"}, False, "aborted", ("aborted",)),
        ({"status": "aborted", "finalAnswer": "4.50"}, True, "aborted", ("aborted",)),
        ({"status": "stalled"}, False, "aborted", ("stalled",)),
        ({"status": "error", "terminationReason": "step_budget"}, True, "over_budget", ("step_budget",)),
        ({"status": "error", "terminationReason": "browser_session_lost"}, False, "aborted", ("error",)),
    ],
)
def test_the_outcome_follows_from_status_reason_and_verdict(fields, is_graded, kind, reasons):
    outcome = classify(read(**fields), is_graded=is_graded)
    assert (outcome.kind.value, outcome.reasons) == (kind, reasons)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("step_budget", True),
        ("Step budget exhausted", True),
        ("maxSteps", True),
        ("reached the step limit", True),
        ("budget", False),
        ("aborted", False),
        ("", False),
        (None, False),
    ],
)
def test_a_budget_is_recognized_by_its_words(reason, expected):
    assert is_budget(reason) is expected


@pytest.mark.parametrize("status", ["ABORTED", "1", "true", "Error", "", "odd\\u202e"])
def test_an_unknown_status_is_read_as_complete_with_a_warning_that_names_the_known_ones(status):
    trajectory = read(status=status.encode().decode("unicode-escape"), finalAnswer="a")
    assert classify(trajectory, is_graded=False).kind.value == "completed"
    expected = "expected complete, aborted, stalled, error; read as complete"
    assert trajectory.warnings == (f'trajectory.json: unknown status "{status}", {expected}',)


@pytest.mark.parametrize("status", ["complete", "aborted", "stalled", "error"])
def test_a_known_status_is_no_warning(status):
    assert read(status=status, finalAnswer="a").warnings == ()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "cannot parse trajectory.json as JSON"),
        (b"\xff", "cannot parse trajectory.json as JSON"),
        (b"[" * 100_000, "trajectory.json is not a trajectory of Stagehand: Expected `object`, got `array`"),
        (
            json.dumps(DOCUMENT)[:-1].encode() + b',"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
            "cannot parse trajectory.json as JSON",
        ),
        (b"{}", "trajectory.json is not a trajectory of Stagehand: Object missing required field `task`"),
        (
            json.dumps({"schema_version": "ATIF-v1.4", "steps": [{"step_id": 1}]}).encode(),
            "trajectory.json is not a trajectory of Stagehand: Object missing required field `actionName` @ steps[0]",
        ),
        (
            json.dumps(DOCUMENT | {"task": TASK | {"id": 7}}).encode(),
            "trajectory.json is not a trajectory of Stagehand: Expected `str`, got `int` @ task.id",
        ),
    ],
)
def test_a_document_that_is_no_trajectory_is_refused_in_one_line(content, problem):
    with pytest.raises(UnreadableTrajectory) as caught:
        read_trajectory(content)
    assert str(caught.value) == f"{problem}; record the run again"
    assert caught.value.code == "trajectory_invalid"


def test_text_that_was_cut_within_a_character_is_read():
    assert step(reasoning="cut \ud83d").thought == "cut \ufffd"
    assert read_trajectory(SUCCESS.replace(b"4.50.", b"4.50\\ud83d")).final_answer == "Green tea costs 4.50\ufffd"


@given(st.sampled_from(sorted(SAMPLES.glob("*/**/trajectory.json"))), st.data())
def test_a_damaged_file_is_read_or_refused_in_one_line(path, data):
    content = path.read_bytes()
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(start + 40, len(content))))
    damage = data.draw(st.binary(max_size=8) | st.sampled_from([b'"\\ud800"', b"NaN", b"1e999", b"null", b"{}"]))
    try:
        trajectory = read_trajectory(content[:start] + damage + content[end:])
        texts = [classify(trajectory, is_graded=False).message, *trajectory.warnings]
    except UnreadableTrajectory as error:
        texts = [str(error)]
    assert all(text.isprintable() for text in texts)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=12,
    )
)
@example(10**5000)
@example("\ud800")
@example(float("nan"))
def test_any_result_of_an_action_becomes_text(value):
    content = json.dumps(DOCUMENT | {"steps": [STEP | {"toolOutput": {"ok": True, "result": 0}}]})
    try:
        written = json.dumps(value)
    except ValueError:  # more digits than Python agrees to write
        written = "1" + "0" * 5000
    observation = read_trajectory(content.replace('"result": 0', f'"result": {written}').encode()).steps[0].observation
    assert (observation is None) is (written in ("null", "NaN", "Infinity", "-Infinity"))
    assert (observation or "").encode().decode() == (observation or "")


@pytest.mark.parametrize(
    ("arguments", "result", "target"),
    [
        ({"coordinates": [500, 250]}, {"success": True, "coordinates": [644, 177]}, Target(644, 177)),
        ({"coordinates": [500, 250]}, {"success": True}, Target(500, 250)),
        ({"coordinates": [500, 250]}, {"coordinates": {"x": 1}}, Target(500, 250)),
        ({"coordinates": [500, 250]}, "clicked", Target(500, 250)),
        ({"x": 5, "y": 6}, None, Target(5, 6)),
        ({"coordinates": "here"}, [1, 2], None),
    ],
)
def test_an_action_points_where_its_tool_says_that_it_clicked(arguments, result, target):
    output = {"ok": True, "result": result}
    assert step(actionName="click", actionArgs=arguments, toolOutput=output).target == target
    assert step(actionName="wait", actionArgs=arguments, toolOutput=output).target is None
