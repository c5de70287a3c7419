"""`score_runs` on executors and over stores, and `score_run`, leave and return what one process does."""

from __future__ import annotations

import pickle
import shutil
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context

import pytest

from pytest_webeval import (
    NetworkEventEvaluator,
    RecordingError,
    ScoreSettings,
    SettingsError,
    WebEvalError,
    find_runs,
    load_tasks,
    score_run,
    score_runs,
)
from pytest_webeval.executors.placement import wrap_executor
from pytest_webeval.stores.choice import LocalStore
from tests.support.killing_evaluators import KillingEvaluator, SlowEvaluator
from tests.support.sessions import read_files

pytestmark = pytest.mark.whole  # compares drivers of one engine, of which each has tests of its own

IDS = range(101, 108)


@pytest.fixture
def some(runs):
    """Seven runs, of which one fails and one cannot be read."""
    for number in IDS:
        runs.add(number, passes=number != 103)
    (runs.root / "105/network.har").write_text("{")
    return runs


@pytest.fixture
def archive(some, tmp_path, monkeypatch):
    """The location of the same runs in an archive, whose cache is below `tmp_path`."""
    pytest.importorskip("fsspec")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    return f"zip://{shutil.make_archive(str(tmp_path / 'packed'), 'zip', some.root)}"


def without_time(result):
    return result.with_changes(webeval=result.webeval | {"wall_time": 0})


def score_all(root, **options):
    return [without_time(result) for result in score_runs(root, **options)]


@pytest.mark.parametrize(
    "executor", ["process:2", ThreadPoolExecutor, lambda count: ProcessPoolExecutor(count, get_context("spawn"))]
)
def test_an_executor_gives_the_results_and_files_of_one_process_in_the_order_of_the_runs(some, tmp_path, executor):
    expected = score_all(some.root, output=tmp_path / "one")
    assert [result.status for result in expected] == [
        {103: "failure", 105: "error"}.get(number, "success") for number in IDS
    ]
    if isinstance(executor, str):
        results = score_all(some.root, output=tmp_path / "many", executor=executor, batch_size=2)
    else:
        with executor(2) as opened:
            results = score_all(some.root, output=tmp_path / "many", executor=opened, batch_size=2)
    assert results == expected
    assert read_files(tmp_path / "many") == read_files(tmp_path / "one")


def test_an_executor_may_say_how_many_batches_it_runs_at_a_time(some):
    with ThreadPoolExecutor(1) as executor:
        wrapped = wrap_executor(executor, workers=1)
        assert score_all(some.root, executor=wrapped) == score_all(some.root)


def test_an_unknown_text_is_no_executor(some):
    with pytest.raises(SettingsError, match="invalid executor 'fast'; use process, process:N"):
        next(score_runs(some.root, executor="fast"))


def test_a_batch_has_a_run_at_least(some):
    with pytest.raises(SettingsError, match="invalid batch_size 0; use a number from 1"):
        next(score_runs(some.root, batch_size=0))


def test_a_run_that_kills_its_worker_twice_is_an_error_in_its_file_as_well(some):
    evaluators = [KillingEvaluator(102), NetworkEventEvaluator()]
    results = {result.task_id: result for result in score_runs(some.root, evaluators=evaluators, executor="process:2")}
    assert list(results) == list(IDS)
    assert [results[number].status for number in (101, 102, 103, 104)] == ["success", "error", "failure", "success"]
    assert results[102].error_msg.startswith("a worker process that scored this run died 2 times (signal 9)")
    assert some.result(102)["error_msg"] == results[102].error_msg


def test_a_run_whose_worker_was_killed_once_is_scored(some, tmp_path):
    evaluators = [KillingEvaluator(102, once=tmp_path / "killed"), NetworkEventEvaluator()]
    results = score_all(some.root, evaluators=evaluators, executor="process:2", batch_size=3)
    assert (tmp_path / "killed").exists()
    assert [result.status for result in results[:3]] == ["success", "success", "failure"]


def test_a_run_that_takes_too_long_in_a_worker_is_an_error(some):
    evaluators = [SlowEvaluator(104), NetworkEventEvaluator()]
    results = score_all(some.root, evaluators=evaluators, executor="process:1", timeout=0.3)
    assert results[3].error_msg == "scoring timed out after 0.3 s; inspect the run or raise --webeval-timeout"
    assert [result.status for result in (results[2], results[5])] == ["failure", "success"]


