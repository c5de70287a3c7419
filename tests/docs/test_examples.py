"""Commands, snippets and files that the README and the manual show work as they stand there."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

import pytest_webeval
from pytest_webeval import AssertionRow, Limits, load_sites, values
from pytest_webeval.__main__ import main
from pytest_webeval.authoring.audit.findings import KINDS
from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.evaluators.base import build_evaluator
from pytest_webeval.exports import EXPORTS
from pytest_webeval.exports.rows import list_columns
from pytest_webeval.exports.settings import EvaluationFacts
from pytest_webeval.recordings.formats import load_run
from pytest_webeval.recordings.verdict_files import load_labels, load_verdicts
from pytest_webeval.rules import RULES
from pytest_webeval.safety.limits import read_limits
from pytest_webeval.tasks.sites import site_name
from pytest_webeval.tasks.task import read_task
from tests.exports.harness.tool_environment import TOOLS
from tests.support.judge_server import serve

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"(?:pytest|webeval) (?!tests/)")
MODULES = {"pytest": "pytest", "webeval": "pytest_webeval"}
SCORE = "webeval score "
SCORED = re.compile(r"^[1-9]\d* scored:", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One fenced block. `output` is the text block that follows it, with at most one line in between."""

    page: str
    language: str
    text: str
    output: str | None

    @property
    def commands(self):
        return [line for line in self.text.splitlines() if COMMAND.match(line)]


def blocks_of(path):
    text = path.read_text("utf-8")
    fences = [*FENCE.finditer(text), None]
    for fence, following in pairwise(fences):
        between = "" if following is None else text[fence.end() : following.start()].strip()
        is_output = following is not None and following[1] == "text" and (not between or is_lead(between))
        yield Block(path.relative_to(ROOT).as_posix(), fence[1], fence[2], following[2] if is_output else None)


def is_lead(between):
    return "\n" not in between and between.endswith(":")


BLOCKS = [block for path in PAGES for block in blocks_of(path)]
LIVE = "webeval_recording", "--webeval-record"  # which tests/browser/test_live_page.py runs, in a browser
RECORDED_BLOCKS = [block for block in BLOCKS if not any(word in block.text for word in LIVE)]
COMMANDS = [block for block in RECORDED_BLOCKS if block.language == "sh" and block.commands]


def blocks(language, page=None):
    return [block for block in RECORDED_BLOCKS if block.language == language and page in (None, block.page)]


def python_of(page):
    (block,) = blocks("python", page)
    return block


