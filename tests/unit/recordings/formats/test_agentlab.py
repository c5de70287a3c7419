"""Experiments of AgentLab, written by its own loop with a scripted agent: what ended how, and what is never opened."""

from __future__ import annotations

import json
import pickle
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_webeval import recordings
from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.formats import format_of, unknown_layout
from pytest_webeval.recordings.formats.agentlab import read
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from tests.support.agentlab import RECORDED, find_experiment
from tests.support.default_run import examples

SUMMARY = "summary_info.json"
AGENT = "ScriptedAgent-example-model-1"


def load(path):
    files = RecordedFiles(RunInputs(path))
    return read(files).judged(), files.warnings.texts


@pytest.fixture
def experiment(tmp_path):
    """A copy of a recorded experiment with changed members of the summary; `...` removes one."""

    def write(name="success", **changed):
        path = tmp_path / find_experiment(name).name
        shutil.copytree(find_experiment(name), path)
        summary = json.loads((path / SUMMARY).read_text()) | changed
        (path / SUMMARY).write_text(json.dumps({key: value for key, value in summary.items() if value is not ...}))
        return path

    return write


@pytest.mark.parametrize(
    ("name", "outcome", "reasons", "success", "actions"),
    [
        ("success", "completed", (), True, ["click", "send_msg_to_user"]),
        ("failure", "completed", (), False, ["click", "send_msg_to_user"]),
        ("partial", "completed", (), False, ["send_msg_to_user"]),
        ("last-step", "completed", (), True, ["click", "send_msg_to_user"]),
        ("too-long", "over_budget", ("truncated",), False, ["click", "click", "click"]),
        ("no-action", "over_budget", ("truncated",), False, ["click", "none"]),
        ("agent-error", "completed", ("agent_error",), False, ["click"]),
        ("reported-error", "completed", ("agent_reported_error",), False, ["click", "send_msg_to_user"]),
        ("quiet", "completed", (), True, ["unrecorded", "unrecorded"]),
        ("interrupted", "aborted", ("interrupted",), False, ["click"]),
        ("no-server", "aborted", ("environment_error",), False, []),
        ("crash", "aborted", ("environment_error",), False, ["click", "goto"]),
    ],
)
def test_an_experiment_ends_as_its_summary_says(name, outcome, reasons, success, actions):
    trajectory, warnings = load(find_experiment(name))
    (judgement,) = trajectory.judgements
    assert (trajectory.outcome.kind, trajectory.outcome.reasons, judgement.success) == (outcome, reasons, success)
    assert ([step.action for step in trajectory.steps], judgement.contradictions, warnings) == (actions, (), ())


@pytest.mark.parametrize(
    ("name", "changed", "reasoning"),
    [
        ("failure", {}, "reward 0"),
        ("success", {}, "reward 1"),
        ("agent-error", {}, "reward 0 (the agent raised an error)"),
        ("reported-error", {}, "reward 0 (the task ended; the agent reported an error)"),
        ("too-long", {}, "reward 0 (the experiment was stopped after 3 steps)"),
        (
            "too-long",
            {"err_msg": "e"},
            "reward 0 (the experiment was stopped after 3 steps; the agent reported an error)",
        ),
        ("crash", {}, "reward 0"),  # aborted: nothing follows from the reward
    ],
)
def test_the_reason_of_a_verdict_has_what_was_unusual_about_the_end(experiment, name, changed, reasoning):
    (judgement,) = load(experiment(name, **changed))[0].judgements
    assert judgement.reasoning == reasoning


def test_rewards_and_tokens_of_all_experiments_are_those_of_the_files():
    paths = sorted(RECORDED.iterdir())
    assert len(paths) == 15
    for path in paths:
        summary = json.loads((path / SUMMARY).read_text())
        trajectory, _ = load(path)
        assert trajectory.judgements[0].score == summary["cum_reward"]
        assert (trajectory.usage and trajectory.usage.prompt_tokens) == summary.get("stats.cum_input_tokens")
        assert (trajectory.usage and trajectory.usage.completion_tokens) == summary.get("stats.cum_output_tokens")
        assert trajectory.details.get("cost_usd") == summary.get("stats.cum_cost")
        assert len(trajectory.screenshots) == len(list(path.glob("*.png")))


