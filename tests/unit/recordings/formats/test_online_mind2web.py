"""Results of Online-Mind2Web in both versions, and those that a public run left."""

from __future__ import annotations

import json
import re
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval import load_run, score_runs, summarize
from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.formats.online_mind2web import read
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.trajectory.recorded import OutcomeClass

CORPUS = Path(__file__).parents[5] / "shared/corpora/online_mind2web_browser_use.tar.xz"
JUDGED = {
    "task_id": "7",
    "task": "Find a lamp",
    "final_result_response": "Lamp",
    "judge": {"score": 100, "reasoning": "yes"},
}
SECOND = {
    "schema_version": "online-mind2web-v2",
    "task": "Find a lamp",
    "task_id": "7",
    "reference_length": 2,
    "agent_final_answer": "Lamp",
    "action_history": [
        {"step": 0, "screenshot": "0000.png", "url": "http://shop/", "action": "link -> CLICK", "thought": "Look"},
        {
            "step": 1,
            "screenshot": "0001.png",
            "url": "http://shop/l",
            "action": "TASK_COMPLETE -> ANSWER: Lamp",
            "thought": None,
        },
    ],
}


def write(path, result, images=()):
    (path / "trajectory").mkdir(parents=True)
    (path / "result.json").write_text(json.dumps(result))
    for name in images:
        (path / "trajectory" / name).write_bytes(b"image")
    return path


def trajectory(path, result, images=()):
    return load_run(write(path / "7", result, images)).trajectory


def test_a_result_of_version_1_has_texts_as_steps_and_images_by_their_first_number(tmp_path):
    history = {"action_history": ["<a> -> CLICK", "<i> -> TYPE: lamp"], "thoughts": ["Look", "Type", "Too many"]}
    recorded = trajectory(tmp_path, JUDGED | history, ["10_9.png", "2_a1.png", "0.png", "notes.txt"])
    assert [(step.action, step.thought) for step in recorded.steps] == [
        ("<a> -> CLICK", "Look"),
        ("<i> -> TYPE: lamp", "Type"),
    ]
    assert [shot.name for shot in recorded.screenshots] == [
        "trajectory/0.png",
        "trajectory/2_a1.png",
        "trajectory/10_9.png",
    ]
    assert [(step.before.name, step.after.name) for step in recorded.steps] == [
        ("trajectory/0.png", "trajectory/2_a1.png"),
        ("trajectory/2_a1.png", "trajectory/10_9.png"),
    ]
    assert (recorded.answer, recorded.task_text, recorded.benchmark) == ("Lamp", "Find a lamp", "om2w")
    assert recorded.warnings == ()


def test_a_result_of_version_2_has_the_image_that_each_step_names(tmp_path):
    recorded = trajectory(tmp_path, SECOND, ["0000.png", "0001.png"])
    first, last = recorded.steps
    assert (first.action, first.thought, first.url, first.before.name) == (
        "link -> CLICK",
        "Look",
        "http://shop/",
        "trajectory/0000.png",
    )
    assert (last.action, last.thought) == ("TASK_COMPLETE -> ANSWER: Lamp", "")
    assert (recorded.answer, recorded.to_json()["details"]) == ("Lamp", {"schema_version": "online-mind2web-v2"})


@pytest.mark.parametrize(
    ("result", "kind", "reasons"),
    [
        (JUDGED, "completed", ()),
        (JUDGED | {"final_result_response": ""}, "over_budget", ("no_answer",)),
        (JUDGED | {"final_result_response": " "}, "over_budget", ("no_answer",)),
        (JUDGED | {"final_result_response": None}, "over_budget", ("no_answer",)),
        ({"task_id": "7", "task": "t", "action_history": [], "judge": {"score": 0}}, "completed", ()),
        ({"task_id": "7", "task": "t", "action_history": []}, "ungraded", ("no_verdict",)),
        (JUDGED | {"judge": {"score": None}}, "ungraded", ("no_verdict",)),
        (SECOND | {"judge": {"score": 100}}, "completed", ()),
        (SECOND | {"agent_final_answer": None}, "over_budget", ("no_answer",)),
        (SECOND | {"agent_final_answer": "\n"}, "over_budget", ("no_answer",)),
        (SECOND | {"agent_final_answer": None, "action_history": []}, "over_budget", ("no_answer",)),
        (
            SECOND | {"action_history": SECOND["action_history"][:1], "judge": {"score": 0}},
            "completed",
            ("no_terminate",),
        ),
    ],
)
def test_how_it_ended_follows_from_the_answer_and_the_last_action(tmp_path, result, kind, reasons):
    outcome = trajectory(tmp_path, result).outcome
    assert (outcome.kind, outcome.reasons) == (OutcomeClass(kind), reasons)