def test_runs_are_sent_to_workers_as_these_get_free(some):
    results = score_runs(some.root, executor="process:1", batch_size=1)
    next(results)
    assert len(some.written) < len(IDS)
    results.close()


@pytest.mark.parametrize("options", [{}, {"executor": "process:2", "batch_size": 3}], ids=str)
def test_runs_of_a_store_have_the_results_of_those_on_the_disk(some, archive, tmp_path, options):
    results = score_all(archive, output=tmp_path / "stored", **options)
    expected = score_all(some.root, output=tmp_path / "local")
    assert [result.status for result in results] == [result.status for result in expected]
    stored, local = (read_files(tmp_path / name) for name in ("stored", "local"))
    assert list(stored) == list(local)
    stored.pop("105/eval_result.json"), local.pop("105/eval_result.json")  # its error names the path
    assert stored == local


def test_results_of_runs_in_a_store_need_a_directory(archive):
    with pytest.raises(SettingsError, match="results of runs in a store need a directory; pass output=DIR"):
        next(score_runs(archive))


def test_runs_of_a_store_are_listed_and_can_be_read_afterwards(some, archive):
    listed = list(find_runs(archive))
    assert [run.label for run in listed] == [run.label for run in find_runs(some.root)]
    assert [run.response for run in listed] == [run.response for run in find_runs(some.root)]


@pytest.mark.parametrize(
    "store", [str, lambda root: root, lambda root: LocalStore(str(root))], ids=["text", "path", "store"]
)
def test_a_run_of_a_directory_is_scored_alone_and_nothing_is_written(some, store):
    expected = score_all(some.root)
    for path in some.root.rglob("eval_*.json"):
        path.unlink()
    assert [without_time(score_run(store(some.root), str(number))) for number in IDS] == expected
    assert some.written == []


def test_the_call_and_its_result_can_be_sent_to_another_process(some):
    settings = ScoreSettings(tasks=load_tasks(str(some.root / "tasks.json")), timeout=5, only=("response",))
    call = pickle.loads(pickle.dumps(partial(score_run, LocalStore(str(some.root)), "103", settings)))
    result = pickle.loads(pickle.dumps(call()))
    assert (result.task_id, result.status, len(result.evaluators_results)) == (103, "failure", 1)


def test_a_run_of_a_store_is_scored_alone(some, archive, tmp_path):
    settings = ScoreSettings(tasks=load_tasks(str(some.root / "tasks.json")))
    for number in (101, 103):
        expected = without_time(score_run(some.root, str(number), settings))
        assert without_time(score_run(archive, str(number), settings, cache=tmp_path / "cache")) == expected
    with pytest.raises(RecordingError, match=f"^there are no objects at {archive}/999; check the location$"):
        score_run(archive, "999", settings, cache=tmp_path / "cache")


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("../runs/101", "cannot score .*: its key has the part '..'; use the directory of a run"),
        ("link", "cannot score .*link: it is behind a link; use the directory of a run"),
        ("109", "109: unknown layout|109"),
    ],
)
def test_a_key_that_is_no_run_of_the_store_is_refused(some, key, message):
    (some.root / "link").symlink_to(some.root / "101")
    with pytest.raises(RecordingError, match=message):
        score_run(some.root, key)


def test_errors_of_a_store_name_its_location(some, tmp_path):
    pytest.importorskip("fsspec")
    (some.root / "101/agent_response.json").unlink()
    (some.root / "101/network.har").rename(some.root / "101/notes.txt")
    (some.root / "tasks.json").write_text("[{")
    location = f"zip://{shutil.make_archive(str(tmp_path / 'broken'), 'zip', some.root)}"
    calls = {
        f"there are no objects at {location}/999; check the location": partial(score_run, location, "999"),
        f"unknown layout of {location}/101: ": partial(score_run, location, "101"),
        f"cannot parse {location}/tasks.json as JSON: ": lambda cache: list(
            score_runs(location, output="out", cache=cache)
        ),
    }
    for message, call in calls.items():
        with pytest.raises(WebEvalError) as failure:
            call(cache=tmp_path / "cache")
        assert str(failure.value).startswith(message)
        assert str(tmp_path / "cache") not in str(failure.value)
