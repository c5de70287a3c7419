"""Runs in a store are complete for whatever looks at them, or an error."""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from pytest_webeval import ResponseEvaluator, ScoreSettings, find_runs, load_tasks, score_run, score_runs
from pytest_webeval.errors import StoreError
from pytest_webeval.recordings.labels import default_task_id
from pytest_webeval.stores.choice import open_store
from pytest_webeval.stores.mirror import Mirror
from tests.support.recorded import write as write_trajectory
from tests.support.recorded_runs import RECORDED_FORMATS, find_samples, list_runs
from tests.support.sessions import read_files

PICTURE = b"\x89PNG and more"
MODULE = """
    from pathlib import Path
    from pytest_webeval import ResponseEvaluator

    class Shown(ResponseEvaluator):
        def evaluate(self, expectation, case):
            Path("seen").write_bytes(case.run.inputs.read("shot.png"))
            return super().evaluate(expectation, case)

    def webeval_evaluators(ours):
        return [Shown()]
"""
READING = """
    def test_it(webeval_run):
        assert webeval_run.inputs.read("shot.png") == {picture!r}
"""
HOOK = """
    from pathlib import Path

    def pytest_webeval_scored(run):
        Path("seen").write_bytes(run.inputs.read("shot.png"))
"""


@pytest.fixture
def archive(runs, tmp_path, monkeypatch):
    """The location of two runs with screenshots, of which the second fails."""
    pytest.importorskip("fsspec")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    for number, passes in ((107, True), (108, False)):
        runs.add(number, passes=passes)
        (runs.root / f"{number}/shot.png").write_bytes(PICTURE)
    return f"zip://{shutil.make_archive(str(tmp_path / 'packed'), 'zip', runs.root)}"


def damage(path, name):
    """Overwrite the beginning of a member of an archive."""
    content = path.read_bytes()
    place = content.index(name.encode()) + len(name)
    path.write_bytes(content[:place] + b"\0\0" + content[place + 2 :])


def pictures(tmp_path):
    """How many screenshots were fetched."""
    return sum(path.read_bytes() == PICTURE for path in (tmp_path / "caches").rglob("shot.png"))


def test_pictures_that_nobody_looks_at_are_not_fetched(archive, webeval_over, tmp_path):
    webeval_over([archive], "--webeval-output=out").assert_outcomes(passed=1, failed=1)
    assert len(list((tmp_path / "caches").rglob("shot.png"))) == 2
    assert pictures(tmp_path) == 0


@pytest.mark.parametrize("option", ["--webeval-report=report", "--webeval-judge=model"])
def test_a_report_and_a_judge_have_the_pictures(archive, webeval_over, tmp_path, monkeypatch, option):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    webeval_over([archive], "--webeval-output=out", option).assert_outcomes(passed=1, failed=1)
    assert pictures(tmp_path) == 2


def test_a_test_of_runs_has_the_pictures(archive, webeval_over, pytester, tmp_path):
    path = pytester.makepyfile(test_shown=READING.format(picture=PICTURE))
    webeval_over([archive], "--webeval-output=out", path).assert_outcomes(passed=2)
    assert pictures(tmp_path) == 2


def test_a_hook_of_a_user_has_the_pictures(archive, webeval_over, pytester):
    pytester.makepyfile(watching=HOOK)
    pytester.syspathinsert()
    webeval_over([archive], "-pwatching", "--webeval-output=out").assert_outcomes(passed=1, failed=1)
    assert (pytester.path / "seen").read_bytes() == PICTURE


def test_evaluators_of_a_module_have_the_pictures(archive, pytester):
    path = pytester.makepyfile(shown=MODULE)
    place = f"--evaluators-from={path}"
    done = pytester.run(sys.executable, "-m", "pytest_webeval", "score", archive, "--output=out", place)
    assert done.ret == 1
    assert (pytester.path / "seen").read_bytes() == PICTURE


class Shown(ResponseEvaluator):
    """Refuses a run without its screenshot."""

    def evaluate(self, expectation, case):
        assert case.run.inputs.read("shot.png") == PICTURE
        return super().evaluate(expectation, case)


@pytest.mark.parametrize("executor", [None, "process:1"])
def test_evaluators_that_python_passes_have_the_pictures(archive, tmp_path, executor):
    options = {"output": tmp_path / "out", "evaluators": [Shown()], "executor": executor}
    assert [result.status for result in score_runs(archive, **options)] == ["success", "failure"]


