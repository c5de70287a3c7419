"""Which directories are trajectories, from wherever one begins to look: fara_webeval.md §1.3."""

from __future__ import annotations

import json

import pytest

from pytest_webeval import find_runs, load_run
from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.discovery import list_directory
from pytest_webeval.recordings.formats import format_of, holds_reports
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from pytest_webeval.tasks.dataset import parse_tasks
from tests.support import recorded
from tests.support.recorded import put

ANSWER = "a_final_answer.json"


@pytest.mark.parametrize(
    ("names", "is_trajectory"),
    [
        (("web_surfer.log", ANSWER), True),
        (("web_surfer.log", "times.json"), True),
        (("web_surfer.log", "core.log"), True),
        (("web_surfer.log", "scores/gpt_eval.json"), True),
        (("web_surfer.log", "screenshot_1.png"), True),
        ((ANSWER, "times.json"), True),
        (("a_answer.json", "screenshot0.png"), True),
        (("data_point.json", "screenshot_0_pre.png"), True),
        (("web_surfer.log",), False),
        ((ANSWER,), False),
        (("times.json", "core.log", "scores/gpt_eval.json", "screenshot0.png"), False),
        (("data_point.json",), False),
        (("notes.txt",), False),
        (("web_surfer.log", ANSWER, "network.har"), True),
    ],
)
def test_files_make_a_directory_a_trajectory(tmp_path, names, is_trajectory):
    for name in names:
        put(tmp_path / "a" / name, "") if "/" not in name else put_deep(tmp_path / "a", name)
    found = format_of(tmp_path / "a")
    assert (found is not None and found.name == "fara") == is_trajectory


def put_deep(directory, name) -> None:
    directory.mkdir(exist_ok=True)
    put(directory / name, "")


def test_every_child_of_traj_is_a_candidate_so_that_none_vanishes(tmp_path):
    put(tmp_path / "core.log", "")
    (tmp_path / "traj/wiped").mkdir(parents=True)
    (run,) = find_runs(tmp_path)
    with pytest.raises(
        UnreadableTrajectory, match=r"answer_missing: missing answer file: neither 'wiped_final_answer.json'"
    ):
        run.check()


def test_a_crashed_run_with_a_folder_of_downloads_is_still_one(tmp_path):
    path = recorded.write(tmp_path / "traj/7", answer=None, web_surfer_log=None, times_json=None, scores=None)
    put_deep(path / "downloads", "metrics.json")
    assert [run.task_id for run in find_runs(tmp_path)] == ["7"]