def test_steps_have_the_thoughts_of_the_log_and_the_screenshots_around_them():
    trajectory, _ = load(find_experiment("success", 3))
    first, last = trajectory.steps
    assert (first.thought, first.arguments) == ("The report lists reviews.\nI use it.", {"code": "click('6')"})
    assert (first.before.name, first.after.name) == ("screenshot_step_0.png", "screenshot_step_1.png")
    assert (last.before.name, last.after.name) == ("screenshot_step_1.png", "screenshot_step_2.png")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}", first.timestamp)
    assert (trajectory.answer, trajectory.system, trajectory.benchmark) == ("It has 12 reviews.", AGENT, "toy")
    assert trajectory.details["packages"][0] == "agentlab==0.4.2"
    assert (trajectory.details["task"], trajectory.details["seed"]) == ("toy.success", "3")
    summary = json.loads((find_experiment("success", 3) / SUMMARY).read_text())
    assert trajectory.duration == summary["stats.cum_step_elapsed"] + summary["stats.cum_agent_elapsed"]


def test_an_experiment_that_a_study_ran_again_is_excluded():
    trajectory, _ = load(find_experiment("browser-lost", 7, "_"))
    assert (trajectory.outcome.kind, trajectory.outcome.reasons) == ("aborted", ("superseded",))
    assert load(find_experiment("browser-lost", 7))[0].judgements[0].success is True


@pytest.mark.parametrize(
    ("changed", "outcome", "reasons"),
    [
        ({"terminated": False, "err_msg": "x", "stack_trace": "y"}, "completed", ("agent_error",)),
        ({"terminated": None, "err_msg": "x", "stack_trace": "y"}, "aborted", ("environment_error",)),
        (
            {"terminated": ..., "truncated": ..., "err_msg": "x", "stack_trace": "y", "n_steps": -1},
            "aborted",
            ("environment_error",),
        ),
        ({"terminated": ..., "truncated": ..., "n_steps": -1}, "aborted", ("interrupted",)),
        ({"terminated": False, "err_msg": "Early termination??"}, "aborted", ("interrupted",)),
        ({"terminated": False}, "aborted", ("interrupted",)),
        (
            {"truncated": True, "terminated": False, "err_msg": "x"},
            "over_budget",
            ("truncated", "agent_reported_error"),
        ),
        ({"err_msg": ""}, "completed", ("agent_reported_error",)),
    ],
)
def test_errors_are_distinguished_by_the_members_that_are_set(experiment, changed, outcome, reasons):
    trajectory, _ = load(experiment(**{"cum_reward": 0} | changed))
    assert (trajectory.outcome.kind, trajectory.outcome.reasons) == (outcome, reasons)


@pytest.mark.parametrize("words", ["environment", "KeyboardInterrupt: Early termination??", "Traceback: from_reset("])
def test_no_words_of_an_error_exclude_a_failure(experiment, words):
    trajectory, _ = load(experiment("agent-error", err_msg=words, stack_trace=words))
    assert (trajectory.outcome.kind, trajectory.judgements[0].success) == ("completed", False)


@pytest.mark.parametrize(
    ("changed", "contradiction"),
    [
        ({"err_msg": "x"}, "summary_info.json has a reward of 1 and err_msg: an experiment with an error has none"),
        ({"n_steps": 0}, "summary_info.json has a reward of 1, but no step was taken"),
        ({"n_steps": -1}, "summary_info.json has a reward of 1, but no step was taken"),
    ],
)
def test_a_reward_that_nobody_can_have_earned_is_a_contradiction(experiment, changed, contradiction):
    assert load(experiment(**changed))[0].judgements[0].contradictions == (contradiction,)


@pytest.mark.parametrize(
    ("reward", "success"),
    [
        (1, True),
        (1.0, True),
        (sum([0.1] * 10), True),
        (1 + 2e-16, True),
        (1 - 1e-8, False),
        (0.999, False),
        (0, False),
    ],
)
def test_only_a_full_reward_is_a_success(experiment, reward, success):
    (judgement,) = load(experiment(cum_reward=reward))[0].judgements
    assert (judgement.success, judgement.score, judgement.ungraded) == (success, round(reward, 9), None)