@pytest.fixture
def scratch(tmp_path):
    """A directory with everything that the commands name: runs, a configuration, the suite, a data set package."""
    ignore = shutil.ignore_patterns("eval_*.json", "__pycache__", "shop", "screenshots")
    shutil.copytree(ROOT / "example_suite", tmp_path / "example_suite", ignore=ignore)
    shutil.copytree(tmp_path / "example_suite/runs", tmp_path / "runs")
    shutil.copytree(tmp_path / "example_suite/trajectories/runs", tmp_path / "eval/runs")
    shutil.copy(tmp_path / "example_suite/conftest.py", tmp_path)
    shutil.copy(tmp_path / "example_suite/config.json", tmp_path)
    package = tmp_path / "webarena_verified"
    package.mkdir()
    (package / "__init__.py").touch()
    shutil.copy(tmp_path / "runs/tasks.json", package / "webarena-verified.json")
    labels, *_ = blocks("text", "docs/how-to/calibrate-a-judge.md")
    (tmp_path / "labels.csv").write_text(labels.text, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n", "utf-8")
    return tmp_path


# The recorded runs that the commands of a page are for, and where that has them.
RECORDED = {
    "agentlab": ("agentlab", "agentlab_results"),
    "atif": ("atif", "jobs"),
    "browser-use": ("browser_use", "runs"),
    "clawbench": ("clawbench", "claw-output"),
    "judge-runs": ("online_mind2web", "results"),
    "online-mind2web": ("online_mind2web", "results/Ours"),
    "other-recorders": ("online_mind2web", "runs"),
    "webvoyager": ("webvoyager", "results"),
}
JUDGED = {"task_id": "lamp_ungraded", "evaluation_details": {"response": "Status: success"}}
LABELLED = [{"task_id": "lamp_ungraded", "Ours_human_label": "1"}]


@pytest.fixture
def place_runs(scratch):
    """Puts what the commands of a page about a recorder name into the directory, in place of the example's runs."""

    def place(page):
        name, directory = RECORDED[Path(page).stem]
        shutil.rmtree(scratch / directory, ignore_errors=True)
        shutil.copytree(ROOT / "tests/recorded" / name, scratch / directory)
        shutil.copy(ROOT / "example_suite/runs/tasks.json", scratch)
        (scratch / "WebJudge_auto_eval_results.json").write_text(json.dumps(JUDGED), "utf-8")
        (scratch / "human_label.json").write_text(json.dumps(LABELLED), "utf-8")
        (scratch / "test-cases/v2/v2-047-shop").mkdir(parents=True)
        (scratch / "test-cases/v2/v2-047-shop/task.json").write_text(json.dumps(example("eval_schema")[0]), "utf-8")

    return place


def run(directory, *command):
    return subprocess.run(
        [sys.executable, *command],
        cwd=directory,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(directory), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def pytest_in(directory, *arguments):
    return run(directory, "-m", "pytest", "-p", "no:cacheprovider", *arguments)


def run_command(directory, command):
    program, *arguments = shlex.split(command)
    return run(directory, "-m", MODULES[program], *arguments)


@pytest.mark.whole  # takes long: the session "docs" runs them
@pytest.mark.parametrize("block", [pytest.param(block, id=f"{block.page}: {block.commands[0]}") for block in COMMANDS])
def test_commands_work(block, scratch, place_runs):
    if Path(block.page).stem in RECORDED:
        place_runs(block.page)
    for command in block.commands:
        if command.startswith(SCORE):  # which refuses a conftest.py with evaluators
            (scratch / "conftest.py").unlink()
        done = run_command(scratch, command)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        is_session = command.startswith(("pytest", SCORE)) and "--webeval-audit-" not in command
        assert bool(SCORED.search(done.stdout)) == is_session, done.stdout
        assert done.stdout.strip()
    if block.output is not None:
        shown = iter(done.stdout.splitlines())
        missing = [line for line in block.output.splitlines() if line not in shown]  # in this order
        assert not missing, done.stdout


def test_there_are_commands_to_run():
    assert len(COMMANDS) >= 15
    assert any(block.output for block in COMMANDS if block.page == "README.md")


def test_every_python_block_is_run_by_a_test_of_this_file():
    assert [block.page for block in blocks("python")] == [
        "README.md",
        "docs/how-to/add-a-value-type.md",
        "docs/how-to/add-an-option.md",
        "docs/how-to/export.md",
        "docs/how-to/extend-from-a-package.md",
        "docs/how-to/fara-trajectories.md",
        "docs/how-to/judge-runs.md",
        "docs/how-to/own-report-output.md",
        "docs/how-to/own-run-format.md",
        "docs/how-to/partial-scores.md",
        "docs/how-to/score-on-a-cluster.md",  # by tests/executors, with Ray
        "docs/how-to/score-without-pytest.md",
        "docs/how-to/write-an-evaluator.md",
        "docs/how-to/write-results-in-shards.md",
        "docs/how-to/write-results-in-shards.md",
        "docs/reference/python-api.md",
        "docs/reference/python-api.md",
        "docs/reference/python-api.md",
    ]


@pytest.mark.whole
def test_results_that_a_script_writes_in_shards_are_found_and_become_files(scratch):
    page = "docs/how-to/write-results-in-shards.md"
    reading, writing = blocks("python", page)
    done = run(scratch, "-W", "error", "-c", writing.text)
    assert done.returncode == 0, done.stderr
    assert run(scratch, "-W", "error", "-c", reading.text).stdout == "success\n"
    (command,) = (block.text for block in blocks("bash", page) if "export" in block.text)
    run_command(scratch, command.strip())
    count = json.loads((scratch / "out/eval_results.json").read_text())["count"]
    assert len(list((scratch / "tree").rglob("eval_result.json"))) == count > 30
    assert (scratch / "tree/107/eval_result.json").is_file()


def test_the_python_api_prints_the_output_that_is_shown():
    block, *_ = blocks("python", "docs/reference/python-api.md")
    done = run(ROOT, "-c", block.text)
    assert done.stdout == block.output == "1 of 2\n"


@pytest.mark.whole
def test_the_python_api_scores_in_processes_and_single_runs(scratch):
    _, many, single = blocks("python", "docs/reference/python-api.md")
    done = run(scratch, "-W", "error", "-c", many.text)
    assert done.returncode == 0, done.stderr
    written = {path.parent.name for path in (scratch / "results").rglob("eval_result.json")}
    assert len(done.stdout.splitlines()) == len(written) > 20
    assert "101 success" in done.stdout
    assert run(scratch, "-W", "error", "-c", single.text).stdout == "success\n"


@pytest.mark.whole
def test_the_notebook_reads_what_the_commands_export(scratch):
    block, commands = python_of("docs/how-to/export.md"), blocks("sh", "docs/how-to/export.md")[0].commands
    for command in commands:
        run_command(scratch, command)
    done = run(scratch, "-W", "error", "-c", block.text)
    assert done.stdout == block.output, done.stderr


def test_the_columns_of_exports_are_those_of_the_code():
    page = (ROOT / "docs/how-to/export.md").read_text("utf-8")
    tables = re.findall(r"\| column \| type \|.*?\n\n", page, re.DOTALL)
    shown = [re.findall(r"^\| `(\w+)` \| (\w+) \|", table, re.MULTILINE) for table in tables]
    assert shown == [list(list_columns(row_type).items()) for row_type in (pytest_webeval.TaskRow, AssertionRow)]


def test_the_targets_and_facts_of_exports_are_those_of_the_code():
    page = (ROOT / "docs/how-to/export.md").read_text("utf-8")
    assert re.findall(r"^\| `([\w-]+)` \| [^|]+ \| (?:output|`--output)", page, re.MULTILINE) == list(EXPORTS)
    options = re.findall(r"^\| `--([\w-]+)", page.partition("## every_eval_ever")[2], re.MULTILINE)
    assert sorted(name.replace("-", "_") for name in options) == sorted(EvaluationFacts.__struct_fields__)
    read_by = ("every_eval_ever", "inspect")
    assert all(TOOLS[name].requirement.rpartition("==")[2] in page for name in read_by)


def test_the_kinds_of_the_audit_are_those_of_the_code():
    page = (ROOT / "docs/how-to/audit-tasks.md").read_text("utf-8").partition("## Kinds")[2]
    findings, notes = (re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) for table in page.split("| kind | note |"))
    assert findings == [name for name, kind in KINDS.items() if not kind.is_note]
    assert notes == [name for name, kind in KINDS.items() if kind.is_note]


def test_the_example_of_trajectories_prints_the_outcome_of_each():
    done = run(ROOT, "-c", python_of("docs/how-to/fara-trajectories.md").text)
    lines = done.stdout.splitlines()
    assert len(lines) == 7
    assert "books_find_7 completed ['web_search', 'left_click', 'terminate'] 25.5" in lines


def test_the_evaluator_of_the_readme_decides(scratch):
    block = python_of("README.md")
    assert sum(map(bool, block.text.splitlines())) <= 12
    (scratch / "conftest.py").write_text(block.text, "utf-8")
    statuses = {}
    for most in (8, 0):
        budget_of(scratch, most)
        pytest_in(scratch, "--webeval-runs=runs", "--webeval-config=config.json", "-k", "[105]")
        result = json.loads((scratch / "runs/105/eval_result.json").read_text("utf-8"))
        statuses[most] = {each["evaluator_name"]: each["status"] for each in result["evaluators_results"]}
    assert statuses[8]["PageBudgetEvaluator"] == "success"
    assert statuses[0]["PageBudgetEvaluator"] == "failure"


@pytest.mark.whole
def test_the_evaluators_of_a_module_decide_without_pytest(scratch):
    (scratch / "my_project").mkdir()
    fixture = "\n\n@pytest.fixture"
    (scratch / "my_project/evaluators.py").write_text(python_of("README.md").text.partition(fixture)[0], "utf-8")
    (scratch / "my_project/budget.py").write_text(python_of("docs/how-to/score-without-pytest.md").text, "utf-8")
    budget_of(scratch, 0)
    done = run_command(scratch, f"{SCORE} runs --config config.json --evaluators-from my_project.budget")
    assert done.returncode == 1, done.stderr
    assert "PageBudget: page_budget" in done.stdout


def budget_of(scratch, most):
    expect(scratch, {"evaluator": "PageBudgetEvaluator", "max_pages": most})


def expect(scratch, entry):
    """Let task 105 have this expectation in place of that of the suite's own evaluator."""
    path = scratch / "runs/tasks.json"
    tasks = json.loads(path.read_text("utf-8"))
    (task,) = (task for task in tasks if task["task_id"] == 105)
    task["eval"] = [*(each for each in task["eval"] if each["evaluator"] != "PageBudgetEvaluator"), entry]
    path.write_text(json.dumps([task]), "utf-8")


@pytest.mark.whole
def test_the_evaluator_with_partial_scores_gives_the_share_of_pages(scratch):
    page = (ROOT / "docs/how-to/partial-scores.md").read_text("utf-8")
    (entry,) = re.findall(r"`(\{.*CoverageEvaluator.*\})`", page)
    (scratch / "conftest.py").write_text(python_of("docs/how-to/partial-scores.md").text, "utf-8")
    pages = {"/": 1.0, "/lost": 0.0}
    expect(scratch, {**json.loads(entry), "pages": list(pages)})
    done = pytest_in(scratch, "--webeval-runs=runs", "--webeval-config=config.json", "-k", "[105]")
    result = json.loads((scratch / "runs/105/eval_result.json").read_text("utf-8"))
    scores = {each["evaluator_name"]: each["score"] for each in result["evaluators_results"]}
    assert scores["CoverageEvaluator"] == 0.5
    assert result["status"] == "failure"
    assert f"mean score {result['webeval']['partial_score']:.2f} over 1 run with a score" in done.stdout


def test_the_evaluators_shown_are_those_of_the_example_suite():
    page = ROOT / "docs/how-to/write-an-evaluator.md"
    (included,) = re.findall(r"```\{literalinclude\} (\S+)", page.read_text("utf-8"))
    assert (page.parent / included).resolve() == ROOT / "example_suite/conftest.py"


@pytest.mark.whole
def test_the_python_test_over_runs_is_that_of_the_example_suite(scratch):
    block = python_of("docs/how-to/write-an-evaluator.md")
    assert block.text.strip() in (ROOT / "example_suite/test_every_run.py").read_text("utf-8")
    (scratch / "test_it.py").write_text(block.text, "utf-8")
    done = pytest_in(scratch, "test_it.py", "--webeval-runs=runs", "--webeval-config=config.json", "-k", "[105]")
    assert "1 passed" in done.stdout


@pytest.mark.whole
def test_the_run_format_is_read(scratch):
    block = python_of("docs/how-to/own-run-format.md")
    assert len(block.text.splitlines()) <= 40
    (scratch / "conftest.py").write_text(block.text, "utf-8")
    for name, answer in (("101", recorded_answer()), ("102", "nothing")):
        path = scratch / f"answers/{name}"
        path.mkdir(parents=True)
        (path / "answer.txt").write_text(f"{answer}\n", "utf-8")
        shutil.copy(ROOT / "example_suite/runs/101/network.har", path / "traffic.har")
    options = ("--webeval-runs=answers", "--webeval-tasks=runs/tasks.json", "--webeval-config=config.json")
    done = pytest_in(scratch, *options, "-k", "answer-text")
    assert "1 failed, 1 passed" in done.stdout
    result = json.loads((scratch / "answers/101/eval_result.json").read_text("utf-8"))
    assert result["webeval"]["format"] == "answer-text"
    assert sorted(result["webeval"]["inputs"]) == ["answer.txt", "traffic.har"]


@pytest.mark.whole
def test_the_judge_of_the_page_is_asked_about_each_run_without_a_verdict(scratch):
    block = python_of("docs/how-to/judge-runs.md")
    assert len([line for line in block.text.splitlines() if line]) == 10
    (scratch / "conftest.py").write_text(block.text, "utf-8")
    options = ("--webeval-runs=eval", "--webeval-tasks=example_suite/trajectories/tasks.tsv")
    done = pytest_in(scratch, *options, "--webeval-judge-mode=live", "--webeval-judge-method=webvoyager")
    assert "judge length-judge-1 (webvoyager 1): 1 run judged, 1 reply, 0 tokens, cost unknown" in done.stdout
    assert len(list((scratch / "judge_replies").rglob("*.json"))) == 1


@pytest.mark.whole
def test_the_commands_that_ask_a_server_ask_it(scratch, place_runs, monkeypatch):
    place_runs("docs/how-to/judge-runs.md")
    shown = [command for block in blocks("console", "docs/how-to/judge-runs.md") for command in block.commands]
    commands = [command for command in shown if "--webeval-judge-mode=live" in command]
    assert (len(commands), len(shown)) == (2, 3)
    for result in (scratch / "results").rglob("result.json"):
        result.write_text(json.dumps({**json.loads(result.read_text("utf-8")), "judge": None}), "utf-8")
    with serve(["no verdict"]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "key")
        for command in commands:
            asked = command.replace("http://127.0.0.1:8000/v1", server.url)
            done = run_command(scratch, asked)
            assert "not judged: unparseable" in done.stdout, done.stdout + done.stderr
    assert {exchange.body["model"] for exchange in server.exchanges} == {"gpt-5-mini", "qwen2.5-vl"}


@pytest.mark.parametrize(("most", "status"), [(12, "success"), (9, "failure")])
def test_the_evaluator_that_is_a_function_decides(most, status):
    names = {}
    exec(python_of("docs/how-to/extend-from-a-package.md").text, names)
    evaluator = build_evaluator("ShortEvaluator", names["check_length"])
    case = SimpleNamespace(run=SimpleNamespace(response=b'{"retrieved_data": ["0306406152"]}'))
    result = evaluator.evaluate(SimpleNamespace(config={"most": most}), case)
    assert (str(result.status), result.assertions[0].assertion_msgs) == (status, ["10 characters"])


def test_the_run_format_uses_public_names_alone():
    text = python_of("docs/how-to/own-run-format.md").text
    assert re.findall(r"\bpytest_webeval\b.*", text) == ["pytest_webeval as webeval"]
    names = set(re.findall(r"\bwebeval\.(\w+)", text))
    assert names == {"Run", "RunFormat", "RunInputs", "load_trace"}
    assert names <= set(pytest_webeval.__all__)


def recorded_answer():
    response = json.loads((ROOT / "example_suite/runs/101/agent_response.json").read_text("utf-8"))
    (answer,) = response["retrieved_data"]
    return answer


@pytest.mark.whole
def test_the_report_output_is_written(scratch):
    with (scratch / "conftest.py").open("a", encoding="utf-8") as file:  # after the evaluators of the suite
        file.write(python_of("docs/how-to/own-report-output.md").text)
    pytest_in(scratch, "--webeval-runs=runs", "--webeval-config=config.json", "-k", "[105] or [106]")
    head, *rows = (scratch / "webeval.csv").read_text("utf-8").splitlines()
    assert head == "task,run,status,score,reason"
    assert [row.split(",")[:4] for row in rows] == [
        ["105", "runs/105", "success", "1.0"],
        ["106", "runs/106", "failure", "0.0"],
    ]


@pytest.fixture
def example_type(tmp_path, monkeypatch):
    """The value type of the page, in the table."""
    block = python_of("docs/how-to/add-a-value-type.md")
    ((name, location),) = re.findall(r'"(\w+)": "([\w.:]+)"', block.output)
    module = location.partition(":")[0]
    path = tmp_path / "isbn.py"
    path.write_text(block.text, "utf-8")
    loaded = importlib.util.module_from_spec(spec := importlib.util.spec_from_file_location(module, path))
    monkeypatch.setitem(sys.modules, module, loaded)
    spec.loader.exec_module(loaded)
    monkeypatch.setitem(values.VALUE_TYPES, name, location)
    return values.value_type(name)


def test_the_value_type_is_read(example_type):
    context = values.base.ParseContext()
    expected, same = (example_type.read(raw, context) for raw in ("0-306-40615-2", "0306406152"))
    assert expected.matches(same)
    with pytest.raises(values.base.ValueParseError, match="is not a valid ISBN; write 10 or 13 digits"):
        example_type.read("12", context)


def test_a_nested_datum_is_no_value_of_the_type_either(example_type):
    nested = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(values.base.ValueParseError):
        example_type.canonical(nested, values.base.ParseContext())


@pytest.mark.whole
def test_the_option_is_read_and_repeated(scratch):
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "pytest_webeval", scratch / "pytest_webeval", ignore=ignore)
    (row,) = (block.text for block in blocks("text", "docs/how-to/add-an-option.md"))
    insert(scratch / "pytest_webeval/sessions/settings/options.py", row, before="\n\nOPTIONS = ")
    (scratch / "conftest.py").write_text(python_of("docs/how-to/add-an-option.md").text, "utf-8")
    options = ("--webeval-runs=runs", "--webeval-config=config.json", "-k", "[106]")
    done = pytest_in(scratch, *options, "--webeval-note=nightly")
    assert "\nnote: nightly\n" in done.stdout
    assert "--webeval-note=nightly -k " in done.stdout
    assert "note: " not in pytest_in(scratch, *options).stdout
    (scratch / "pytest.ini").write_text("[pytest]\nwebeval_note = weekly\n", "utf-8")
    assert "\nnote: weekly\n" in pytest_in(scratch, *options).stdout


