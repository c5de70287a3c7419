"""`webeval lint`: exit codes, and findings as text, as JSON and for GitHub."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.__main__ import main
from tests.unit.lint.planted import answer, request, task

KEYWORD = {"type": "string", "minLength": 2}
MISSPELT = task(request({"querry_params": {"q": ["lamp"]}}))


@pytest.fixture
def lint(tmp_path, monkeypatch, capsys):
    """Run the command on these tasks. Gives the exit code, the output and the errors."""
    monkeypatch.chdir(tmp_path)

    def run(*definitions, arguments=("tasks.json",)):
        (tmp_path / "tasks.json").write_text(json.dumps(definitions, indent=1))
        code = main(["lint", *arguments])
        return code, *capsys.readouterr()

    return run


def test_a_warning_is_a_line_and_the_exit_code_1(lint):
    code, output, _ = lint(task(request(), task_id=1), MISSPELT)
    line = "tasks.json @ [1].eval[1].expected.querry_params: unknown key 'querry_params'; use query_params"
    assert (code, output) == (1, f"{line}\n1 warning\n")


def test_tasks_without_mistakes_are_the_exit_code_0(lint):
    assert lint(task(request()))[:2] == (0, "0 warnings\n")


def test_a_hint_does_not_decide_the_exit_code(lint):
    code, output, _ = lint(task(answer(["lamp"], KEYWORD)))
    line, total = output.splitlines()
    assert code == 0
    assert line.startswith("tasks.json @ [0].eval[0].results_schema.items.minLength: hint: the keyword 'minLength'")
    assert total == "0 warnings, 1 hint"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["missing.json"], "cannot read missing.json: No such file or directory; name a task file"),
        (["."], "cannot read .: Is a directory; name a task file"),
        (["broken.json"], "cannot parse broken.json as JSON: "),
        (["tasks.json", "--config=missing.json"], "cannot read the configuration missing.json: "),
    ],
)
def test_a_file_that_cannot_be_read_is_the_exit_code_4(lint, tmp_path, arguments, problem):
    (tmp_path / "broken.json").write_text("[{]")
    code, _, errors = lint(task(request()), arguments=arguments)
    assert code == 4
    assert errors.startswith(f"ERROR: {problem}")


@pytest.mark.parametrize("arguments", [["lint"], ["lint", "tasks.json", "--format=xml"]])
def test_wrong_usage_is_the_exit_code_4(arguments, capsys):
    with pytest.raises(SystemExit, match="4"):
        main(arguments)
    assert capsys.readouterr().err.startswith("usage: ")


def test_a_configuration_shows_addresses_where_placeholders_belong(lint, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"environments": {"shopping": {"urls": ["http://shop.test"]}}}))
    arguments = ["tasks.json", "--config=config.json"]
    definition = task(request({"url": "http://shop.test/cart"}))
    assert lint(definition)[0] == 0
    code, output, _ = lint(definition, arguments=arguments)
    problem = "the address http://shop.test of shopping; use __SHOPPING__"
    assert (code, output) == (1, f"tasks.json @ [0].eval[1].expected.url: {problem}\n1 warning\n")


def test_findings_as_json_have_file_line_place_and_check(lint):
    code, output, _ = lint(MISSPELT, arguments=["tasks.json", "--format=json"])
    (finding,) = json.loads(output)
    lines = json.dumps([MISSPELT], indent=1).splitlines()
    assert code == 1
    assert '"querry_params"' in lines[finding.pop("line") - 1]
    assert finding == {
        "file": "tasks.json",
        "place": "[0].eval[1].expected.querry_params",
        "check": "unknown-key",
        "severity": "warning",
        "text": "unknown key 'querry_params'; use query_params",
    }


def test_findings_for_github_stand_at_their_lines(lint):
    definitions = [MISSPELT, task(answer(["lamp"], KEYWORD), task_id=8)]
    lines = json.dumps(definitions, indent=1).splitlines()
    places = [
        next(index for index, line in enumerate(lines, 1) if key in line) for key in ("querry_params", "minLength")
    ]
    code, output, _ = lint(*definitions, arguments=["tasks.json", "--format=github"])
    first, second = output.splitlines()
    title = "title=webeval lint%3A"
    assert code == 1
    assert first.startswith(f"::warning file=tasks.json,line={places[0]},{title} unknown-key::[0].eval[1].expected.")
    assert second.startswith(f"::notice file=tasks.json,line={places[1]},{title} schema-keyword::[1].eval[0].results_")


@pytest.mark.parametrize("form", ["text", "json", "github"])
def test_texts_of_tasks_are_escaped(lint, form):
    evil = "a\n::error::b\x1b[31m\u202e##[error]"
    definition = task(request({evil: 1}), **{evil: 1})
    code, output, _ = lint(definition, arguments=["tasks.json", f"--format={form}"])
    lines = output.splitlines()
    assert code == 1
    assert all(line.isprintable() for line in lines)
    assert not any(line.startswith("::error") or "##[" in line for line in lines if form != "json")
