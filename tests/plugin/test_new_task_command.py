"""`webeval new-task`: what it prints and writes, and that a session scores by what it wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_webeval.__main__ import main
from tests.support.traffic import SHOP, send, visit, write_traffic

CONFIG = {"environments": {"__SHOPPING__": {"urls": [SHOP]}}}


@pytest.fixture
def golden(tmp_path):
    """A run that put a lamp into the cart."""
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    add = send("/cart/add", [("form_key", "k"), ("product", "lamp")], status=302)
    return write_traffic(tmp_path / "runs/107", "MUTATE", visit("/"), add)


@pytest.fixture
def new_task(tmp_path, monkeypatch, capsys):
    """Exit code, output and errors of the command, in the directory of the runs."""

    def call(*arguments):
        monkeypatch.chdir(tmp_path)
        code = main(["new-task", *map(str, arguments)])
        return code, *capsys.readouterr()

    return call


def test_the_definition_is_printed_and_what_to_check_is_not_part_of_it(golden, new_task):
    code, output, errors = new_task(golden, "--config=config.json", "--intent=Put a lamp into the cart.")
    assert code == 0
    definition = json.loads(output)
    assert definition["eval"][1]["expected"]["post_data"] == {"product": "lamp"}
    assert errors.splitlines() == [
        "check: eval[1]: form_key is not required: the name of a token",
        "1 golden run passes under this definition",
    ]


def test_the_same_runs_give_the_same_bytes(golden, new_task):
    assert new_task(golden) == new_task(golden)


def test_a_session_scores_runs_by_the_file_that_was_written(golden, new_task, pytester, tmp_path):
    assert new_task(golden, "--config=config.json", "--output=tasks/107.json")[:2] == (0, "")
    other = write_traffic(tmp_path / "runs/again/107", "MUTATE", visit("/"), send("/cart/add", [("product", "desk")]))
    options = (f"--webeval-tasks={tmp_path}/tasks/107.json", f"--webeval-config={tmp_path}/config.json")
    result = pytester.runpytest(f"--webeval-runs={tmp_path}/runs", *options)
    result.assert_outcomes(passed=1, failed=1)
    statuses = [json.loads((path / "eval_result.json").read_text())["status"] for path in (golden, other)]
    assert statuses == ["success", "failure"]


def test_a_file_that_exists_is_not_overwritten(golden, new_task, tmp_path):
    (tmp_path / "tasks.json").write_text("mine")
    code, _, errors = new_task(golden, "--output=tasks.json")
    assert (code, errors) == (4, "ERROR: cannot write tasks.json: the file exists; choose a new file with --output\n")
    assert (tmp_path / "tasks.json").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["runs"], "ERROR: unknown layout of runs: "),
        (["runs/107", "--intent= "], "ERROR: invalid intent ''; use a sentence"),
        (["runs/107", "--config=missing.json"], "ERROR: cannot read the configuration missing.json"),
        (["runs/107", "--id="], "ERROR: invalid task in the proposal"),
    ],
)
def test_what_cannot_be_used_is_an_error(golden, new_task, arguments, message):
    code, output, errors = new_task(*arguments)
    assert (code, output) == (4, "")
    assert message in errors


def test_a_golden_run_that_does_not_pass_is_an_error_with_the_definition(golden, new_task, tmp_path):
    other = write_traffic(
        tmp_path / "more/107", {"task_type": "NAVIGATE", "status": "SUCCESS"}, visit("/"), visit("/lamp")
    )
    code, output, errors = new_task(golden, other, "--config=config.json")
    assert code == 1
    assert json.loads(output)["task_id"] == 107
    assert "ERROR: 107 does not pass: " in errors


def test_what_an_agent_wrote_is_sanitized_in_both_outputs(new_task, tmp_path):
    answer = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["a\x1b[2J\u202e\ud800"]}
    path = write_traffic(tmp_path / "runs/1", answer, visit("/"), visit("/\x9b##[x]\u202ey"))
    code, output, errors = new_task(path)
    assert code == 0
    assert (output + errors).replace("\n", "").isprintable()
    assert json.loads(output)["eval"][0]["expected"]["retrieved_data"] == ["a\x1b[2J\u202e\\ud800"]
    assert Path(path, "eval_result.json").exists() is False