def insert(path, text, before):
    source = path.read_text("utf-8")
    assert source.count(before) == 1
    path.write_text(source.replace(before, f"{text}{before}"), "utf-8")


CLAWBENCH = next((ROOT / "tests/recorded/clawbench").glob("*/*901-shop-success*"))
JSON = [json.loads(block.text) for block in blocks("json")]


def example(key):
    return [content for content in JSON if key in content]


def test_the_proposal_of_the_page_is_that_of_the_example_suite(scratch):
    block, *_ = blocks("sh", "docs/how-to/new-task.md")
    (command,) = block.commands
    done = run_command(scratch, command)
    (expected,) = lists_with("evaluator")
    checks, *_ = blocks("text", "docs/how-to/new-task.md")
    assert json.loads(done.stdout)["eval"] == expected
    assert done.stderr == checks.text


def test_every_json_block_is_used_by_a_test_of_this_file():
    keys = (
        "eval",
        "environments",
        "retrieved_data",
        "results",
        "items",
        "eval_schema",
        "evaluator",
        "evaluation_details",
        "json.schemas",
        "result",
    )
    used = [*(content for key in keys for content in example(key)), *lists_with("role"), *lists_with("task_id")]
    used += lists_with("evaluator")
    assert sorted(map(str, JSON)) == sorted(map(str, used))