def test_a_task_that_nobody_judges_is_ungraded(tmp_path):
    path = tmp_path / f"2026-01-31_10-00-00_{AGENT}_on_openended_0"
    shutil.copytree(find_experiment("failure"), path)
    trajectory, _ = load(path)
    assert (trajectory.outcome.kind, trajectory.outcome.message) == ("ungraded", "nobody judges a task of openended")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"cum_reward": ...}, "summary_info.json has nothing @ cum_reward, expected a number from 0 to 1"),
        ({"n_steps": 1.5}, "summary_info.json has 1.5 @ n_steps, expected a number of steps"),
        ({"n_steps": -2}, "summary_info.json has -2 @ n_steps, expected a number of steps"),
        (
            {"stack_trace": "y", "err_msg": None},
            "summary_info.json has None @ err_msg, expected the error that stack_trace belongs to",
        ),
        ({"terminated": ..., "n_steps": 0}, "summary_info.json has nothing @ terminated, expected a boolean or null"),
        ({"terminated": "false"}, "summary_info.json has 'false' @ terminated, expected a boolean or null"),
        ({"terminated": ...}, "summary_info.json has nothing @ terminated, expected a boolean or null"),
        ({"truncated": ...}, "summary_info.json has nothing @ truncated, expected a boolean or null"),
        (
            {"terminated": ..., "truncated": ..., "err_msg": "x", "stack_trace": "y"},
            "summary_info.json has nothing @ terminated, expected a boolean or null",
        ),
        ({"truncated": 0}, "summary_info.json has 0 @ truncated, expected a boolean or null"),
        ({"err_msg": {}}, "summary_info.json has {} @ err_msg, expected a string or null"),
        ({"stack_trace": 1}, "summary_info.json has 1 @ stack_trace, expected a string or null"),
    ],
)
def test_a_damaged_member_that_decides_is_an_error(experiment, changed, message):
    with pytest.raises(RecordingError) as caught:
        load(experiment(**changed))
    assert str(caught.value) == f"{message}; run the experiment again, or fix the file"


@pytest.mark.parametrize(
    ("reward", "value"),
    [
        (None, "null"),
        ("1", '"1"'),
        (True, "true"),
        (float("nan"), "null"),
        (2, "2"),
        (-0.5, "-0.5"),
    ],
)
def test_a_reward_that_no_task_of_browsergym_gives_is_an_error(experiment, reward, value):
    with pytest.raises(UnreadableTrajectory) as caught:
        load(experiment(cum_reward=reward))
    problem = f"summary_info.json cum_reward is {value}, expected a number from 0 to 1"
    assert (caught.value.code, str(caught.value)) == (
        "score_unreadable",
        f"{problem}; run the task again, or fix the file",
    )


@pytest.mark.parametrize(
    ("changed", "warning"),
    [
        ({"n_steps": 1, "stats.cum_steps": 2}, "counts 1 step, and there are 3 screenshots, with numbers from 0 to 2"),
        ({"n_steps": 3, "stats.cum_steps": 4}, "counts 3 steps, and there are 3 screenshots, with numbers from 0 to 2"),
        ({"stats.cum_steps": 7}, "has n_steps 2, but stats.cum_steps 7: expected one more"),
        ({"n_steps": 10**9, "stats.cum_steps": 10**9 + 1}, "counts 1000000000 steps; more than 10000 are not listed"),
    ],
)
def test_counts_that_differ_are_warnings(experiment, changed, warning):
    path = experiment("quiet", **changed)
    trajectory, warnings = load(path)
    assert f"{path.name}: {SUMMARY} {warning}" in warnings
    assert len(trajectory.steps) == min(changed.get("n_steps", 2), 10_000)


def test_a_missing_screenshot_is_a_warning(experiment):
    path = experiment()
    (path / "screenshot_step_1.png").unlink()
    trajectory, warnings = load(path)
    numbers = f"{SUMMARY} counts 2 steps, and there are 2 screenshots, with numbers from 0 to 2"
    assert (warnings, trajectory.steps[0].after) == ((f"{path.name}: {numbers}",), None)


def test_screenshots_with_labels_count_where_there_are_no_others(experiment):
    path = experiment()
    shutil.copy(path / "screenshot_step_0.png", path / "screenshot_som_step_0.png")
    assert [shot.name for shot in load(path)[0].screenshots] == [f"screenshot_step_{number}.png" for number in range(3)]
    for number in range(3):
        (path / f"screenshot_step_{number}.png").rename(path / f"screenshot_som_step_{number}.jpg")
    (path / "screenshot_som_step_0.png").unlink()
    assert load(path)[0].steps[0].before.name == "screenshot_som_step_0.jpg"