def test_a_mirror_that_is_open_is_scored_by_its_path(archive, tmp_path):
    with Mirror.open(open_store(archive), cache=tmp_path / "cache") as mirror:
        results = list(score_runs(mirror.path, output=tmp_path / "out"))
    assert [result.status for result in results] == ["success", "failure"]


def test_an_object_that_was_altered_is_an_error_of_its_run_in_each_way_to_score(archive, runs, tmp_path, webeval_over):
    damage(tmp_path / "packed.zip", "107/network.har")
    (result, other) = score_runs(archive, output=tmp_path / "out", cache=tmp_path / "cache")
    assert (result.status, other.status) == ("error", "failure")
    assert result.error_msg.startswith(f"cannot read {archive}/107/network.har: ")
    settings = ScoreSettings(tasks=load_tasks(runs.root / "tasks.json"))
    alone = score_run(archive, "107", settings, cache=tmp_path / "another cache")
    assert (alone.status, alone.error_msg) == ("error", result.error_msg)
    with pytest.raises(StoreError, match=r"107/network\.har: error; check the location"):
        next(find_runs(archive)).check()
    done = webeval_over([archive], "--webeval-output=out")
    done.assert_outcomes(errors=1, failed=1)
    assert f"{result.error_msg}" in done.stdout.str()


def test_definitions_of_tasks_that_cannot_be_fetched_end_the_session(archive, tmp_path, pytester, webeval_over):
    damage(tmp_path / "packed.zip", "tasks.json")
    done = webeval_over([archive], "--webeval-output=out")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(f"ERROR: cannot read {archive}/tasks.json: *")


def test_a_result_of_bytes_that_are_others_now_is_not_reused_if_these_cannot_be_fetched(
    archive, runs, tmp_path, webeval_over
):
    webeval_over([archive], "--webeval-output=out", "--webeval-reuse").assert_outcomes(passed=1, failed=1)
    har = runs.root / "107/network.har"
    har.write_bytes(har.read_bytes().replace(b"GET", b"PUT"))
    shutil.make_archive(str(tmp_path / "packed"), "zip", runs.root)
    damage(tmp_path / "packed.zip", "107/network.har")
    done = webeval_over([archive], "--webeval-output=out", "--webeval-reuse")
    done.assert_outcomes(errors=1, failed=1)
    done.stdout.fnmatch_lines(f"*cannot read {archive}/107/network.har: error; check the location and the object")


def test_nothing_is_reused_of_a_run_that_is_not_complete(archive, runs, tmp_path, webeval_over):
    webeval_over([archive], "--webeval-output=out", "--webeval-reuse").assert_outcomes(passed=1, failed=1)
    done = webeval_over([archive], "--webeval-output=out", "--webeval-reuse")
    assert "reused: 2 of 2 results" in done.stdout.str()
    (runs.root / "107/shot.png").rename(runs.root / "107/notes.txt")
    shutil.make_archive(str(tmp_path / "packed"), "zip", runs.root)
    webeval_over([archive], "--webeval-output=out", "--webeval-reuse").assert_outcomes(passed=1, failed=1)
    (runs.root / "107/notes.txt").write_bytes(PICTURE[::-1])
    shutil.make_archive(str(tmp_path / "packed"), "zip", runs.root)
    damage(tmp_path / "packed.zip", "107/notes.txt")
    done = webeval_over([archive], "--webeval-output=out", "--webeval-reuse")
    done.assert_outcomes(passed=1, failed=1)
    assert "reused: 1 of 2 results" in done.stdout.str()


def test_a_file_that_a_run_need_not_have_is_a_warning_until_it_can_be_fetched(tmp_path, webeval_over, pytester):
    pytest.importorskip("fsspec")
    write_trajectory(tmp_path / "runs/amazon--1")
    location = f"zip://{shutil.make_archive(str(tmp_path / 'packed'), 'zip', tmp_path, 'runs')}"
    damage(tmp_path / "packed.zip", "amazon--1/times.json")
    for _ in range(2):
        webeval_over([location], "--webeval-output=out", "--webeval-reuse").assert_outcomes(passed=1)
        (result,) = read_files(pytester.path / "out", "eval_result.json").values()
        (warning,) = result["webeval"]["warnings"]
        assert f"cannot read {location}/runs/amazon--1/times.json: " in warning
    shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path, "runs")
    webeval_over([location], "--webeval-output=out", "--webeval-reuse").assert_outcomes(passed=1)
    (result,) = read_files(pytester.path / "out", "eval_result.json").values()
    assert result["webeval"]["warnings"] == []