def lists_with(key):
    return [content for content in JSON if isinstance(content, list) and key in content[0]]


def test_the_settings_of_the_editor_name_the_schema_that_the_command_writes(scratch):
    (settings,) = example("json.schemas")
    (mapping,) = settings["json.schemas"]
    (command,) = next(block.commands for block in blocks("sh", "docs/how-to/write-a-task.md"))
    page = (ROOT / "docs/how-to/write-a-task.md").read_text("utf-8")
    (name,) = re.findall(r"Save what this command prints as `([\w.]+)`:$", page, re.MULTILINE) or [""]
    assert mapping == {"fileMatch": ["tasks.json"], "url": f"./{name}"}
    assert json.loads(run_command(scratch, command).stdout)["title"] == "Task definitions"


def task_example(task_id):
    (content,) = (content for content in example("eval") if content["task_id"] == task_id)
    return content


def test_the_messages_of_a_judge_are_a_verdict(tmp_path):
    (messages,) = lists_with("role")
    path = tmp_path / "taskShop--0"
    shutil.copytree(ROOT / "tests/recorded/webvoyager/taskShop--0", path)
    (path / "eval_res.json").write_text(json.dumps(messages), "utf-8")
    (judgement,) = load_run(path, RULES["default"]).trajectory.judgements
    assert (judgement.success, judgement.contradictions, judgement.ungraded) == (True, (), None)


