"""Harbor's trials, written by its own trial code with a scripted agent: what ended how, and which reward counts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.atif import read
from pytest_webeval.recordings.formats import format_of
from pytest_webeval.recordings.harbor_trial import parse_reward
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recorded_files import RecordedFiles

RECORDED = Path(__file__).parents[2] / "recorded" / "atif"
SUFFIX = "__aB3dE5f"


def load(path):
    return read(RecordedFiles(RunInputs(path))).graded()


@pytest.fixture
def trial(tmp_path):
    """A copy of the trial that succeeded, with changed files; None removes one."""

    def write(**changed):
        path = tmp_path / f"shop{SUFFIX}"
        shutil.copytree(RECORDED / f"shop-success{SUFFIX}", path)
        names = {"result": "result.json", "text": "verifier/reward.txt", "json": "verifier/reward.json"}
        names["trajectory"] = "agent/trajectory.json"
        for key, content in changed.items():
            place = path / names[key]
            if content is None:
                place.unlink()
            else:
                place.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


def result_of(name="success", **changed):
    return json.loads((RECORDED / f"shop-{name}{SUFFIX}" / "result.json").read_text()) | changed


@pytest.mark.parametrize(
    ("name", "outcome", "reasons", "success", "score", "steps"),
    [
        ("success", "completed", (), True, 1.0, 4),
        ("partial", "completed", (), False, 0.5, 4),
        ("images", "completed", (), True, 1.0, 4),
        ("multi-step", "completed", (), True, 1.0, 8),
        ("exit-code", "completed", ("agent_error",), True, 1.0, 4),
        ("timeout", "over_budget", ("agent_timeout",), False, 0.0, 3),
        ("no-verifier", "ungraded", ("no_verdict",), None, None, 4),
        ("no-reward", "ungraded", ("no_verdict",), None, None, 4),
    ],
)
def test_a_trial_has_the_outcome_and_the_reward_that_harbor_stored(name, outcome, reasons, success, score, steps):
    trajectory = load(RECORDED / f"shop-{name}{SUFFIX}")
    (judgement,) = trajectory.judgements
    assert (trajectory.outcome.kind, trajectory.outcome.reasons) == (outcome, reasons)
    assert (judgement.success, judgement.score, judgement.contradictions) == (success, score, ())
    assert len(trajectory.steps) == steps


def test_an_exception_without_a_verdict_is_a_failure_of_the_environment():
    trajectory = load(RECORDED / f"shop-exception{SUFFIX}")
    assert (trajectory.outcome.kind, trajectory.outcome.reasons) == ("aborted", ("exception",))
    assert (trajectory.judgements, trajectory.last_error) == ((), "browser closed unexpectedly")


def test_steps_calls_images_and_tokens_are_those_of_the_file():
    trajectory = load(RECORDED / f"shop-images{SUFFIX}")
    assert [step.action for step in trajectory.steps] == ["goto", "click", "wait", "message"]
    first, second, *_ = trajectory.steps
    assert (first.thought, first.url) == ("Reports list reviews by product.", "https://shop.example/admin/reports")
    assert (first.before, first.after.name) == (None, "agent/images/step_1.png")
    assert (second.before.name, second.after.name) == ("agent/images/step_1.png", "agent/images/step_2.png")
    assert trajectory.answer == "The product with the most reviews is Hydro Bottle (12)."
    assert trajectory.task_text == "Which product has the most reviews?"
    assert (trajectory.usage.prompt_tokens, trajectory.usage.completion_tokens) == (3200, 95)
    assert (trajectory.system, trajectory.model) == ("scripted-agent", "example/model-1")


@pytest.mark.parametrize(
    ("changed", "contradiction"),
    [
        ({"text": "0"}, "result.json says 1, but verifier/reward.txt says 0"),
        ({"text": "nan"}, "result.json says 1, but verifier/reward.txt says no reward"),
        ({"text": None, "json": {"reward": 0.5}}, "result.json says 1, but verifier/reward.json says 0.5"),
        ({"text": "0", "json": {"reward": 1}}, None),
        ({"json": {"reward": 0}}, None),  # versions differ in which of the two files they read
        ({"text": None}, None),
    ],
)
def test_a_reward_file_that_says_otherwise_than_the_result_is_a_contradiction(trial, changed, contradiction):
    (judgement,) = load(trial(**changed)).judgements
    assert judgement.contradictions == (() if contradiction is None else (contradiction,))


@pytest.mark.parametrize(
    ("rewards", "why"),
    [
        ({"accuracy": 1.0}, "the verifier gave accuracy, and no number 'reward'"),
        ({"reward": 5}, "the reward is 5; only one from 0 to 1 says what a success is"),
        ({"reward": -1}, "the reward is -1; only one from 0 to 1 says what a success is"),
        (None, "the verifier did not run"),
    ],
)
def test_a_reward_that_says_nothing_about_success_leaves_the_run_ungraded(trial, rewards, why):
    path = trial(result=result_of(verifier_result={"rewards": rewards}), text=None)
    trajectory = load(path)
    assert (trajectory.outcome.kind, trajectory.judgements[0].ungraded) == ("ungraded", why)


def test_a_reward_file_is_no_verdict_where_the_verifier_did_not_run(trial):
    (judgement,) = load(trial(result=result_of("no-verifier"), text="1")).judgements
    assert (judgement.success, judgement.ungraded) == (None, "the verifier did not run")


def test_a_reward_file_counts_where_there_is_no_result_but_not_where_it_is_damaged(trial, tmp_path):
    trajectory = load(trial(result=None))
    assert [(each.source, each.success) for each in trajectory.judgements] == [("verifier/reward.txt", True)]
    (tmp_path / f"shop{SUFFIX}" / "result.json").write_text("{")
    with pytest.raises(RecordingError, match=r"result\.json is not valid JSON"):
        load(tmp_path / f"shop{SUFFIX}")


def test_an_unknown_version_is_refused(trial):
    path = trial(trajectory={"schema_version": "ATIF-v2.0", "steps": []})
    with pytest.raises(RecordingError, match=r"is of the version 'ATIF-v2\.0', expected ATIF-v1\.x"):
        load(path)


def test_copied_steps_are_not_counted_and_images_elsewhere_are_not_opened(trial):
    image = {"type": "image", "source": {"media_type": "image/png", "path": "../../../etc/passwd"}}
    step = {"source": "agent", "message": "m", "observation": {"results": [{"content": [image]}]}}
    trajectory = load(
        trial(trajectory={"schema_version": "ATIF-v1.8", "steps": [step | {"is_copied_context": True}, step]})
    )
    assert [(each.action, each.after) for each in trajectory.steps] == [("message", None)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1.0),
        (" 0.5\n", 0.5),
        ("1e-2", 0.01),
        ("", None),
        ("nan", None),
        ("inf", None),
        ("1e999", None),
        ("1_0", None),
        ("\u0661", None),
        ("1" * 50, None),
        ("1 2", None),
    ],
)
def test_a_reward_file_holds_one_number(text, value):
    assert parse_reward(text) == value


def test_trials_are_recognized_with_and_without_a_trajectory():
    for name in ("success", "exception", "multi-step"):
        path = RECORDED / f"shop-{name}{SUFFIX}"
        assert format_of(path).name == "atif"
        assert format_of(path).parse_task_id(path.name) == f"shop-{name}"


KEYS = [
    "steps",
    "source",
    "message",
    "tool_calls",
    "arguments",
    "observation",
    "results",
    "content",
    "type",
    "path",
    "agent",
    "extra",
    "final_metrics",
    "rewards",
    "verifier_result",
    "exception_info",
    "step_results",
    "step_name",
    "schema_version",
    "reward",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(KEYS) | st.text(), inner),
    max_leaves=12,
)
DOCUMENT = st.dictionaries(st.sampled_from(KEYS), JSON)


@settings(max_examples=150, deadline=None)
@given(trajectory=DOCUMENT, result=DOCUMENT, reward=st.text(max_size=10))
def test_no_content_raises_anything_but_a_recording_error(tmp_path_factory, trajectory, result, reward):
    path = tmp_path_factory.mktemp("trial")
    for name, text in {
        "agent/trajectory.json": json.dumps(trajectory),
        "result.json": json.dumps(result),
        "verifier/reward.txt": reward,
    }.items():
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text(text, "utf-8", "surrogatepass")
    try:
        trajectory = load(path)
    except RecordingError:
        return
    assert len(trajectory.judgements) <= 1