@pytest.mark.parametrize("result", [JUDGED, SECOND, JUDGED | {"final_result_response": None}], ids=["1", "2", "none"])
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("error_max_turns", "over_budget"),
        ("error_max_budget_usd", "over_budget"),
        ("error_max_structured_output_retries", "over_budget"),
        ("error_during_execution", "aborted"),
    ],
)
def test_a_status_that_is_no_end_of_the_agents_own_decides(tmp_path, result, status, kind):
    outcome = trajectory(tmp_path, result | {"result_status": status}).outcome
    assert (outcome.kind, outcome.reasons) == (OutcomeClass(kind), (status,))


@pytest.mark.parametrize("status", ["success", None, "paused", 7])
def test_another_status_decides_nothing(tmp_path, status):
    recorded = trajectory(tmp_path, JUDGED | {"result_status": status})
    assert recorded.outcome.kind is OutcomeClass.COMPLETED
    assert any("result_status" in text for text in recorded.warnings) is (status in ("paused", 7))


@pytest.mark.parametrize(
    ("judge", "success", "score"),
    [({"score": 100}, True, 100), ({"score": 0}, False, 0), ({"score": 50}, False, 50), ({"score": None}, None, None)],
)
def test_only_the_full_score_is_a_success(tmp_path, judge, success, score):
    (judgement,) = trajectory(tmp_path, JUDGED | {"judge": judge}).judgements
    assert (judgement.success, judgement.score, judgement.full_score) == (success, score, 100)


NAN = "is or holds NaN or an out-of-range number, so that the verdict is damaged"


@pytest.mark.parametrize(
    ("judge", "problem"),
    [
        ({"score": "0"}, 'result.json has "0" as judge.score, expected a number from 0 to 100'),
        ({"score": True}, "result.json has true as judge.score, expected a number from 0 to 100"),
        ({"score": 1000}, "result.json has 1000 as judge.score, expected a number from 0 to 100"),
        ({"score": -5}, "result.json has -5 as judge.score, expected a number from 0 to 100"),
        ({"score": float("nan")}, f"result.json.judge.score {NAN}"),
        ({"score": 10**400}, f"result.json.judge.score {NAN}"),
        ({"score": [float("inf")]}, f"result.json.judge.score {NAN}"),
        (float("nan"), f"result.json.judge {NAN}"),
        ({"score": [100]}, "result.json has [100] as judge.score, expected a number from 0 to 100"),
        ("failure", 'result.json has "failure" as judge, expected an object with a score'),
        ([], "result.json has [] as judge, expected an object with a score"),
        (False, "result.json has false as judge, expected an object with a score"),
    ],
)
def test_a_verdict_of_a_wrong_type_or_range_is_not_as_good_as_none(tmp_path, judge, problem):
    recorded = trajectory(tmp_path, JUDGED | {"judge": judge})
    assert (recorded.outcome.kind, recorded.judgements) == (OutcomeClass.UNREADABLE, ())
    assert recorded.outcome.message == f"{problem}; judge the run again"


def test_a_level_is_cut(tmp_path):
    assert len(trajectory(tmp_path, JUDGED | {"level": "hard\n" * 1000}).group) == 80