def test_the_task_example_is_a_task():
    assert read_task(task_example(107), "docs").task_type == "NAVIGATE"


def test_each_field_of_the_minimal_task_is_required():
    task = task_example("shop-contact")
    assert read_task(task, "docs").task_id == "shop-contact"
    for name in ("intent", "eval"):
        with pytest.raises(TaskDefinitionError, match=f"lacks the field '{name}'"):
            read_task({key: value for key, value in task.items() if key != name}, "docs")


@pytest.mark.whole
@pytest.mark.parametrize(("path", "status"), [("contact", "success"), ("order", "failure")])
def test_the_minimal_task_checks_a_run_of_browser_use(path, status, scratch):
    task, run = task_example("shop-contact"), scratch / "shown/shop-contact"
    shutil.copytree(ROOT / "tests/recorded/browser_use/shop-not-judged", run)
    har = (run / "network.har").read_text("utf-8")
    assert (har.count('"POST"'), har.count("https://127.0.0.1:7743/contact") > 0) == (1, True)
    (run / "network.har").write_text(
        har.replace("https://127.0.0.1:7743/contact", f"https://shop.example/{path}"), "utf-8"
    )
    (scratch / "shown.json").write_text(json.dumps([task]), "utf-8")
    pytest_in(scratch, "--webeval-runs=shown", "--webeval-tasks=shown.json")
    assert json.loads((run / "eval_result.json").read_text("utf-8"))["status"] == status