def test_a_screenshot_that_cannot_be_fetched_is_told_on_its_page(tmp_path, webeval_over, pytester):
    pytest.importorskip("fsspec")
    write_trajectory(tmp_path / "runs/amazon--1")
    location = f"zip://{shutil.make_archive(str(tmp_path / 'packed'), 'zip', tmp_path, 'runs')}"
    damage(tmp_path / "packed.zip", "amazon--1/screenshot1.png")
    webeval_over([location], "--webeval-output=out", "--webeval-report=report").assert_outcomes(passed=1)
    pages = "".join(path.read_text() for path in (pytester.path / "report").rglob("*.*"))
    assert f"cannot read {location}/runs/amazon--1/screenshot1.png: " in pages


def test_secrets_of_a_store_are_listed_as_on_the_disk(archive, runs, tmp_path, webeval_over):
    (runs.root / "107/notes.txt").write_text("password=correct-horse-battery\n")
    shutil.make_archive(str(tmp_path / "packed"), "zip", runs.root)
    listed = [webeval_over([root], "--webeval-audit-secrets").stdout.lines[-2:] for root in (archive, runs.root)]
    assert listed[0] == listed[1]
    assert listed[0][0] == "1 secret in 1 of 2 runs"


@pytest.mark.filterwarnings("ignore:runs inside other runs")
@pytest.mark.parametrize("name", RECORDED_FORMATS)
def test_a_sign_that_cannot_be_fetched_is_an_error_of_its_run_in_each_format(name, tmp_path):
    """And no damage of the recording, whatever else lies there."""
    pytest.importorskip("fsspec")
    run = list_runs(name)[0]
    top = find_samples(name)
    inside = run.relative_to(top.parent).as_posix()
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", top.parent, top.name))
    files = sorted(path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file())
    signs = [sign for layout in RECORDED_FORMATS[name].layouts for sign in layout if sign.keys]
    first = next(file for file in files if any(fnmatchcase(file, sign.name) for sign in signs))
    damage(packed, f"{inside}/{first}")
    location = f"zip://{packed}"
    results = list(score_runs(location, output=tmp_path / "out", cache=tmp_path / "cache"))
    failed = [result for result in results if location in str(result.error_msg)]
    assert [result.task_id for result in failed] == [default_task_id(run)]
    assert failed[0].error_msg.startswith(f"cannot read {location}/{inside}/{first}: ")
    assert len(results) == len(list_runs(name))


def test_a_run_is_named_as_ever_if_a_file_below_it_that_tells_its_format_cannot_be_fetched(tmp_path):
    pytest.importorskip("fsspec")
    trajectory = json.dumps({"schema_version": "ATIF-v1.2", "steps": []})
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        for run in ("first", "second"):
            archive.writestr(f"runs/{run}/agent/trajectory.json", trajectory)
    damage(tmp_path / "packed.zip", "second/agent/trajectory.json")
    location = f"zip://{tmp_path / 'packed.zip'}"
    results = {result.task_id: result for result in score_runs(location, output=tmp_path / "out")}
    assert list(results) == ["first", "second"]
    assert results["second"].error_msg.startswith(f"cannot read {location}/runs/second/agent/trajectory.json: ")


@pytest.mark.parametrize("name", ["atif", "clawbench", "stagehand"])
def test_a_small_cache_changes_no_result(name, tmp_path, webeval_over, pytester):
    pytest.importorskip("fsspec")
    top = find_samples(name)
    location = f"zip://{shutil.make_archive(str(tmp_path / top.name), 'zip', top.parent, top.name)}"
    for place, size in (("large", "1GB"), ("small", "2KB")):
        options = (f"--webeval-output={place}", f"--webeval-cache={place} cache", f"--webeval-cache-size={size}")
        webeval_over([location], *options)
    large, small = (read_files(pytester.path / place, "eval_result.json") for place in ("large", "small"))
    assert large == small
    assert len(large) >= 7