def test_what_is_of_a_wrong_type_is_a_warning_and_another_task_too(tmp_path):
    recorded = trajectory(tmp_path, JUDGED | {"task_id": "8", "thoughts": 7, "action_history": ["a", 1]})
    assert [step.action for step in recorded.steps] == ["a", ""]
    assert recorded.warnings == (
        "7: 1 is not a string; ignored @ result.json.action_history[1]",
        "7: 7 is not a list; ignored @ result.json.thoughts",
        '7: result.json is of the task "8"; the directory\'s name is used as the task id',
    )


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[]", "json_invalid: result.json holds [], expected a JSON object"),
        ("{", "json_invalid: result.json is not valid JSON"),
        ("{} {}", "json_invalid: result.json has text after its JSON value"),
    ],
)
def test_a_damaged_result_is_unreadable_with_its_reason(tmp_path, content, problem):
    path = write(tmp_path / "7", JUDGED)
    run = load_run(path)
    (path / "result.json").write_text(content)
    assert run.trajectory.outcome.kind is OutcomeClass.UNREADABLE
    with pytest.raises(RecordingError, match=re.escape(problem)):
        run.check()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*SECOND, *JUDGED, "score", "step"]), inner)
    ),
    max_leaves=12,
)


@given(document=st.dictionaries(st.sampled_from([*SECOND, *JUDGED, "thoughts"]), JSON))
def test_whatever_the_fields_are_nothing_but_our_errors_is_raised(tmp_path_factory, document):
    path = tmp_path_factory.mktemp("run")
    (path / "result.json").write_text(json.dumps(document))
    try:
        recorded = read(RecordedFiles(RunInputs(path)))
    except RecordingError as error:
        assert "judge" in str(error)  # noqa: PT017  (either may happen)
        return
    assert json.loads(json.dumps(recorded.to_json()))["class"] in {"completed", "over_budget"}


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpora are not here")
def test_of_a_public_run_of_300_tasks_none_vanishes_and_each_is_judged_as_stored(tmp_path):
    with tarfile.open(CORPUS) as archive:
        archive.extractall(tmp_path, filter="data")
    stored = {path.parent: json.loads(path.read_bytes()) for path in tmp_path.rglob("result.json")}
    scores = [result["judge"]["score"] for result in stored.values()]
    assert (len(scores), scores.count(100), scores.count(0)) == (300, 291, 9)
    for path, result in stored.items():
        run = load_run(path)
        assert run.format == "online-mind2web"
        assert run.trajectory.answer == result["final_result_response"]
        assert run.trajectory.judgements[0].success is (result["judge"]["score"] == 100)
        assert run.trajectory.judgements[0].reasoning == result["judge"]["reasoning"]


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpora are not here")
def test_of_300_runs_without_actions_damaged_ones_count_and_nobody_knows_the_steps(tmp_path):
    with tarfile.open(CORPUS) as archive:
        archive.extractall(tmp_path, filter="data")
    paths = sorted(tmp_path.rglob("result.json"))
    good = [path for path in paths if json.loads(path.read_bytes())["judge"]["score"] == 100]
    for path, content in zip(good, (b"", b"\0" * 9, b"[]", b"null", good[3].read_bytes()[:-9]), strict=False):
        path.write_bytes(content)
    summary = summarize(score_runs(tmp_path, output=tmp_path / "output"))
    assert (summary.success_count, summary.failed_count, summary.error_count) == (286, 9, 5)
    assert (summary.webeval["success_rate"], summary.webeval["success_rate_denominator"]) == (286 / 300, 300)
    totals = summary.webeval["trajectories"]
    assert (totals["steps"]["all"]["mean"], totals["step_budget_scores"]) == (None, {})


def test_steps_that_are_not_recorded_are_unknown_and_an_empty_list_is_none(tmp_path):
    for name, changes in {"a": {}, "b": {"action_history": []}, "c": {"action_history": ["CLICK"]}}.items():
        write(tmp_path / name, JUDGED | changes)
    write(tmp_path / "d", JUDGED)
    (tmp_path / "d/result.json").write_text('{"task_id": "7", "final_result_response"')
    steps = [result.webeval["trajectory"]["steps"] for result in score_runs(tmp_path)]
    assert steps == [None, 0, 1, None]
    summary = summarize(score_runs(tmp_path))
    assert [summary.webeval["trajectories"]["steps"]["all"][key] for key in ("count", "mean")] == [2, 0.5]