def test_the_verdict_and_the_label_that_are_shown_are_read(tmp_path):
    (verdict,), (labels,) = example("evaluation_details"), lists_with("task_id")
    (tmp_path / "verdicts.json").write_text(json.dumps(verdict), "utf-8")
    (tmp_path / "labels.json").write_text(json.dumps(labels), "utf-8")
    judgement = load_verdicts(tmp_path / "verdicts.json").judge("lamp_success")
    assert (judgement.success, judgement.contradictions) == (True, ())
    assert judgement.reply.splitlines()[-1] == "Status: success"
    assert load_labels(tmp_path / "labels.json", "osu").judge(("lamp_success", "Ours")).success is True


@pytest.mark.parametrize(
    ("site", "url"), [("bookshop", "http://127.0.0.1:8080"), ("shopping", "http://127.0.0.1:7770")]
)
def test_the_configuration_is_read(tmp_path, site, url):
    (tmp_path / "config.json").write_text(json.dumps(configuration_of(site)), "utf-8")
    assert load_sites(tmp_path / "config.json").environments[site].urls == (url,)


def configuration_of(site):
    (content,) = (
        content for content in example("environments") if list(map(site_name, content["environments"])) == [site]
    )
    return content


@pytest.mark.whole
def test_the_short_task_has_eight_lines_and_is_passed_by_a_recorded_run(scratch):
    page = "docs/how-to/write-a-task.md"
    (block,) = (block for block in blocks("json", page) if '"cheapest_book"' in block.text)
    assert len(block.text.splitlines()) == 8
    shutil.copytree(ROOT / "tests/recorded/bookshop", scratch / "books")
    (scratch / "books/tasks.json").write_text(block.text, "utf-8")
    (scratch / "books.json").write_text(json.dumps(configuration_of("bookshop")), "utf-8")
    done = pytest_in(scratch, "--webeval-runs=books", "--webeval-config=books.json", "-k", "bookshop")
    assert "1 scored: 1 success" in done.stdout, done.stdout + done.stderr
    result = json.loads((scratch / "books/cheapest_book/eval_result.json").read_text("utf-8"))
    assert len(result["evaluators_results"]) == 2
    assert result["webeval"]["warnings"] == []
    tasks = str(scratch / "books/tasks.json")
    assert (main(["lint", tasks]), main(["audit", "--tasks", tasks])) == (0, 0)


