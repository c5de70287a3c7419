"""No directory of one format can be read as another one, or be turned into another by a downloaded file."""

from __future__ import annotations

import json
from itertools import permutations

import pytest

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings import formats
from pytest_webeval.recordings.formats import FORMATS, format_of, unknown_layout
from pytest_webeval.recordings.run_tree import Kind, Search
from pytest_webeval.recordings.signatures import RecordedFormat

# The files that a recorder of each format always leaves, with what is in them.
LEFT = {
    "fara": {"web_surfer.log": "", "7_final_answer.json": "{}"},
    "webarena-verified": {"agent_response.json": "{}", "network.har": "{}"},
    "online-mind2web": {"result.json": json.dumps({"task_id": "7", "final_result_response": "Done"})},
    "stagehand": {
        "trajectory.json": json.dumps({"task": {"id": "7", "instruction": "a"}, "steps": [], "status": "complete"}),
        "task_data.json": json.dumps({"task": {"id": "7", "instruction": "a"}, "status": "complete"}),
        "core.log": "",
    },
    "atif": {"agent/trajectory.json": json.dumps({"schema_version": "ATIF-v1.6", "steps": []})},
    "clawbench": {"run-meta.json": json.dumps({"test_case": "7-a", "intercepted": False}), "data/requests.jsonl": ""},
    "webvoyager": {"interact_messages.json": json.dumps([{"role": "system", "content": ""}]), "agent.log": ""},
    "browser-use": {"AgentHistory.json": json.dumps({"history": [], "usage": None})},
    "agentlab": {"summary_info.json": json.dumps({"n_steps": 2, "cum_reward": 1.0}), "experiment.log": ""},
}
# What an agent may have downloaded, and any harness may leave, without becoming a run of another format.
EVIDENCE = ("network.har", "trace.zip", "report.pdf", "data.json", "screenshot1.png", "notes.txt", "downloads/a.json")
NAMES = [run_format.name for run_format in FORMATS]


def write(directory, files) -> None:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_each_format_of_the_table_is_in_this_one():
    assert sorted(LEFT) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_directory_is_a_run_of_the_format_that_left_its_files(tmp_path, name):
    write(tmp_path, LEFT[name])
    assert format_of(tmp_path).name == name


@pytest.mark.parametrize("evidence", EVIDENCE)
@pytest.mark.parametrize("name", NAMES)
def test_traffic_and_downloads_do_not_turn_it_into_another(tmp_path, name, evidence):
    write(tmp_path, {evidence: "{}"} | LEFT[name])
    assert format_of(tmp_path).name == name


@pytest.mark.parametrize(("name", "other"), list(permutations(NAMES, 2)))
def test_the_files_of_another_format_make_it_an_error_and_never_the_other(tmp_path, name, other):
    write(tmp_path, LEFT[other] | LEFT[name])
    with pytest.raises(RecordingError) as caught:
        format_of(tmp_path)
    first, second = sorted((name, other), key=NAMES.index)
    assert str(caught.value).startswith(f"{tmp_path} has the files of several formats: {first} (")
    assert f"; {second} (" in str(caught.value)
    assert str(caught.value).endswith("; move away those that the recorder did not write")


@pytest.mark.parametrize("name", NAMES)
def test_below_traj_each_format_is_still_itself(tmp_path, name):
    path = tmp_path / "traj" / "7"
    write(path, LEFT[name])
    assert format_of(path).name == name


@pytest.mark.parametrize(
    ("files", "lacks"),
    [
        ({"web_surfer.log": ""}, "web_surfer.log of the format fara, but lacks one of *_final_answer.json"),
        ({"core.log": ""}, "core.log of the format fara, but lacks web_surfer.log"),
    ],
)
def test_what_is_there_and_what_the_nearest_format_lacks_are_in_one_line(tmp_path, files, lacks):
    write(tmp_path, files)
    assert f"unknown layout of {tmp_path}: it has {lacks}" in unknown_layout(tmp_path)


def test_of_files_that_no_format_knows_the_first_are_named(tmp_path):
    write(tmp_path, dict.fromkeys("fedcbag", ""))
    text = unknown_layout(tmp_path)
    assert text.startswith(f"unknown layout of {tmp_path}: expected the files of one of the formats fara, ")
    assert text.endswith(
        ', but it has "a", "b", "c", "d", "e" and 2 more; add the missing files or move the directory away'
    )


def test_a_file_with_the_name_but_without_the_keys_is_of_no_format(tmp_path):
    write(tmp_path, {"result.json": '{"task_id": 7, "rows": []}'})
    assert format_of(tmp_path) is None


