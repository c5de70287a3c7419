"""Harbor's trials, written by its own trial code with a scripted agent: what ended how, and which reward counts."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.formats import format_of
from pytest_webeval.recordings.formats.atif import read
from pytest_webeval.recordings.formats.harbor_trial import parse_reward
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.trajectory.step import Target, UnreadableTrajectory
from tests.support.default_run import examples

RECORDED = Path(__file__).parents[3] / "recorded" / "atif"
SUFFIX = "__aB3dE5f"


def load(path):
    return read(RecordedFiles(RunInputs(path))).judged()


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


@pytest.mark.parametrize(
    ("name", "reasoning"),
    [
        ("success", "reward 1"),
        ("partial", "reward 0.5"),
        ("timeout", "reward 0 (the agent was stopped at a limit)"),
        ("exit-code", "reward 1 (the agent raised NonZeroAgentExitCodeError; it was judged)"),
    ],
)
def test_the_reason_of_a_verdict_has_what_was_unusual_about_the_end(name, reasoning):
    (judgement,) = load(RECORDED / f"shop-{name}{SUFFIX}").judgements
    assert judgement.reasoning == reasoning


def test_a_lost_session_is_named_as_what_the_trajectory_says(trial):
    document = json.loads((RECORDED / f"shop-success{SUFFIX}/agent/trajectory.json").read_text())
    path = trial(trajectory=document | {"extra": {"early_termination_reason": "runtime_session_dead"}})
    assert load(path).judgements[0].reasoning == "reward 1 (the trajectory says that the session was lost)"


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
        ({}, "the verifier did not run"),
        (None, "the verifier did not run"),
    ],
)
def test_a_reward_that_says_nothing_about_success_leaves_the_run_ungraded(trial, rewards, why):
    path = trial(result=result_of(verifier_result={"rewards": rewards}), text=None)
    trajectory = load(path)
    assert (trajectory.outcome.kind, trajectory.judgements[0].ungraded) == ("ungraded", why)


@pytest.mark.thinned
@pytest.mark.parametrize("verifier_result", [None, {}, {"rewards": None}, {"rewards": {}}, {"rewards": {"speed": 1}}])
@pytest.mark.parametrize("exception", [None, "AgentTimeoutError", "RewardFileNotFoundError"])
@pytest.mark.parametrize(
    ("changed", "difference"),
    [
        ({"text": "1"}, "verifier/reward.txt says 1"),
        ({"text": "0"}, "verifier/reward.txt says 0"),
        ({"text": "nan"}, "verifier/reward.txt says no reward"),
        ({"text": None, "json": {"reward": 1}}, "verifier/reward.json says 1"),
        ({"text": "0", "json": "{"}, "verifier/reward.json says no reward, verifier/reward.txt says 0"),
    ],
)
def test_a_reward_file_next_to_a_result_without_reward_is_a_contradiction(
    trial, verifier_result, exception, changed, difference
):
    exception_info = {"exception_type": exception} if exception else None
    result = result_of(verifier_result=verifier_result, exception_info=exception_info)
    trajectory = load(trial(result=result, **changed))
    (judgement,) = trajectory.judgements
    assert (judgement.success, judgement.ungraded) == (None, None)
    assert judgement.contradictions == (f"result.json says no reward, but {difference}",)
    assert trajectory.outcome.kind == "completed"


def test_a_result_without_the_member_is_no_better_than_one_with_null(trial):
    result = result_of()
    del result["verifier_result"]
    (judgement,) = load(trial(result=result)).judgements
    assert judgement.contradictions == ("result.json says no reward, but verifier/reward.txt says 1",)


@pytest.mark.parametrize(
    ("rewards", "content", "ungraded"),
    [({"speed": 1}, {"speed": 1}, "the verifier gave speed, and no number 'reward'"), ({}, {}, "the verifier did not")],
)
def test_a_reward_file_without_reward_agrees_with_such_a_result(trial, rewards, content, ungraded):
    path = trial(result=result_of(verifier_result={"rewards": rewards}), text=None, json=content)
    (judgement,) = load(path).judgements
    assert judgement.contradictions == ()
    assert judgement.ungraded.startswith(ungraded)


@pytest.mark.parametrize(
    ("exception", "kind"),
    [("VerifierTimeoutError", "ungraded"), ("RewardFileEmptyError", "ungraded"), ("X", "aborted")],
)
def test_what_a_trial_with_an_exception_left_in_a_reward_file_is_no_verdict(trial, exception, kind):
    result = result_of(verifier_result=None, exception_info={"exception_type": exception})
    assert load(trial(result=result, text="1")).outcome.kind == kind


@pytest.mark.parametrize(
    ("exception", "text", "difference"),
    [
        (None, "1", "steps/search/verifier/reward.txt says 1"),
        (None, "", "steps/search/verifier/reward.txt says no reward"),
        ({"exception_type": "RewardFileEmptyError"}, "", None),
    ],
)
def test_the_reward_file_of_a_step_without_reward_is_a_contradiction_too(tmp_path, exception, text, difference):
    path = tmp_path / f"shop{SUFFIX}"
    shutil.copytree(RECORDED / f"shop-multi-step{SUFFIX}", path)
    result = json.loads((path / "result.json").read_text())
    step = next(step for step in result["step_results"] if step["step_name"] == "search")
    step.update(verifier_result=None, exception_info=exception)
    (path / "result.json").write_text(json.dumps(result))
    (path / "steps/search/verifier/reward.txt").write_text(text)
    (judgement,) = load(path).judgements
    assert judgement.contradictions == ((f"result.json says no reward, but {difference}",) if difference else ())


@pytest.mark.parametrize(
    ("verifier_result", "problem"),
    [
        ({"rewards": {"reward": 5}}, "result.json rewards reward is 5, expected a number from 0 to 1"),
        ({"rewards": {"reward": -1}}, "result.json rewards reward is -1, expected a number from 0 to 1"),
        ({"rewards": {"reward": "0"}}, 'result.json rewards reward is "0", expected a number from 0 to 1'),
        ({"rewards": {"reward": True}}, "result.json rewards reward is true, expected a number from 0 to 1"),
        ({"rewards": {"reward": None}}, "result.json rewards reward is null, expected a number from 0 to 1"),
        ({"rewards": {"reward": float("nan")}}, "result.json rewards reward is null, expected a number from 0 to 1"),
        ({"rewards": [1]}, "result.json rewards is [1], expected an object"),
        ("success", 'result.json verifier_result is "success", expected an object'),
    ],
)
def test_a_reward_of_a_wrong_type_or_range_is_not_as_good_as_none(trial, verifier_result, problem):
    with pytest.raises(UnreadableTrajectory) as caught:
        load(trial(result=result_of(verifier_result=verifier_result)))
    assert str(caught.value) == f"{problem}; run the task again, or fix the file"


def test_an_exception_that_is_no_object_does_not_make_the_environment_fail(trial):
    with pytest.raises(UnreadableTrajectory, match=r"result\.json exception_info is 7, expected an object"):
        load(trial(result=result_of(exception_info=7, verifier_result=None)))


@pytest.mark.parametrize("name", ["result.json", None])
def test_a_reward_file_counts_where_harbor_left_nothing_but_not_in_place_of_a_result(trial, name):
    path = trial(result=None)
    with pytest.raises(UnreadableTrajectory, match=r"missing file: .*result\.json"):
        load(path)
    (path / "trial.log").unlink()
    if name is None:
        assert [(each.source, each.success) for each in load(path).judgements] == [("verifier/reward.txt", True)]
        return
    (path / name).write_text("{")
    with pytest.raises(UnreadableTrajectory, match=r"result\.json is not valid JSON"):
        load(path)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"json": '{"reward": 0'}, "verifier/reward.json is not valid JSON"),
        ({"json": {"reward": "0"}}, 'verifier/reward.json reward is "0", expected a number from 0 to 1'),
        ({"text": "2"}, "verifier/reward.txt is 2.0, expected a number from 0 to 1"),
        ({"text": "nan"}, 'verifier/reward.txt is "nan", expected a number from 0 to 1'),
        ({"text": ""}, 'verifier/reward.txt is "", expected a number from 0 to 1'),
    ],
)
def test_a_damaged_reward_file_gives_no_way_to_the_next_one(trial, changed, problem):
    path = trial(result=None, **changed)
    (path / "trial.log").unlink()
    with pytest.raises(UnreadableTrajectory) as caught:
        load(path)
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize("kind", ["link", "directory"])
@pytest.mark.parametrize("result", [True, False])
def test_a_reward_file_that_is_no_file_agrees_with_no_result_and_gives_no_verdict(trial, tmp_path, kind, result):
    path = trial(**({} if result else {"result": None}))
    file = path / "verifier/reward.txt"
    file.rename(tmp_path / "one.txt")
    file.symlink_to(tmp_path / "one.txt") if kind == "link" else file.mkdir()
    if result:
        (judgement,) = load(path).judgements
        assert judgement.contradictions == ("result.json says 1, but verifier/reward.txt says no reward",)
        return
    (path / "trial.log").unlink()
    with pytest.raises(UnreadableTrajectory, match=r"reward\.txt"):
        load(path)


@pytest.mark.parametrize(
    ("step", "text", "contradictions"),
    [
        ("search", "1", ()),
        ("search", "0", ("result.json says 1, but steps/search/verifier/reward.txt says 0",)),
        ("buy", "0", ("result.json says 1, but steps/buy/verifier/reward.txt says 0",)),
    ],
)
def test_the_reward_file_of_a_step_is_compared_with_the_result_of_that_step(tmp_path, step, text, contradictions):
    path = tmp_path / f"shop{SUFFIX}"
    shutil.copytree(RECORDED / f"shop-multi-step{SUFFIX}", path)
    (path / "steps" / step / "verifier/reward.txt").write_text(text)
    (judgement,) = load(path).judgements
    assert judgement.contradictions == contradictions


def test_a_step_may_have_another_reward_than_the_trial(tmp_path):
    path = tmp_path / f"shop{SUFFIX}"
    shutil.copytree(RECORDED / f"shop-multi-step{SUFFIX}", path)
    result = json.loads((path / "result.json").read_text())
    for step in result["step_results"]:
        step["verifier_result"] = {"rewards": {"reward": 0.5}}
        (path / "steps" / step["step_name"] / "verifier/reward.txt").write_text("0.5")
    (path / "result.json").write_text(json.dumps(result))
    (judgement,) = load(path).judgements
    assert (judgement.score, judgement.contradictions) == (1, ())


TIMEOUT = {"exception_type": "AgentTimeoutError"}
CRASH = {"exception_type": "RuntimeError"}
REWARDED, UNREWARDED = {"rewards": {"reward": 0}}, None


@pytest.mark.parametrize(
    ("early_end", "exception", "rewards", "kind", "reasons"),
    [
        (None, None, REWARDED, "completed", ()),
        ("runtime_session_dead", None, REWARDED, "completed", ("runtime_session_dead",)),
        ("runtime_session_dead", CRASH, REWARDED, "completed", ("agent_error", "runtime_session_dead")),
        ("runtime_session_dead", None, UNREWARDED, "ungraded", ("no_verdict", "runtime_session_dead")),
        ("max_turns_reached", None, REWARDED, "over_budget", ("max_turns_reached",)),
        ("context_overflow", None, UNREWARDED, "over_budget", ("context_overflow",)),
        ("something_else", None, REWARDED, "completed", ()),
        (7, None, REWARDED, "completed", ()),
        ("max_turns_reached", TIMEOUT, REWARDED, "over_budget", ("agent_timeout",)),
        (None, CRASH, UNREWARDED, "aborted", ("exception",)),
        (None, {"exception_type": "VerifierTimeoutError"}, UNREWARDED, "ungraded", ("no_verdict",)),
        (None, {"exception_type": "RewardFileNotFoundError"}, UNREWARDED, "ungraded", ("no_verdict",)),
    ],
)
def test_the_file_of_the_agent_never_takes_a_run_out_of_the_rates(trial, early_end, exception, rewards, kind, reasons):
    document = json.loads((RECORDED / f"shop-success{SUFFIX}/agent/trajectory.json").read_text())
    path = trial(
        trajectory=document | {"extra": {"early_termination_reason": early_end}},
        result=result_of(exception_info=exception, verifier_result=rewards),
        text=None,
    )
    trajectory = load(path)
    assert (trajectory.outcome.kind, trajectory.outcome.reasons) == (kind, reasons)


def test_an_exception_is_stored_once_on_one_short_line(trial):
    text = "lost\nPASSED all\x1b[2J" + "x" * 5_000_000
    info = {"exception_type": text, "exception_message": text}
    trajectory = load(trial(result=result_of(exception_info=info, verifier_result=None), text=None))
    assert trajectory.outcome.message.startswith("the trial raised lost PASSED all\\u001b[2Jxx")
    assert trajectory.last_error.startswith("lost PASSED all\\u001b[2Jxx")
    assert (len(trajectory.last_error), len(json.dumps(trajectory.to_json())) < 6000) == (300, True)
    assert "exception_message" not in trajectory.details


def test_names_and_rewards_are_cut(trial):
    rewards = {"reward": 1} | {f"{number:04}" * 1000: number for number in range(1000)}
    result = result_of(verifier_result={"rewards": rewards}, source="s" * 1000, agent_info={"name": "n" * 1000})
    agent = {"name": "a" * 1000, "model_name": "m" * 1000}
    trajectory = load(trial(result=result, trajectory={"schema_version": "ATIF-v1.6", "steps": [], "agent": agent}))
    assert {len(name) for name in (trajectory.system, trajectory.model, trajectory.benchmark)} == {80}
    assert len(trajectory.details["rewards"]) == 50
    assert max(map(len, trajectory.details["rewards"])) == 80


@pytest.mark.parametrize(
    ("ids", "sources", "observations"),
    [
        (("a", "b"), ("b", "a"), ("1", "0")),
        (("a", "a"), ("a", "a"), ("0\n1", None)),
        (("a", "b"), (None, "c"), (None, "0\n1")),
        ((None, ["x"]), (["x"], ""), (None, "0\n1")),
        (("", "b"), (None, "b"), (None, "0\n1")),
        ((), ("a", None), ("0\n1",)),
    ],
)
def test_a_result_belongs_to_the_first_call_with_its_id_or_else_to_the_last(trial, ids, sources, observations):
    calls = [{"tool_call_id": each, "function_name": "f", "arguments": {}} for each in ids]
    results = [{"source_call_id": source, "content": str(number)} for number, source in enumerate(sources)]
    step = {"source": "agent", "message": "m", "tool_calls": calls, "observation": {"results": results}}
    trajectory = load(trial(trajectory={"schema_version": "ATIF-v1.6", "steps": [step]}))
    assert tuple(step.observation for step in trajectory.steps) == observations


@pytest.mark.whole
def test_many_calls_of_one_step_cost_no_more_than_their_number(trial):
    count = 40_000
    calls = [{"tool_call_id": f"{number}", "function_name": "f"} for number in range(count)]
    results = [{"source_call_id": f"{number}", "content": "c"} for number in reversed(range(count))]
    step = {"source": "agent", "tool_calls": calls, "observation": {"results": results}}
    path = trial(trajectory={"schema_version": "ATIF-v1.6", "steps": [step]})
    began = time.process_time()
    assert len(load(path).steps) == count
    assert time.process_time() - began < 8  # 30 s where each result is looked for among all calls


@pytest.mark.parametrize(
    ("steps", "usage"),
    [
        ([(10, 1), (20, 2)], (30, 3)),
        ([(10, 1), (None, 2)], None),
        ([(10, None), (20, 2)], None),
        ([(0, 0), (0, 0)], (0, 0)),
    ],
)
def test_tokens_are_known_only_if_each_trajectory_has_them(tmp_path, steps, usage):
    path = tmp_path / f"shop{SUFFIX}"
    shutil.copytree(RECORDED / f"shop-multi-step{SUFFIX}", path)
    for name, (prompt, completion) in zip(("search", "buy"), steps, strict=True):
        file = path / "steps" / name / "agent/trajectory.json"
        totals = {"total_prompt_tokens": prompt, "total_completion_tokens": completion}
        file.write_text(json.dumps(json.loads(file.read_text()) | {"final_metrics": totals}))
    read_usage = load(path).usage
    assert (read_usage and (read_usage.prompt_tokens, read_usage.completion_tokens)) == usage


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


@settings(max_examples=examples(150), deadline=None)
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


def test_a_call_that_clicks_points_at_its_coordinates(trial):
    calls = [
        {"tool_call_id": str(number), "function_name": name, "arguments": arguments}
        for number, (name, arguments) in enumerate(
            [("mouse_click", {"x": 12, "y": 34.5}), ("goto", {"x": 1, "y": 2}), ("mouse_click", {"x": "12", "y": 1})]
        )
    ]
    steps = [{"step_id": 1, "source": "agent", "message": "", "tool_calls": calls}]
    trajectory = load(trial(trajectory={"schema_version": "ATIF-v1.4", "steps": steps}))
    assert [step.target for step in trajectory.steps] == [Target(12, 34.5), None, None]