@pytest.mark.whole
@pytest.mark.parametrize("response", example("retrieved_data") + example("results"), ids=["current", "documented"])
def test_the_task_is_passed_by_the_answers_that_are_shown(response, scratch):
    task, (rubric,) = task_example(107), example("items")
    path = scratch / "shown/107"
    path.mkdir(parents=True)
    shutil.copy(ROOT / "example_suite/runs/105/network.har", path)
    (path / "agent_response.json").write_text(json.dumps(response), "utf-8")
    (path / "rubric.json").write_text(json.dumps(rubric), "utf-8")
    points = [{"evaluator": "RubricEvaluator", "threshold": share} for share in (0.5, 0.8)]
    (path.parent / "tasks.json").write_text(json.dumps([task | {"eval": [*task["eval"], *points]}]), "utf-8")
    pytest_in(scratch, "--webeval-runs=shown", "--webeval-config=config.json")
    result = json.loads((path / "eval_result.json").read_text("utf-8"))
    assert [each["status"] for each in result["evaluators_results"]] == ["success", "success", "success", "failure"]


@pytest.mark.whole
@pytest.mark.parametrize(("query", "quantity"), [("?page=1", "2"), ("?page=1", "3"), ("", "2"), ("", "3")])
def test_the_requests_that_are_shown_are_expected(query, quantity, scratch):
    (task,), (expectation,) = example("eval_schema"), example("evaluator")
    for schema, queries in ((task["eval_schema"], {""}), (expectation["expected"], {"?page=1"})):
        run = scratch / "shown/model/openclaw-v2-047-shop-model-20260301-100000"
        shutil.copytree(CLAWBENCH, run, dirs_exist_ok=True)
        request = {"url": f"https://shop.test/cart{query}", "method": "POST", "body": {"quantity": quantity}}
        (run / "data/requests.jsonl").write_text(json.dumps(request), "utf-8")
        (scratch / "shown.jsonl").write_text(json.dumps(task | {"eval_schema": schema}), "utf-8")
        pytest_in(scratch, "--webeval-runs=shown", "--webeval-tasks=shown.jsonl")
        (request_pattern, _) = json.loads((run / "eval_result.json").read_text("utf-8"))["evaluators_results"]
        assert request_pattern["evaluator_name"] == expectation["evaluator"]
        assert (request_pattern["status"] == "success") is (quantity == "2" and query in queries)