def test_keys_count_only_where_they_are_read(tmp_path, monkeypatch):
    write(tmp_path, {"result.json": " " * 2**22 + LEFT["online-mind2web"]["result.json"]})
    assert format_of(tmp_path) is None
    assert formats.holds_reports(formats.list_directory(tmp_path)) is False


@pytest.mark.parametrize(
    ("name", "task_id"),
    [
        ("7", 7),
        ("0", 0),
        ("007", "007"),
        ("-7", "-7"),
        ("1" * 19, int("1" * 19)),
        ("1" * 20, "1" * 20),
        ("\u0667", "\u0667"),
    ],
)
def test_an_id_is_a_number_only_where_it_is_written_as_one(name, task_id):
    parsed = RecordedFormat("x", "x", ()).parse_task_id(name)
    assert (parsed, type(parsed)) == (task_id, type(task_id))


def test_a_link_with_the_name_of_a_file_is_not_followed(tmp_path):
    write(tmp_path / "other", LEFT["online-mind2web"])
    (tmp_path / "run").mkdir()
    (tmp_path / "run/result.json").symlink_to(tmp_path / "other/result.json")
    assert format_of(tmp_path / "run") is None


@pytest.mark.parametrize(
    ("files", "is_broken"),
    [
        ({"result.json": "", "trajectory/0.png": ""}, True),
        ({"result.json": ""}, False),
        ({"trajectory/0.png": ""}, False),
        ({"trajectory/0_full_screenshot.png": ""}, True),
        ({"trajectory/0000.png": "", "trajectory/0001.png": ""}, True),
        ({"trajectory/frame.png": "", "trajectory/12345.png": ""}, False),
        ({"0000.png": ""}, False),
        ({"data/interception.json": ""}, True),
        ({"data/actions.jsonl": "", "data/requests.jsonl": ""}, True),
        ({"data/requests.jsonl": ""}, False),
        ({"screenshots/step_2.png": ""}, True),
        ({"screenshots/agent/step_2.png": "", "screenshots/2.png": ""}, False),
        ({"run-meta.json": "{"}, True),
        ({"interact_messages.json": "["}, True),
        ({"agent.log": "", "screenshot1.png": ""}, True),
        ({"agent.log": ""}, False),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_a_run_whose_main_file_is_damaged_is_broken_and_not_overlooked(tmp_path, files, is_broken):
    write(tmp_path / "7", files)
    items = Search(tmp_path, format_of).tree().list_items()
    assert [branch.kind for branch in items] == [Kind.BROKEN] * is_broken
    assert format_of(tmp_path / "7") is None


def test_what_an_agent_left_next_to_the_interceptions_of_clawbench_is_no_run(tmp_path):
    write(tmp_path / "7", {"data/interception.json": "", "data/8/network.har": ""})
    (item,) = Search(tmp_path, format_of).tree().list_items()
    assert (item.path, item.kind) == (tmp_path / "7", Kind.BROKEN)
    assert "it has data/interception.json of the format clawbench, but lacks run-meta.json" in item.problem


def test_typical_files_behind_a_link_do_not_count(tmp_path):
    write(tmp_path / "other", {"0000.png": ""})
    (tmp_path / "run/7").mkdir(parents=True)
    (tmp_path / "run/7/trajectory").symlink_to(tmp_path / "other")
    assert list(Search(tmp_path / "run", format_of).tree().list_items()) == []


@pytest.mark.parametrize(
    ("files", "lack"),
    [
        ({"AgentHistory.json": ""}, "browser-use, but AgentHistory.json is empty or cannot be read; restore the "),
        (
            {"AgentHistory.json": '{"hist'},
            "browser-use, but AgentHistory.json is not valid JSON: Unterminated string starting at, character 2; ",
        ),
        (
            {"screenshots/step_2.png": ""},
            "browser-use, but lacks AgentHistory.json with history; add the missing files",
        ),
        ({"data/interception.json": ""}, "clawbench, but lacks run-meta.json with test_case, intercepted; add the "),
    ],
)
def test_a_trace_next_to_files_of_a_format_is_a_broken_run_of_it(tmp_path, files, lack):
    write(tmp_path, {"network.har": "{}"} | files)
    with pytest.raises(RecordingError) as caught:
        format_of(tmp_path)
    assert f"of the format {lack}" in str(caught.value)


def test_a_file_with_json_of_another_kind_is_not_called_damaged(tmp_path):
    write(tmp_path, {"run-meta.json": '{"test_case": "7"}'})
    assert "but lacks run-meta.json with test_case, intercepted; add the missing files" in unknown_layout(tmp_path)


def test_a_trace_alone_lacks_the_main_file_of_its_recorder(tmp_path):
    write(tmp_path, {"network.har": "{}"})
    lack = (
        "network.har of the format webarena-verified, but lacks agent_response.json, or the main file of another format"
    )
    assert lack in unknown_layout(tmp_path)
