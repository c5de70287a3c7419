"""`webeval audit`: findings, formats, files, exit codes and bad input."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pytest_webeval.__main__ import main

SUITE = Path(__file__).parents[2] / "example_suite"
HOSTILE = '<script>alert(1)</script>\x1b[31m" onload="x'


@pytest.fixture
def audit(capsys):
    """Exit code and output of the command."""

    def audit(*arguments):
        capsys.readouterr()
        code = main(["audit", *map(str, arguments)])
        return code, capsys.readouterr()

    return audit


@pytest.fixture
def suite(tmp_path):
    """Some tasks of the example suite in a file, one of them with a fault."""
    tasks = json.loads((SUITE / "runs" / "tasks.json").read_text("utf-8"))
    chosen = [task for task in tasks if task["task_id"] in (101, 103, 108, 110, 111, 209, 301)]
    faulty = next(task for task in chosen if task["task_id"] == 108)
    del faulty["eval"][1]["expected"]["post_data"]["quantity"]
    path = tmp_path / "chosen.json"
    path.write_text(json.dumps(chosen), "utf-8")
    return path


CONFIG = f"--config={SUITE / 'config.json'}"


def test_findings_are_named_by_task_evaluator_and_field(audit, suite):
    code, output = audit(SUITE / "runs", "--tasks", suite, CONFIG)
    assert (code, output.err) == (1, "")
    lines = output.out.splitlines()
    assert lines[0].startswith("task 108 (")
    assert lines[1] == (
        "  unchecked_field @ NetworkEventEvaluator eval[1].post_data.quantity: a run with another "
        "eval[1].post_data.quantity passes (quantity changed; quantity has '5'); expect the value of "
        "eval[1].post_data.quantity"
    )
    assert [line.split(" (")[0] for line in lines if line.startswith("task")] == ["task 108", "task 111"]
    assert "1 unchecked_field" in lines
    assert lines[-1].startswith("7 tasks audited with ")
    assert ": 2 findings in 2 tasks, " in lines[-1]
    assert "note " not in output.out.rpartition("\n7 tasks")[0]


def test_the_bar_decides_the_exit_code(audit, suite):
    solved = [task for task in json.loads(suite.read_text("utf-8")) if task["task_id"] != 111]
    suite.write_text(json.dumps(solved), "utf-8")
    assert audit(SUITE / "runs", "--tasks", suite, CONFIG, "--most=1")[0] == 0
    assert audit(SUITE / "runs", "--tasks", suite, CONFIG, "--most=0")[0] == 1


def test_a_task_of_which_no_run_passes_is_named_and_decides_the_exit_code(audit, suite):
    code, output = audit(SUITE / "runs", "--tasks", suite, CONFIG, "--most=9")
    assert code == 1
    line = "no run passes of 1 task: 111; add a run that solves it, or correct the definition"
    assert line in output.out.splitlines()
    code, output = audit("--tasks", suite, "--most=9")
    assert (code, "no run passes" in output.out) == (0, False)


def test_any_number_of_processes_finds_the_same(audit, suite, tmp_path):
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    first = audit(SUITE / "runs", "--tasks", suite, CONFIG, "--notes", "--json", one)
    second = audit(SUITE / "runs", "--tasks", suite, CONFIG, "--notes", "--json", two, "--jobs=2")
    assert first == second
    assert one.read_bytes() == two.read_bytes()
    content = json.loads(one.read_text())
    assert content["task_count"] == 7
    assert content["finding_count"] == sum(len(task["findings"]) for task in content["tasks"]) == 2
    assert {"task_id", "kind", "evaluator", "field", "mutants", "text"} == content["tasks"][2]["findings"][0].keys()


def test_without_runs_the_definitions_alone_are_audited(audit, suite):
    code, output = audit("--tasks", suite)
    assert code == 0
    assert ": 0 findings in 0 tasks, 0 notes" in output.out


def test_without_sites_they_are_inferred_from_each_recording(audit, suite):
    assert "eval[1].post_data.quantity" in audit(SUITE / "runs", "--tasks", suite)[1].out


def test_the_rules_of_the_reference_pass_more(audit, suite):
    code, output = audit("--tasks", suite, "--rules=reference")
    assert code == 1
    assert "passes_without_work @ AgentResponseEvaluator retrieved_data" in output.out
    assert "patterns everywhere" in output.out


def test_an_invalid_definition_is_a_finding_and_the_others_are_audited(audit, tmp_path, suite):
    tasks = json.loads(suite.read_text())
    tasks[0]["eval"] = []
    suite.write_text(json.dumps(tasks))
    code, output = audit("--tasks", suite)
    assert code == 1
    assert "task 101 (0 trials)\n  invalid_definition: the definition is invalid (" in output.out
    assert "7 tasks audited" in output.out


def test_the_page_has_all_findings_and_executes_nothing_of_a_task(audit, suite, tmp_path):
    tasks = json.loads(suite.read_text())
    tasks[0] = tasks[0] | {"task_id": f"task {HOSTILE}", "eval": tasks[0]["eval"]}
    tasks[0]["eval"][0]["results_schema"] = {"type": "array", "items": {"type": HOSTILE}}
    suite.write_text(json.dumps(tasks))
    code, output = audit(SUITE / "runs", "--tasks", suite, CONFIG, "--report", tmp_path / "page")
    page = (tmp_path / "page" / "audit.html").read_text("utf-8")
    assert code == 1
    assert "\x1b" not in output.out + page
    assert "<script" not in page
    assert 'onload="' not in page
    assert "default-src &#39;none&#39;" in page
    assert "eval[1].post_data.quantity" in page
    assert (tmp_path / "page" / "report.css").exists()


def test_a_page_of_somebody_else_is_not_overwritten(audit, suite, tmp_path, capsys):
    (tmp_path / "audit.html").write_text("mine")
    code, output = audit("--tasks", suite, "--report", tmp_path)
    assert code == 4
    assert "audit.html was not written by pytest-webeval" in output.err
    assert (tmp_path / "audit.html").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "audit requires tasks; name a file with --tasks"),
        (["--tasks", "absent.json"], "cannot read the task file absent.json"),
        (["--tasks", "SUITE", "--most=few"], "invalid --most 'few'; use a number"),
        (["--tasks", "SUITE", "--jobs=-1"], "invalid --jobs '-1'; use a number from 1 to 256, or auto"),
        (["--tasks", "SUITE", "--jobs=0"], "invalid --jobs '0'; use a number from 1 to 256, or auto"),
        (["--tasks", "SUITE", "--jobs=257"], "invalid --jobs '257'; use a number from 1 to 256, or auto"),
        (["--tasks", "SUITE", "--timeout=soon"], "invalid --timeout 'soon'; use a number of seconds, or 0"),
        (["absent", "--tasks", "SUITE"], "directory not found: absent"),
        (["--tasks", "SUITE", "--json=/"], "cannot write /: Is a directory; choose another file with --json"),
        (["--tasks", "SUITE", "--json=."], "cannot write .: Is a directory; choose another file with --json"),
    ],
)
def test_bad_input_ends_with_one_line(audit, suite, arguments, message):
    code, output = audit(*(str(suite) if argument == "SUITE" else argument for argument in arguments))
    assert code == 4
    assert output.err.startswith(f"ERROR: {message}")


@pytest.fixture
def attempts(tmp_path):
    """Two directories with a run of task 108 each, and a file of tasks each."""
    roots = [tmp_path / "first", tmp_path / "second"]
    tasks = [task for task in json.loads((SUITE / "runs" / "tasks.json").read_text("utf-8")) if task["task_id"] == 108]
    for root in roots:
        shutil.copytree(SUITE / "runs" / "108", root / "108")
        (root / "tasks.json").write_text(json.dumps(tasks))
    return roots


def test_directories_with_the_same_tasks_have_attempts_at_them(audit, attempts, tmp_path):
    code, _ = audit(*attempts, CONFIG, "--json", tmp_path / "audit.json")
    assert code == 0
    (task,) = json.loads((tmp_path / "audit.json").read_text())["tasks"]
    assert task["runs"] == ["108", "108"]


def test_directories_with_other_tasks_are_audited_apart(audit, attempts, tmp_path):
    tasks = json.loads((attempts[1] / "tasks.json").read_text())
    del tasks[0]["eval"][1]["expected"]["post_data"]["quantity"]
    (attempts[1] / "tasks.json").write_text(json.dumps(tasks))
    code, _ = audit(*attempts, CONFIG, "--json", tmp_path / "audit.json")
    assert code == 1
    counts = [len(task["findings"]) for task in json.loads((tmp_path / "audit.json").read_text())["tasks"]]
    assert counts == [0, 1]


def test_each_directory_has_tasks_unless_an_option_names_them(audit, attempts):
    (attempts[1] / "tasks.json").unlink()
    code, output = audit(*attempts, CONFIG)
    assert (code, output.err) == (4, f"ERROR: no tasks.json in {attempts[1]}; name the tasks with --tasks\n")
    assert audit(*attempts, CONFIG, "--tasks", attempts[0] / "tasks.json")[0] == 0


def test_tasks_in_a_directory_of_runs_are_read_through_no_link(audit, attempts, tmp_path):
    (tmp_path / "elsewhere.json").write_text((attempts[0] / "tasks.json").read_text())
    (attempts[0] / "tasks.json").unlink()
    (attempts[0] / "tasks.json").symlink_to(tmp_path / "elsewhere.json")
    code, output = audit(attempts[0], CONFIG)
    assert (code, output.out) == (4, "")
    assert output.err.startswith(f"ERROR: cannot read {attempts[0]}/tasks.json: ")