@pytest.mark.whole
@pytest.mark.parametrize("block", blocks("ini"), ids=lambda block: block.page)
def test_ini_files_are_accepted(block, scratch):
    (scratch / "pytest.ini").write_text(block.text, "utf-8")
    (scratch / "human_label.json").write_text(json.dumps(LABELLED), "utf-8")
    done = pytest_in(scratch, "--webeval-runs=runs", "--webeval-config=config.json", "-k", "[105]")
    assert SCORED.search(done.stdout), done.stdout + done.stderr


def test_the_limits_that_are_shown_are_the_defaults():
    (block,) = blocks("ini", "docs/reference/limits.md")
    lines = [line.strip() for line in block.text.splitlines() if line.startswith(" ")]
    assert len(lines) == len(Limits.__dataclass_fields__)
    assert read_limits(lines) == Limits()


@pytest.mark.whole
def test_the_manual_of_fixtures_is_printed(scratch):
    done = pytest_in(scratch, "--fixtures", "--webeval-runs=runs", "--rootdir=.")
    page = (ROOT / "docs/how-to/write-an-evaluator.md").read_text("utf-8")
    names = re.findall(r"`(\w+)`", page.partition("is the manual of all fixtures:")[2].partition(". The same")[0])
    assert len(names) == 11
    for name in names:
        assert re.search(rf"^{name}\b", done.stdout, re.MULTILINE), name


def test_every_option_that_a_page_names_exists(scratch):
    options = set(re.findall(r"--webeval-[\w-]+", pytest_in(scratch, "--help").stdout))
    named = {name for path in PAGES for name in re.findall(r"--webeval-[a-z-]+[a-z]", path.read_text("utf-8"))}
    assert len(named) >= 25
    assert named - options == {"--webeval-note"}  # the page about options adds it
