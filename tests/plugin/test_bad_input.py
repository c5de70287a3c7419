"""Damaged recordings and definitions: a visible error with one clear line, and no harm to other tasks."""

from __future__ import annotations

import json
import os
import re
import sys

import pytest


def breaking_har(runs):
    (runs.add(107) / "network.har").write_text('{"log": {"entr')


def emptying_har(runs):
    (runs.add(107) / "network.har").write_bytes(b"")


def damaging_an_entry(runs):
    entries = {"log": {"entries": [{"request": {}}]}}
    (runs.add(107, expects=(runs.visited(),)) / "network.har").write_text(json.dumps(entries))


def removing_har(runs):
    (runs.add(107) / "network.har").unlink()


def removing_response(runs):
    (runs.add(107) / "agent_response.json").unlink()


def linking_response(runs):
    response = runs.add(107) / "agent_response.json"
    secret = runs.root.parent / "secret.json"
    response.rename(secret)
    response.symlink_to(secret)


def blocking_har(runs):
    har = runs.add(107) / "network.har"
    har.unlink()
    os.mkfifo(har)


def defining_nothing(runs):
    runs.add(107, defined=False)


def defining_twice(runs):
    runs.add(107)
    runs.define(runs.definition(107))


def defining_badly(runs):
    runs.add(107, defined=False)
    runs.define(runs.definition(107) | {"sites": ["e-bay"]})


def asking_an_unknown_evaluator(runs):
    runs.add(107, expects=({"evaluator": "PalmReader"},))


def expecting_nonsense(runs):
    runs.add(107, defined=False)
    task = runs.definition(107)
    task["eval"][0]["expected"]["status"] = "FINE"
    runs.define(task)


def an_unknown_layout(runs):
    runs.define(runs.definition(107))
    (runs.root / "107").mkdir(parents=True)
    (runs.root / "107" / "answer.txt").write_text("lamp")


def an_empty_directory(runs):
    runs.define(runs.definition(107))
    (runs.root / "107").mkdir(parents=True)