@pytest.mark.filterwarnings("ignore:runs inside other runs")
def test_a_small_cache_changes_nothing_about_what_is_no_run(tmp_path):
    """Damage beside runs, and runs inside of one, are told by files that have no room in it at the same time."""
    pytest.importorskip("fsspec")
    content = json.dumps({"task_id": "a", "action_history": [], "padding": "." * 1_000})
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        for name in ("a", "b", "c", "n", "n/x", "n/y", "z"):
            archive.writestr(f"runs/{name}/result.json", content)
        archive.writestr("runs/c damaged/result.json", "[1" + "." * 1_000)
    results = {}
    for most in (None, 1_500):
        cache = tmp_path / f"cache {most}"
        with Mirror.open(open_store(f"zip://{tmp_path / 'packed.zip'}"), cache=cache, most_bytes=most) as mirror:
            scored = list(score_runs(mirror.path, output=tmp_path / f"out {most}"))
        results[most] = [(each.task_id, each.status, str(each.error_msg).replace(str(cache), "")) for each in scored]
    assert results[None] == results[1_500]
    problems = {task_id: problem for task_id, _, problem in results[None]}
    assert 'has the files of a run, and holds runs: "x", "y"' in problems["n"]
    assert "c damaged: it lies next to runs of the format online-mind2web" in problems["c damaged"]


def test_a_file_that_may_be_that_of_a_run_is_an_error_of_its_directory_if_it_cannot_be_fetched(tmp_path):
    pytest.importorskip("fsspec")
    content = json.dumps({"task_id": "a", "action_history": []})
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("runs/first/result.json", content)
        archive.writestr("runs/other/below/notes.json", content)
        archive.writestr("runs/other/below/b/notes.txt", content)
        archive.writestr("runs/second/result.json", content)
    damage(tmp_path / "packed.zip", "below/notes.json")
    location = f"zip://{tmp_path / 'packed.zip'}"
    results = {result.task_id: result.error_msg for result in score_runs(location, output=tmp_path / "out")}
    assert list(results) == ["first", "below", "second"]
    assert results["below"].startswith(f"cannot read {location}/runs/other/below/notes.json: ")


def test_a_main_file_beside_runs_that_cannot_be_fetched_is_an_error_of_its_directory(tmp_path):
    pytest.importorskip("fsspec")
    names = ["run/AgentHistory.json", *(f"x/{number:02}.json" for number in range(10)), "x/x.json"]
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        for name in names:
            archive.writestr(f"runs/{name}", json.dumps({"history": []}) if "History" in name else "{}")
    damage(tmp_path / "packed.zip", "x/x.json")
    location = f"zip://{tmp_path / 'packed.zip'}"
    results = {result.task_id: result.error_msg for result in score_runs(location, output=tmp_path / "out")}
    assert list(results) == ["run", "x"]
    assert results["x"].startswith(f"cannot read {location}/runs/x/x.json: ")


def test_a_run_that_is_scored_alone_is_an_error_if_its_sign_cannot_be_fetched(tmp_path):
    pytest.importorskip("fsspec")
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("runs/first/result.json", json.dumps({"task_id": "a", "action_history": []}))
    damage(tmp_path / "packed.zip", "first/result.json")
    location = f"zip://{tmp_path / 'packed.zip'}"
    result = score_run(location, "runs/first", cache=tmp_path / "cache")
    assert (result.task_id, result.status) == ("first", "error")
    assert result.error_msg.startswith(f"cannot read {location}/runs/first/result.json: ")


@pytest.mark.parametrize("name", ["result.json", "another name.json"])  # the second one could be that of browser-use
def test_a_directory_that_nobody_can_recognize_is_an_error_that_names_the_object(tmp_path, webeval_over, name):
    pytest.importorskip("fsspec")
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        for run in ("first", "second"):
            archive.writestr(f"runs/{run}/{name}", '{"task_id": "a", "action_history": []}')
            archive.writestr(f"runs/{run}/notes.txt", "notes")
        archive.writestr("runs/tasks.json", "[]")
        archive.writestr("runs/report.json", "{}")
    location = f"zip://{tmp_path / 'packed.zip'}"
    damage(tmp_path / "packed.zip", f"second/{name}")
    damage(tmp_path / "packed.zip", "runs/report.json")  # next to runs, where nobody needs it
    problem = f"cannot read {location}/runs/second/{name}: "
    results = {str(result.task_id): result for result in score_runs(location, output=tmp_path / "out")}
    assert results.pop("second").error_msg.startswith(problem)
    assert list(results) == (["first"] if name == "result.json" else [])
    done = webeval_over([location], "--webeval-output=results")
    assert done.parseoutcomes()["errors"] == 1
    assert problem in done.stdout.str()
