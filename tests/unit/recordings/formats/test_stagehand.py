"""Directories of Stagehand: recognized by their files, read in the layouts of May to September 2026."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.formats import STAGEHAND_RUN, format_of, load_run
from pytest_webeval.recordings.formats.stagehand import METADATA, RUN_KEYS, read
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.signatures import FileSign
from pytest_webeval.rules import RULES
from tests.support.stagehand import SAMPLES, sample

RESULT = {
    "outcomeSuccess": True,
    "processScore": 1,
    "perCriterion": [{"criterion": "c", "maxPoints": 2, "earnedPoints": 2}],
}
UNJUDGED = {"task": {"id": "tea_success"}, "status": "complete"}
NOT_GRADED = {"graded": False, "verifierError": "x"}
LATER = {"scores__result_b_json": RESULT, "task_data_json": UNJUDGED}


@pytest.fixture
def copy(tmp_path):
    """Copies a case, with files changed or removed; returns its trajectory as a session has it."""

    def write(case="success", layout="07", **files):
        path = tmp_path / "tea_success" / "run"
        shutil.copytree(sample(layout, case), path)
        for name, content in files.items():
            file = path / name.replace("__", "/").replace("_json", ".json")
            file.parent.mkdir(exist_ok=True)
            file.unlink(missing_ok=True)
            if content is not None:
                file.write_text(content if isinstance(content, str) else json.dumps(content))
        return load(path)

    return write


def load(path):
    """The trajectory of the run in a directory."""
    return load_run(path, RULES["default"]).trajectory


@pytest.mark.parametrize(
    ("layout", "case", "kind", "success", "ungraded"),
    [
        ("05", "success", "completed", True, None),
        ("05", "failure", "completed", False, None),
        ("06", "success", "completed", True, None),
        ("06", "failure", "completed", False, None),
        ("07", "success", "completed", True, None),
        ("07", "partial", "completed", False, None),
        ("07", "codex", "completed", True, None),
        ("07", "legacy", "completed", True, None),
        ("07", "empty", "completed", False, None),
        ("07", "impossible", "impossible", False, None),
        ("07", "over_budget", "over_budget", False, None),
        ("07", "judge_failed", "ungraded", None, "the judge failed: "),
        ("07", "legacy_invalid", "ungraded", None, "the judge reached no result: "),
        ("07", "ungraded", "ungraded", None, None),
        ("07", "error", "aborted", None, None),
        ("07", "aborted", "aborted", None, None),
        ("07", "stalled", "aborted", None, None),
        ("09", "judged", "completed", True, None),
        ("09", "gated", "completed", False, None),
        ("09", "condition_not_met", "completed", True, None),
        ("09", "strict_process", "completed", True, None),
        ("09", "step_budget", "over_budget", False, None),
        ("09", "not_graded", "ungraded", None, "the verifier failed: "),
        ("09", "uncertain", "ungraded", None, "the verifier failed: "),
    ],
)
def test_each_layout_has_its_outcome_and_its_verdict(layout, case, kind, success, ungraded):
    path = sample(layout, case)
    run_format = format_of(path)
    trajectory = load(path)
    first = trajectory.judgements[0] if trajectory.judgements else None
    assert run_format is not None
    assert (run_format.name, trajectory.outcome.kind.value) == ("stagehand", kind)
    assert (first.success if first else None) is success
    assert ((first and first.ungraded) or "").startswith(ungraded or "")
    assert (first is None or first.contradictions == (), trajectory.warnings) == (True, ())


@pytest.mark.parametrize(
    "path",
    sorted(path.parent for path in SAMPLES.glob("*/**/trajectory.json")),
    ids=lambda path: "-".join(path.parts[-2:]),
)
def test_the_id_of_the_task_is_that_of_the_path(path):
    task = json.loads((path / "trajectory.json").read_text())["task"]
    run = load_run(path, RULES["default"])
    assert run.task_id == task["id"]
    assert run.task(None).intent == task["instruction"]


def test_a_run_has_its_model_its_tokens_and_its_screenshots():
    trajectory = load(sample("07", "success"))
    assert (trajectory.model, trajectory.run_id) == ("scripted/none", "2026-11-24T05-00-00-000Z")
    assert trajectory.usage is not None
    assert trajectory.usage.total_tokens == 1290
    assert [shot.name for shot in trajectory.screenshots][:3] == [
        "screenshots/agent/1.png",
        "screenshots/probe/1.png",
        "screenshots/agent/2_0.png",
    ]
    assert all(trajectory.image(shot).startswith(b"\x89PNG") for shot in trajectory.screenshots)
    assert (trajectory.flags, trajectory.details) == ((), {"status": "complete", "inference_seconds": 2.5})


def test_screenshots_that_are_missing_are_a_flag():
    trajectory = load(sample("07", "failure"))
    assert (trajectory.flags, trajectory.screenshots) == (("missing_screenshots",), ())
    assert all(step.before is step.after is None for step in trajectory.steps)


def test_images_behind_a_link_are_not_listed(copy, tmp_path):
    copy()
    path = tmp_path / "tea_success" / "run"
    (path / "screenshots/probe").rename(tmp_path / "probe")
    (path / "screenshots/probe").symlink_to(tmp_path / "probe")
    trajectory = load(path)
    assert trajectory.flags == ("missing_screenshots",)
    assert {shot.name.rpartition("/")[0] for shot in trajectory.screenshots} == {"screenshots/agent"}


def test_the_result_of_the_run_counts_before_later_ones():
    sources = [judgement.source for judgement in load(sample("07", "rescored")).judgements]
    assert sources == ["scores/result.json", "scores/result_second_judge.json"]


def test_a_later_result_counts_where_the_run_was_not_graded(copy):
    trajectory = copy(
        scores__result_json={"graded": False, "verifierError": "x"},
        scores__result_b_json=RESULT,
        task_data_json=UNJUDGED,
    )
    assert [judgement.success for judgement in trajectory.judgements] == [None, True]
    assert trajectory.outcome.kind.value == "completed"


@pytest.mark.parametrize(
    ("files", "kind", "message"),
    [
        ({"scores__result_json": "{"}, "unreadable", "scores/result.json is not valid JSON"),
        ({"scores__result_json": "[]"}, "unreadable", "scores/result.json holds [], expected a JSON object"),
        ({"scores__result_json": "{}"}, "unreadable", "scores/result.json has null as outcomeSuccess"),
        (
            {"trajectory_json": '{"task": {"instruction": 1}, "steps": 1}'},
            "unreadable",
            "trajectory.json is not a traj",
        ),
        ({"scores__result_json": None}, "ungraded", "not judged yet"),
        ({"scores__gates_json": "["}, "unreadable", "scores/gates.json is not valid JSON"),
        ({"scores__result_json": None, "scores__gates_json": "["}, "unreadable", "scores/gates.json is not valid JSON"),
        ({"scores__mmrubric_v1_json": "{"}, "unreadable", "scores/mmrubric_v1.json is not valid JSON"),
        (
            {"scores__result_json": NOT_GRADED, "scores__result_a_json": "{"} | LATER,
            "unreadable",
            "scores/result_a.json",
        ),
        (
            {"scores__result_json": NOT_GRADED, "scores__result_a_json": "{}"} | LATER,
            "unreadable",
            "scores/result_a.json",
        ),
        ({"task_data_json": '{"task": {}, "status": '}, "unreadable", "task_data.json is not valid JSON"),
        (
            {"scores__result_json": NOT_GRADED},
            "unreadable",
            "task_data.json has another result than scores/result.json",
        ),
    ],
)
def test_a_damaged_verdict_or_trajectory_is_not_as_good_as_none(copy, files, kind, message):
    outcome = copy(**files).outcome
    assert (outcome.kind.value, outcome.message[: len(message)]) == (kind, message)


@pytest.mark.parametrize(
    ("files", "warning"),
    [
        ({"scores__result_x_json": "{"}, "scores/result_x.json is not valid JSON"),
        ({"scores__result_x_json": "{}"}, "scores/result_x.json has null as outcomeSuccess"),
        ({"scores__result_json": None}, "task_data.json has a result, but scores/ has none: it does not count"),
    ],
)
def test_what_no_verdict_needs_is_a_warning(copy, files, warning):
    warnings = copy(**files).warnings
    assert len(warnings) == 1
    assert warning in warnings[0]


def test_a_cut_file_of_gates_does_not_make_a_success_of_a_failure(tmp_path):
    path = tmp_path / "run"
    shutil.copytree(sample("09", "gated"), path)
    gates, result = path / "scores/gates.json", json.loads((path / "scores/result.json").read_text())
    judged = json.dumps(result["judge"] | {"outcomeSuccess": True})  # August: the rejection is in gates.json alone
    (path / "scores/result.json").write_text(judged)
    (path / "task_data.json").write_text(json.dumps(UNJUDGED))
    assert load(path).judgements[0].success is False
    gates.write_bytes(gates.read_bytes()[:-20])
    assert (load(path).outcome.kind.value, load(path).judgements) == ("unreadable", ())


@pytest.mark.parametrize("kind", ["file", "link", "pipe"])
def test_scores_that_are_no_directory_are_not_as_good_as_none(copy, tmp_path, kind):
    copy()
    path = tmp_path / "tea_success" / "run"
    scores = path / "scores"
    scores.rename(tmp_path / "elsewhere")
    make = {"file": scores.touch, "link": lambda: scores.symlink_to(tmp_path / "elsewhere")}
    make.get(kind, lambda: os.mkfifo(scores))()
    outcome = load(path).outcome
    assert outcome.kind.value == "unreadable"
    assert outcome.message == "scores/ is not a directory; replace it with the directory of the recorder"


def test_scores_that_cannot_be_listed_are_not_as_good_as_none(copy, tmp_path, monkeypatch):
    copy()
    listing = os.scandir

    def refuse(path):
        if Path(path).name == "scores":
            raise PermissionError(13, "Permission denied", str(path))
        return listing(path)

    monkeypatch.setattr(os, "scandir", refuse)
    outcome = load(tmp_path / "tea_success" / "run").outcome
    assert (outcome.kind.value, outcome.message.startswith("cannot list ")) == ("unreadable", True)


@pytest.mark.parametrize(("case", "kind"), [("over_budget", "over_budget"), ("failure", "impossible")])
def test_an_invalid_task_is_impossible_only_where_the_agent_ended_by_itself(copy, case, kind):
    result = RESULT | {"outcomeSuccess": False, "taskValidity": {"isInvalid": True}}
    assert copy(case, scores__result_json=result, task_data_json=UNJUDGED).outcome.kind.value == kind


@pytest.mark.parametrize(
    ("old", "contradictions"),
    [
        (RESULT, ("scores/mmrubric_v1.json has another verdict than scores/result.json",)),
        (RESULT | {"outcomeSuccess": False}, ()),
        (NOT_GRADED, ()),
    ],
)
def test_the_newer_result_of_a_run_counts_and_an_older_one_that_differs_contradicts_it(copy, old, contradictions):
    failure = RESULT | {"outcomeSuccess": False}
    trajectory = copy(scores__mmrubric_v1_json=old, scores__result_json=failure, task_data_json=UNJUDGED)
    first = trajectory.judgements[0]
    assert (first.source, first.success, first.contradictions) == ("scores/result.json", False, contradictions)


def test_the_share_of_points_of_two_results_is_compared_as_well(copy):
    trajectory = copy(
        scores__mmrubric_v1_json={"outcomeSuccess": True, "processScore": 0.5},
        scores__result_json=RESULT,
        task_data_json=UNJUDGED,
    )
    assert len(trajectory.judgements[0].contradictions) == 1


def test_a_reason_for_the_end_is_stored_once_on_one_short_line(copy):
    document = json.loads((sample("07", "error") / "trajectory.json").read_text())
    text = "lost\nPASSED all\x1b[2J" + "x" * 5_000_000
    trajectory = copy("error", trajectory_json=document | {"terminationReason": text})
    assert trajectory.last_error.startswith("lost PASSED all\\u001b[2Jxx")
    assert (len(trajectory.last_error), "termination_reason" in trajectory.details) == (300, False)
    assert "\n" not in trajectory.outcome.message


def test_damaged_metadata_are_a_warning_and_so_is_the_name_of_the_run_in_place_of_the_task(copy):
    first, second = copy(metadata_json="[]").warnings
    assert "metadata.json holds [], expected a JSON object" in first
    assert 'trajectory.json is of the task "tea_success"; the directory' in second


def test_a_result_that_was_changed_contradicts_its_copy(copy):
    trajectory = copy(scores__result_json=RESULT)
    problem = "task_data.json has another result than scores/result.json"
    assert (trajectory.judgements[0].contradictions, trajectory.judgements[0].rubric) == ((problem,), None)


def test_an_id_of_another_task_is_a_warning(copy):
    trajectory = copy("failure")
    assert trajectory.warnings == (
        'run: trajectory.json is of the task "tea_failure"; the directory\'s name is used as the task id',
    )


@pytest.mark.parametrize("content", ["{}", "", "[", '{"task": "x", "runId": "y"}', None])
def test_a_planted_file_of_metadata_does_not_rename_the_task(tmp_path, content):
    path = tmp_path / "other" / "tea_success"
    shutil.copytree(sample("06", "success"), path)
    if content is None:
        (path / "metadata.json").symlink_to(sample("07", "success") / "metadata.json")
    else:
        (path / "metadata.json").write_text(content)
    assert load_run(path, RULES["default"]).task_id == "tea_success"


def test_metadata_of_a_run_name_the_directory_above_and_another_task_there_is_a_warning(tmp_path):
    path = tmp_path / "other" / "tea_success"
    shutil.copytree(sample("07", "success"), path)
    run = load_run(path, RULES["default"])
    assert (run.task_id, run.is_named_by_run) == ("other", True)
    warning = 'trajectory.json is of the task "tea_success"; the directory\'s name is used as the task id'
    assert run.trajectory.warnings == (f"tea_success: {warning}",)


def test_the_table_and_the_reader_agree_on_the_keys_of_metadata():
    assert FileSign(METADATA, RUN_KEYS) == STAGEHAND_RUN


def test_a_directory_of_two_formats_is_none(tmp_path):
    path = tmp_path / "a"
    shutil.copytree(sample("07", "success"), path)
    (path / "result.json").write_text('{"task_id": "a", "action_history": []}')
    with pytest.raises(RecordingError, match="has the files of several formats"):
        format_of(path)


@pytest.mark.parametrize("name", ["trajectory.json", "task_data.json"])
def test_a_directory_without_one_of_the_files_is_no_run_and_says_what_it_lacks(tmp_path, name):
    path = tmp_path / "a"
    shutil.copytree(sample("07", "success"), path)
    (path / name).unlink()
    assert format_of(path) is None
    with pytest.raises(RecordingError, match=f"of the format stagehand, but lacks {name} with task, "):
        load_run(path, RULES["default"])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
NAMES = ("scores/result.json", "scores/gates.json", "scores/result_b.json", "task_data.json", "metadata.json")


@given(
    st.dictionaries(st.sampled_from(NAMES), json_values | st.binary(max_size=20)), st.none() | st.binary(max_size=20)
)
def test_a_run_is_read_or_refused_whatever_its_files_hold(tmp_path_factory, contents, damage):
    path = tmp_path_factory.mktemp("run")
    (path / "scores").mkdir()
    good = (sample("07", "success") / "trajectory.json").read_bytes()
    (path / "trajectory.json").write_bytes(good if damage is None else good[:200] + damage + good[200:])
    for name, content in contents.items():
        (path / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    files = RecordedFiles(RunInputs(path))
    try:
        texts = [read(files).outcome.message, *files.warnings.texts]
    except RecordingError as error:
        texts = [str(error)]
    assert all(text.isprintable() for text in texts)