@pytest.mark.thinned(every=4)
@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (breaking_har, "107/network.har as HAR: "),
        (emptying_har, "107 has no usable events: no entries; re-record"),
        (damaging_an_entry, "107 has no usable events: 1 unreadable entry"),
        (removing_har, "no network trace in "),
        (removing_response, "agent_response.json"),
        (linking_response, "agent_response.json"),
        (blocking_har, "network.har"),
        (defining_nothing, "task 107 is not defined in "),
        (defining_twice, "task 107 is defined twice in "),
        (defining_badly, "invalid task in "),
        (asking_an_unknown_evaluator, "unknown evaluator 'PalmReader' @ eval[1].evaluator"),
        (expecting_nonsense, "invalid task definition: "),
        (an_unknown_layout, "107: "),
        (an_empty_directory, "107: "),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_task_that_cannot_be_judged_is_an_error_with_its_reason_and_harms_no_other(runs, webeval, spoil, told):
    runs.add(108)
    spoil(runs)
    result = webeval("-rA")
    outcomes = result.parseoutcomes()
    assert outcomes.pop("passed") == 1
    assert outcomes in ({"errors": 1}, {"error": 1}, {"failed": 1})
    assert runs.counts == (1, 0, 1)
    assert told in runs.reasons["107"]
    assert told in result.stdout.str()
    assert told in runs.result(107)["error_msg"]
    assert runs.result(107)["status"] == "error"
    assert str(runs.root) not in json.dumps([runs.result(107), runs.summary])  # the same bytes in every directory
    assert runs.result(108)["status"] == "success"
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*pytest_webeval/*")
    result.stdout.fnmatch_lines(["*1 success, 0 failure, 1 error*"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[{", "cannot parse *runs/tasks.json as JSON: *line 1 column 3*; fix the file"),
        ("{", "*runs/tasks.json is neither JSON nor JSON lines: *"),
        ("", "*runs/tasks.json is empty; expected tasks with *"),
        ("[1]", "*runs/tasks.json*"),
    ],
)
def test_tasks_that_cannot_be_read_as_a_whole_are_a_usage_error(runs, webeval, content, message):
    runs.add(107)
    (runs.root / "tasks.json").write_text(content)
    check_refusal(runs, webeval(), message)


@pytest.mark.parametrize("command", [("pytest", "-n2", "--webeval-runs=runs"), ("pytest_webeval", "score", "runs")])
def test_they_are_one_with_workers_and_by_the_command(runs, pytester, command):
    runs.add(107)
    (runs.root / "tasks.json").write_text("[{")
    check_refusal(runs, pytester.run(sys.executable, "-m", *command), "cannot parse *runs/tasks.json as JSON: *")


def check_refusal(runs, result, message):
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert len([line for line in result.errlines if line.strip()]) == 1
    result.stderr.fnmatch_lines([f"*{message}"])
    assert not (runs.root / "107/eval_result.json").exists()


def test_a_run_root_without_definitions_says_how_to_name_some(runs, webeval):
    runs.add(107, defined=False)
    result = webeval()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*no task definition for runs/107: * name one with --webeval-tasks, or trust *"])


def test_a_definition_in_the_run_directory_is_used_with_a_warning(runs, webeval):
    path = runs.add(107, defined=False)
    (path / "task.json").write_text(json.dumps(runs.definition(107)))
    webeval("--webeval-own-tasks").assert_outcomes(passed=1)
    about = runs.result(107)["webeval"]
    assert about["warnings"] == [
        "the task definition comes from the run directory, where the agent could have written it"
    ]
    assert "could have written it" in about["tasks_from"]


def test_a_definition_of_another_task_in_the_run_directory_is_refused(runs, webeval):
    path = runs.add(107, defined=False)
    (path / "task.json").write_text(json.dumps(runs.definition(1)))
    result = webeval("--webeval-own-tasks")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*task 107 is not defined in task.json in the run directory*"])


def test_the_agents_own_definition_counts_for_nothing_beside_the_roots(runs, webeval):
    path = runs.add(107, passes=False)
    easy = runs.definition(107)
    easy["eval"][0]["expected"] = {"task_type": "retrieve", "status": "NOT_FOUND_ERROR"}
    (path / "task.json").write_text(json.dumps(easy))
    webeval("--webeval-own-tasks").assert_outcomes(failed=1)


ODD_NAMES = [
    "with space",
    "[x]",
    "a::b",
    "naïve",
    "línea\nnueva",
    "107 ",
    "0107",
    "%20",
    "-x",
    "(1)",
    "x\\y",
    "\x1b[31m",
]


def test_odd_directory_names_give_unique_ascii_node_ids_and_are_reported(runs, webeval):
    runs.add(107)
    for number, name in enumerate(ODD_NAMES):
        runs.add(1000 + number, name=name)
    result = webeval("-v")
    ids = [found[1] for line in result.outlines if (found := re.match(r"(runs/.*::task) (PASSED|ERROR|FAILED)", line))]
    assert len(set(ids)) == len(ids) == len(ODD_NAMES) + 1
    assert all(one.isascii() and one.isprintable() for one in ids)
    assert all(name.count("::") == 1 for name in ids)
    summary = runs.summary
    assert len(summary["task_results"]) == len(ids)
    assert summary["total"] == len(ids)
    assert {runs.result(name)["status"] for name in ODD_NAMES if name != "0107"} == {"error"}


@pytest.mark.parametrize("name", ["with space", "naïve", "%20"])
def test_the_node_id_of_an_odd_directory_selects_it(runs, webeval, name):
    runs.add(107)
    runs.add(1, name=name)
    listed = [line for line in webeval("--co", "-q").outlines if line.endswith("::task")]
    (odd,) = set(listed) - {"runs/107::task"}
    result = webeval(odd, "-v")
    result.assert_outcomes(errors=1)
    assert runs.summary["total"] == 1


def test_an_empty_nested_tree_is_named_and_no_error(runs, webeval):
    runs.add(107)
    (runs.root / "batch" / "deeper").mkdir(parents=True)
    result = webeval()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["1 directory holds no run: batch"])
    assert runs.summary["webeval"]["without_runs"] == ["runs/batch"]


def test_an_agents_text_reaches_the_terminal_without_control_characters(runs, webeval):
    path = runs.add(107)
    answer = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["\x1b[2Jlamp\u202e"]}
    (path / "agent_response.json").write_text(json.dumps(answer))
    result = webeval()
    result.assert_outcomes(failed=1)
    assert "\x1b[2J" not in result.stdout.str()
    assert "\u202e" not in result.stdout.str()


def test_an_old_result_is_never_read_as_one_of_this_session(runs, webeval):
    path = runs.add(107)
    (path / "eval_result.json").write_text('{"status": "success", "score": 1.0}')
    (path / "network.har").write_text("{")
    webeval().assert_outcomes(errors=1)
    assert runs.result(107)["status"] == "error"


def test_a_result_that_cannot_be_written_is_an_error_with_advice(runs, webeval):
    path = runs.add(107)
    (path / "eval_result.json").mkdir()
    result = webeval()
    assert runs.counts == (0, 0, 1)
    assert "--webeval-output" in runs.reasons["107"]
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["FAILED runs/107::task - *"])
