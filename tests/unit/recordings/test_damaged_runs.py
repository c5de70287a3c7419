"""A damaged run is an error in every format, next to a good one: it neither vanishes nor leaves the denominator."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from pytest_webeval import find_runs, score_runs, summarize
from pytest_webeval.recordings.formats import FORMATS
from pytest_webeval.safety.limits import Limits
from tests.support.any_format import Recorded, write_run
from tests.support.recorded_runs import find_run

# The files that decide, of which each damage is an error. The recorder writes more of them.
DECIDING = {
    "webarena-verified": ("agent_response.json", "network.har"),
    "fara": ("bad_final_answer.json", "scores/mmrubric_0.8-5-3.json"),
    "online-mind2web": ("result.json",),
    "stagehand": ("trajectory.json", "task_data.json", "scores/result.json"),
    "atif": ("result.json",),
    "webvoyager": ("interact_messages.json", "eval_res.json"),
    "browser-use": ("AgentHistory.json",),
    "agentlab": ("summary_info.json",),
    "clawbench": ("run-meta.json", "data/interception.json", "judge.json"),
}
FILES = [(name, file) for name, files in DECIDING.items() for file in files]
DAMAGES = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "empty": lambda path: path.write_bytes(b""),
    "NUL bytes": lambda path: path.write_bytes(b"\0" * 64),
    "a number": lambda path: path.write_bytes(b"1"),
    "a list": lambda path: path.write_bytes(b"[]"),
    "null": lambda path: path.write_bytes(b"null"),
    "not UTF-8": lambda path: path.write_bytes(b"\xff\xfe\xfd"),
    "a directory": lambda path: (path.unlink(), path.mkdir()),
    "a link": lambda path: (path.unlink(), path.symlink_to("/etc/hostname")),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
}
# Without these the run is one that nobody judged, which is no damage.
VERDICTS = ("scores/mmrubric_0.8-5-3.json", "scores/result.json", "eval_res.json")


@pytest.fixture
def pair(tmp_path):
    """Writes two equal runs of a format, `good` and `bad`, and returns their root."""

    def write(name):
        for run in ("good", "bad"):
            write_run(tmp_path / "runs" / run, name, Recorded(answer="x", has_traffic=name == "webarena-verified"))
        return tmp_path / "runs"

    return write


def check_error(root, **settings):
    """Check that the run `bad` is an error that counts, in results and in their summary."""
    results = list(score_runs(root, **settings))
    (bad,) = (result for result in results if result.webeval["run"] == "bad")
    assert (bad.status, bad.webeval["skipped"], bad.webeval["excluded"]) == ("error", False, None)
    assert bad.error_msg
    summary = summarize(results)
    assert (summary.total, summary.webeval["success_rate_denominator"], summary.webeval["excluded_count"]) == (2, 2, 0)


def test_each_format_is_in_the_table():
    assert sorted(DECIDING) == sorted(layout.name for layout in FORMATS)


@pytest.mark.thinned
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(("name", "file"), FILES)
def test_a_damaged_file_makes_an_error(pair, name, file, damage):
    root = pair(name)
    DAMAGES[damage](root / "bad" / file)
    check_error(root)


@pytest.mark.parametrize(("name", "file"), [entry for entry in FILES if entry[1] not in VERDICTS])
def test_a_missing_file_makes_an_error(pair, name, file):
    root = pair(name)
    (root / "bad" / file).unlink()
    check_error(root)


@pytest.mark.parametrize(("name", "file"), [(name, files[0]) for name, files in DECIDING.items()])
def test_a_file_beyond_the_limit_makes_an_error(pair, name, file):
    root = pair(name)
    path = root / "bad" / file
    path.write_bytes(path.read_bytes() + b" " * 2**20)
    check_error(root, limits=Limits(file_size=2**20))


MAIN = {
    "webarena-verified": ("agent_response.json", "network.har"),
    "fara": ("bad_final_answer.json", "web_surfer.log"),
    "online-mind2web": ("result.json",),
    "stagehand": ("trajectory.json", "task_data.json", "core.log"),
    "atif": ("agent/trajectory.json",),
    "webvoyager": ("interact_messages.json",),
    "browser-use": ("AgentHistory.json",),
    "agentlab": ("summary_info.json",),
    "clawbench": ("run-meta.json",),
}


@pytest.mark.thinned
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", MAIN)
def test_the_main_files_alone_are_a_run_however_they_are_damaged(pair, tmp_path, name, damage):
    root = pair(name)
    (root / "bad").rename(tmp_path / "all")
    for file in MAIN[name]:
        path = root / "bad" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tmp_path / "all" / file, path)
        if not file.endswith(".log"):
            DAMAGES[damage](path)
    check_error(root)


HISTORY = find_run("browser-use", "shop-judged-success") / "AgentHistory.json"


@pytest.mark.parametrize("share", [1.0, 0.5, 0.1])
@pytest.mark.parametrize("name", ["7/7.json", "bad/4f1c.json"])
def test_a_history_of_browser_use_under_another_name_is_an_error_that_names_it(tmp_path, name, share):
    path = tmp_path / name
    path.parent.mkdir()
    path.write_bytes(HISTORY.read_bytes()[: int(share * HISTORY.stat().st_size)])
    (result,) = score_runs(tmp_path)
    lack = f"it has {path.name} of the format browser-use, but lacks AgentHistory.json"
    assert (result.status, lack in result.error_msg) == ("error", True)


@pytest.mark.parametrize("content", [b"", b"{}", b'{"history": [', b"\0" * 9])
def test_a_file_called_as_its_directory_next_to_histories_is_an_error(tmp_path, content):
    shutil.copytree(HISTORY.parent, tmp_path / "6")
    (tmp_path / "7").mkdir()
    (tmp_path / "7/7.json").write_bytes(content)
    assert [result.status for result in score_runs(tmp_path)] == ["success", "error"]


@pytest.mark.parametrize(
    "path",
    [
        "2026-11-24_08-54-59_ScriptedAgent-example-model-1_on_toy.success_0/experiment.log",
        "2026-11-24_08-54-59_A_on_webarena.12_3_1/goal.txt",
        "exp/package_versions.txt",
        "exp/summary_info.json",
        "taskAllrecipes--12/agent.log",
        "taskGoogle Map--3/eval_res.json",
        "codex-901-shop-m-20261124-084736/agent.log",
    ],
)
def test_a_directory_named_as_a_recorder_names_it_is_a_run(tmp_path, path):
    (tmp_path / path).parent.mkdir()
    (tmp_path / path).write_bytes(b"")
    (result,) = score_runs(tmp_path)
    assert result.status == "error"
    assert "unknown layout of " in result.error_msg


UNRELATED = {
    "package.json": {"name": "package", "version": "1.0.0"},
    "tsconfig.json": "// comments are allowed\n{}",
    "result.json": "",
    "results.json": [1, 2],
    "trajectory.json": "{",
    "history.jsonl": {"history": []},
    "chat.json": {"history": [{"role": "user"}], "model": "m"},
    "state.json": {"state": {}, "result": []},
    "agent.log": "",
    "experiment.log": "",
    "summary.json": {"n_steps": 1, "cum_reward": 1.0},
}


@pytest.mark.parametrize("folder", ["package", "src/task-1", "tasks--3", "2026-11-24", "history", "agent"])
@pytest.mark.parametrize("name", UNRELATED)
def test_files_of_other_programs_are_no_run(tmp_path, name, folder):
    write_run(tmp_path / "good", "fara", Recorded(answer="x"))
    path = tmp_path / folder / name
    path.parent.mkdir(parents=True)
    content = UNRELATED[name]
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    assert [run.label for run in find_runs(tmp_path)] == ["good"]


@pytest.mark.parametrize("name", ["result.json", "analysis.json", "my_history.json"])
@pytest.mark.parametrize("format_name", ["online-mind2web", "browser-use", "atif"])
def test_an_object_with_other_keys_next_to_runs_is_of_another_program(tmp_path, name, format_name):
    write_run(tmp_path / "good", format_name, Recorded(answer="x"))
    (tmp_path / "analysis").mkdir()
    (tmp_path / "analysis" / name).write_text('{"accuracy": 0.5}')
    assert [run.label for run in find_runs(tmp_path)] == ["good"]


def test_an_empty_directory_named_as_a_run_is_none(tmp_path):
    (tmp_path / "taskAllrecipes--12").mkdir()
    assert list(find_runs(tmp_path)) == []