def test_actions_that_do_not_belong_to_a_step_are_not_read(experiment):
    path = experiment()
    with (path / "experiment.log").open("a") as log:
        for _ in range(2):
            log.write("2026-01-31 10:00:00,000 - 7 - agentlab.experiments.loop - INFO - action:\nclick('9')\n\n")
    trajectory, warnings = load(path)
    assert [step.action for step in trajectory.steps] == ["unrecorded", "unrecorded"]
    assert warnings == (f"{path.name}: experiment.log has 4 actions, and {SUMMARY} counts 2 steps; ignored",)
    trajectory, warnings = load(experiment("last-step", n_steps=3))
    assert [step.action for step in trajectory.steps] == ["unrecorded"] * 3
    assert any(f"experiment.log has 2 actions, and {SUMMARY} counts 3 steps; ignored" in text for text in warnings)


@pytest.mark.parametrize(
    ("directory", "task_id"),
    [
        ("2026-01-31_10-00-00_A-gpt-4o_on_webarena.310_0", "webarena.310_0"),
        ("2026-01-31_10-00-00_A-gpt-4o_on_miniwob.click-test-2_42_3", "miniwob.click-test-2_42"),
        ("2026-01-31_10-00-00_A_on_workarena.servicenow.all-menu_12_a0b1c2", "workarena.servicenow.all-menu_12"),
        ("_2026-01-31_10-00-00_A_on_webarena.310_0", "webarena.310_0"),
        ("2026-01-31_10-00-00_my_experiment", "my_experiment"),
        ("copied", "copied"),
    ],
)
def test_the_task_id_is_task_and_seed(directory, task_id):
    assert format_of(find_experiment("success")).parse_task_id(directory) == task_id


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_a_pickle_in_the_directory_is_not_loaded(experiment, tmp_path):
    path = experiment()
    trap = pickle.dumps(Trap(tmp_path / "sprung"))
    pickle.loads(trap)
    (tmp_path / "sprung").unlink()
    for name in ("exp_args.pkl", "step_0.pkl.gz", "goal_object.pkl.gz"):
        (path / name).write_bytes(trap)
    assert load(path) == load(path)
    assert not (tmp_path / "sprung").exists()


def test_no_reader_of_recordings_imports_what_loads_a_pickle():
    loaders = re.compile(
        r"^\s*(?:import|from)\s+(?:_?pickle|cloudpickle|dill|joblib|shelve|marshal|numpy)\b", re.MULTILINE
    )
    sources = sorted(Path(recordings.__file__).parent.rglob("*.py"))
    assert "agentlab.py" in [path.name for path in sources]
    assert [path.name for path in sources if loaders.search(path.read_text())] == []


@pytest.mark.parametrize("name", ["exp_args.pkl", "screenshot_step_0.png", "screenshot_step_0.jpg"])
def test_what_an_unfinished_experiment_lacks_is_in_the_message(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    lack = f"it has {name} of the format agentlab, but lacks {SUMMARY} with n_steps, cum_reward"
    assert lack in unknown_layout(tmp_path)
    (tmp_path / SUMMARY).write_bytes(b"")
    damage = f"it has {name} of the format agentlab, but {SUMMARY} is empty or cannot be read; restore"
    assert damage in unknown_layout(tmp_path)


KEYS = ["n_steps", "cum_reward", "err_msg", "stack_trace", "terminated", "truncated", "stats.cum_steps"]
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)
SUMMARIES = st.fixed_dictionaries(
    {"cum_reward": st.floats(0, 1) | JSON, "n_steps": st.integers(0, 5) | JSON},
    optional={key: st.booleans() | st.none() | JSON for key in KEYS[2:]},
)


@settings(max_examples=examples(150), deadline=None)
@given(summary=SUMMARIES, log=st.text())
def test_no_content_raises_anything_but_a_recording_error(tmp_path_factory, summary, log):
    path = tmp_path_factory.mktemp("experiment")
    (path / SUMMARY).write_text(json.dumps(summary))
    (path / "experiment.log").write_text(log, "utf-8", "surrogatepass")
    try:
        trajectory, _ = load(path)
    except RecordingError:
        return
    (judgement,) = trajectory.judgements
    assert not judgement.success or summary["cum_reward"] == 1