def test_a_directory_that_cannot_be_listed_is_a_run_that_cannot_be_read(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(path)

    (tmp_path / "traj/7").mkdir(parents=True)
    monkeypatch.setattr("pytest_webeval.recordings.discovery.os.scandir", refuse)
    assert format_of(tmp_path / "traj/7").name == "fara"


def test_a_directory_called_traj_by_chance_is_searched_like_any_other(tmp_path):
    recorded.write(tmp_path / "traj/experiment" / recorded.RUN / "books_7")
    assert [run.task_id for run in find_runs(tmp_path)] == ["books_7"]


def test_a_trajectory_with_a_response_file_is_no_run_for_the_agent_may_have_put_it_there(tmp_path):
    for name in ("web_surfer.log", ANSWER, "agent_response.json"):
        put(tmp_path / "a" / name, "")
    with pytest.raises(RecordingError, match=r"/a has the files of several formats: fara \(.*webarena-verified \("):
        format_of(tmp_path / "a")


def test_a_response_where_only_trajectories_stand_belongs_to_the_other_format(tmp_path):
    put(tmp_path / "web_surfer.log", "")
    for name in ("agent_response.json", "network.har"):
        path = tmp_path / "traj/107"
        path.mkdir(parents=True, exist_ok=True)
        put(path / name, "{}")
    assert [run.format for run in find_runs(tmp_path)] == ["webarena-verified"]


@pytest.fixture
def tree(tmp_path):
    """Two runs of two tasks each, with what webeval leaves beside them."""
    for run in ("r1", "r2"):
        for task in ("BBC News--3", "books_7"):
            recorded.write(tmp_path / recorded.RUN.replace("r1", run) / task)
    return tmp_path


@pytest.mark.parametrize(
    ("start", "labels"),
    [
        ("", ["r1/traj/BBC News--3", "r1/traj/books_7", "r2/traj/BBC News--3", "r2/traj/books_7"]),
        ("runs", ["r1/traj/BBC News--3", "r1/traj/books_7", "r2/traj/BBC News--3", "r2/traj/books_7"]),
        (
            recorded.RUN.removesuffix("/r1/traj"),
            ["r1/traj/BBC News--3", "r1/traj/books_7", "r2/traj/BBC News--3", "r2/traj/books_7"],
        ),
        (recorded.RUN.removesuffix("/traj"), ["traj/BBC News--3", "traj/books_7"]),
        (recorded.RUN, ["BBC News--3", "books_7"]),
        (f"{recorded.RUN}/books_7", ["books_7"]),
    ],
)
def test_the_same_trajectories_are_found_from_any_directory_around_them(tree, start, labels):
    found = list(find_runs(tree / start))
    assert [run.label.rpartition("WebTailBench_hf/")[2] for run in found] == labels
    assert {run.trajectory.benchmark for run in found} == {"WebTailBench_hf"}


def test_what_webeval_computed_over_runs_is_no_run_and_no_problem(tmp_path):
    assert not holds_reports(list_directory(tmp_path))
    put(tmp_path / "metrics.json", "{}")
    assert holds_reports(list_directory(tmp_path))
    assert format_of(tmp_path) is None
    put(tmp_path / "web_surfer.log", "")
    assert not holds_reports(list_directory(tmp_path))


def test_the_layout_of_fara_1_5_is_told_and_not_scored(tmp_path):
    for name in ("data_point.json", "screenshot_0_pre.png"):
        put(tmp_path / "books_7" / name, "{}")
    with pytest.raises(UnreadableTrajectory, match=r"the layout of Fara 1.5 .* is not supported; convert it") as caught:
        load_run(tmp_path / "books_7").check()
    assert caught.value.code == "unsupported_layout"


def test_a_crash_belongs_in_no_mean(tmp_path):
    path = recorded.write(tmp_path / "7", answer=None, core_log=recorded.core_log("7", crash="no route"))
    run = load_run(path)
    run.check()
    assert run.exclusion == "aborted (crash_no_answer): the run crashed: no route"


def test_a_trajectory_needs_no_definition_and_takes_the_text_the_verifier_left(tmp_path):
    path = recorded.write(tmp_path / "books_7")
    assert load_run(path).task(None).intent == ""
    put(path / "task_data.json", {"task_summary": "Find the atlas.", "init_url": "https://shop.test/"})
    task = load_run(path).task(None)
    assert (task.task_id, task.intent, task.start_urls) == ("books_7", "Find the atlas.", ["https://shop.test/"])


DEFINED = {
    "sites": ["shopping"],
    "task_id": 107,
    "intent_template_id": 4,
    "start_urls": ["__SHOPPING__"],
    "intent": "Show me lamps.",
    "intent_template": "Show me {{things}}.",
    "instantiation_dict": {"things": "lamps"},
    "revision": 1,
    "eval": [{"evaluator": "NetworkEventEvaluator", "expected": {"url": "__SHOPPING__/search"}}],
}


def test_all_expectations_of_a_definition_count_whatever_was_recorded_and_the_verdict_besides(tmp_path):
    answer = {"evaluator": "AgentResponseEvaluator", "expected": {"task_type": "navigate", "status": "SUCCESS"}}
    definition = {**DEFINED, "eval": [answer, *DEFINED["eval"]]}
    tasks = parse_tasks(json.dumps([definition]).encode(), "tasks.json")
    recorded_traffic, without = recorded.write(tmp_path / "a/107"), recorded.write(tmp_path / "b/107")
    put(recorded_traffic / "network.har", "{}")
    names = ["AgentResponseEvaluator", "NetworkEventEvaluator", "RubricEvaluator"]
    for run in (load_run(recorded_traffic), load_run(without)):
        task = run.task(tasks)
        assert (task.task_id, task.eval) == (107, definition["eval"])
        assert [expectation.evaluator for expectation in run.list_expectations(task)] == names


def test_a_definition_that_asks_for_the_verdict_itself_is_left_alone(tmp_path):
    own = {"evaluator": "RubricEvaluator", "threshold": 0.5}
    tasks = parse_tasks(json.dumps([{**DEFINED, "eval": [own]}]).encode(), "tasks.json")
    run = load_run(recorded.write(tmp_path / "107"))
    assert [expectation.config for expectation in run.list_expectations(run.task(tasks))] == [own]


def test_a_released_trajectory_is_read_again(tmp_path):
    run = load_run(recorded.write(tmp_path / "books_7"))
    first = run.trajectory
    assert (run.trajectory, run.is_trace_loaded) == (first, False)
    run.release()
    assert run.trajectory is not first


def test_repairs_of_recorded_traffic_count_once_it_was_read(tmp_path):
    path = recorded.write(tmp_path / "books_7")
    entry = {"request": {"method": "GET", "url": "http://shop.test/"}, "response": {"status": 200}}
    put(path / "network.har", "\ufeff" + json.dumps({"log": {"entries": [entry]}}))
    run = load_run(path)
    assert run.repairs is None
    assert (run.trace.repairs, run.is_trace_loaded) == (run.repairs, True)
    assert run.repairs is not None
    run.release()
    assert run.repairs is None
