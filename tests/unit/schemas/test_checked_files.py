"""Files that are checked: which of a directory are, and what is wrong with what cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.schemas.checked_files import CheckedFile, list_files
from pytest_webeval.schemas.registry import get_schema
from pytest_webeval.schemas.validation import MOST_PROBLEMS

ROOT = Path(__file__).parents[3]
TIMES = '{"start_time": 1, "end_time": 2, "duration": 1}'
LINE = '{"timestamp": "now", "url": null}'


@pytest.fixture
def problems(tmp_path):
    """The problems of a file with some content."""

    def find(name, content, schema=None):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        (checked,) = list_files(path, schema and get_schema(schema))
        return checked.find_problems()

    return find


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (TIMES, []),
        (b"\xef\xbb\xbf" + TIMES.encode(), []),
        (TIMES.replace("2", '"2"'), ['expected a number, got "2" @ end_time']),
        ("", ["is not JSON: Expecting value: line 1 column 1 (char 0)"]),
        ('{"a": 1', ["is not JSON: Expecting ',' delimiter: line 1 column 8 (char 7)"]),
        (b'"\xff"', ["is not UTF-8: invalid start byte @ byte 1"]),
        ("[" * 800 + "]" * 800, ["it nests deeper than 750 levels"]),
        ("[" * 200_000, ["it nests deeper than 750 levels"]),
        (f"[{'1,' * 10_000_001}1]", ["it holds more values than 10,000,000"]),
        ('{"a": ' + "9" * 5_000 + "}", None),
    ],
    ids=["valid", "mark", "text", "empty", "cut", "bytes", "deep", "very deep", "many", "digits"],
)
def test_what_is_wrong_with_a_file_is_one_line(problems, content, expected):
    lines = problems("times.json", content)
    if expected is None:
        (line,) = lines
        assert line.startswith("it holds an integer of too many digits")
    else:
        assert lines == expected


def test_each_line_of_a_log_is_a_value(problems):
    assert problems("web_surfer.log", f"{LINE}\n\n{LINE}\r\n") == []
    lines = problems("web_surfer.log", f'{LINE}\n[]\n\n{{"url": 3, "type": 4}}\n{{"a"')
    assert lines == [
        "expected an object, got a list @ line 2",
        "expected a string or null, got 4 @ line 4, type",
        "expected a string or null, got 3 @ line 4, url",
        "is not JSON: Expecting ':' delimiter: line 1 column 5 (char 4) @ line 5",
    ]


def test_the_result_in_a_line_of_a_shard_is_checked_by_its_own_schema(problems):
    lines = problems("eval_results-00001.jsonl", '{"run": "r/1", "result": {"status": "passed"}}\n{"run": "r/2"}\n')
    assert lines[-1] == "lacks the field 'result' @ line 2"
    assert (
        'expected one of "success", "failure", "partial_match", "error", got "passed" @ line 1, result.status' in lines
    )
    assert [
        line for line in lines if line.startswith("lacks the fields 'task_id'") and line.endswith("@ line 1, result")
    ]


def test_the_problems_of_very_many_lines_are_counted_so_far(problems):
    assert len(problems("web_surfer.log", "[]\n" * (MOST_PROBLEMS + 5))) == MOST_PROBLEMS
    assert len(problems("web_surfer.log", '{"url": 1, "type": 1, "source": 1}\n' * MOST_PROBLEMS)) == MOST_PROBLEMS


def test_a_list_of_tasks_may_be_in_lines(problems):
    task = '{"task_id": "a", "confirmed_task": "Find it."}'
    assert problems("tasks.jsonl", f"{task}\n{task}\n") == []
    assert problems("tasks.json", f"[{task}, {task}]") == []
    assert problems("tasks.json", f"{task}\n{task}\n") == ["is not JSON: Extra data: line 2 column 1 (char 47)"]


def test_a_file_of_any_name_is_checked_by_the_schema_that_is_named(problems):
    assert problems("a.txt", TIMES, "times") == []
    assert problems("times.json", TIMES, "web_surfer_log") == []
    assert problems("times.json", TIMES, "subset") == ["lacks the field 'task_ids'"]


def test_a_directory_gives_its_files_sorted_without_links_and_hidden_files(tmp_path):
    names = ("b/times.json", "b/scores/x.json", "a/times.json", "a/config.json", "a/other.json", "a/._1_answer.json")
    for name in (*names, "a/1_answer.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(TIMES)
    (tmp_path / "c").symlink_to("b", target_is_directory=True)
    (tmp_path / "b/rubric.json").symlink_to("times.json")
    found = [(each.path.relative_to(tmp_path).as_posix(), each.schema.name) for each in list_files(tmp_path)]
    assert found == [
        ("a/1_answer.json", "final_answer"),
        ("a/times.json", "times"),
        ("b/times.json", "times"),
        ("b/scores/x.json", "score_file"),
    ]
    assert [each.path.name for each in list_files(tmp_path, get_schema("final_answer"))] == ["1_answer.json"]
    assert [each.schema.name for each in list_files(tmp_path / "a/config.json")] == ["config"]
    assert [each.schema.name for each in list_files(tmp_path / "b/rubric.json")] == ["rubric"]


def test_a_link_that_is_named_is_followed_and_one_that_appeared_is_not(tmp_path):
    (tmp_path / "other.txt").write_text(TIMES)
    link = tmp_path / "times.json"
    link.symlink_to("other.txt")
    (named,) = list_files(link)
    assert named.find_problems() == []
    (line,) = CheckedFile(link, get_schema("times")).find_problems()
    assert line.startswith(f"cannot read {link}: ")


def test_a_loop_of_links_is_a_problem_of_the_file(tmp_path):
    (tmp_path / "times.json").symlink_to("times.json")
    (checked,) = list_files(tmp_path / "times.json")
    assert len(checked.find_problems()) == 1


def test_a_pipe_is_a_problem_and_blocks_nobody(tmp_path):
    os.mkfifo(tmp_path / "times.json")
    (checked,) = list_files(tmp_path)
    assert checked.find_problems() == [f"{tmp_path}/times.json is not a regular file"]


@pytest.mark.parametrize(
    ("name", "schema", "expected"),
    [
        ("gone.json", None, "file not found: {}/gone.json; check the path"),
        ("other.json", None, "no schema for files of the name 'other.json'; use --schema with one of eval_result, "),
        ("empty", None, "no file with a schema below {}/empty; name a file"),
        ("full", "rubric", "no file with a schema below {}/full; name a file"),
    ],
)
def test_what_cannot_be_checked_is_refused(tmp_path, name, schema, expected):
    (tmp_path / "other.json").write_text("{}")
    for folder in ("empty", "full"):
        (tmp_path / folder).mkdir()
    (tmp_path / "full/times.json").write_text(TIMES)
    with pytest.raises(SettingsError) as caught:
        list(list_files(tmp_path / name, schema and get_schema(schema)))
    assert str(caught.value).startswith(expected.format(tmp_path))


@pytest.mark.parametrize(
    ("folder", "name", "count"),
    [
        ("har", "network_har", 1),
        ("line_trace", "playwright_network", 3),
        ("times", "times", 1),
        ("final_answer", "final_answer", 2),
        ("task_data", "task_data", 1),
        ("score_file", "score_file", 5),
        ("rubric", "rubric", 5),
        ("subset", "subset", 2),
        ("config", "config", 3),
        ("tasks", "tasks", 3),
        ("web_surfer_log", "web_surfer_log", 3),
        ("response", "agent_response", 2),
    ],
)
def test_the_committed_documents_that_readers_take_are_valid(folder, name, count):
    schema = get_schema(name)
    documents = sorted((ROOT / "tests/fuzz/seeds" / folder).iterdir())
    valid = [path.name for path in documents if not CheckedFile(path, schema).find_problems()]
    assert len(valid) == count
    assert valid[0] == "01"
