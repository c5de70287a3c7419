"""A package adds formats, evaluators, value types, exports and judges by entry points: every front end has them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_webeval.errors import EvaluationError
from pytest_webeval.evaluators.base import build_evaluator
from pytest_webeval.evaluators.response import ResponseEvaluator
from pytest_webeval.sessions.runs import run_scoring
from pytest_webeval.sessions.runs.run_scoring import RunScorer
from tests.support.runs import definition, navigation

ROOT = Path(__file__).resolve().parents[2]
POINTS = """
[pytest_webeval.formats]
answer-text = shop_webeval:TextFormat
[pytest_webeval.evaluators]
ShortEvaluator = shop_webeval:check_length
[pytest_webeval.value_types]
isbn = shop_webeval:IsbnValue
[pytest_webeval.exports]
statuses = shop_webeval:format_statuses
[pytest_webeval.judges]
shop-judge-1 = shop_webeval:ShopJudge
"""
MODULE = """
import json
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import pytest_webeval as webeval
from pytest_webeval.values.base import Value, parse_error


class TextRun(webeval.Run):
    @property
    def response(self):
        text = self.inputs.read(self.response_file).decode().strip()
        return json.dumps({"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": [text]}).encode()


class TextFormat(webeval.RunFormat):
    name = "answer-text"
    expected_files = "answer.txt and network.har"

    def recognizes(self, path):
        return (path / "answer.txt").is_file()

    def load(self, path, label, rules):
        return TextRun(
            path=path, label=label, task_id=int(path.name), format=self.name, response_file="answer.txt",
            inputs=webeval.RunInputs(path), rules=rules, load_trace=partial(webeval.load_trace, name="network.har"),
        )


def check_length(expectation, case):
    text = json.loads(case.run.response)["retrieved_data"][0]
    status = webeval.Status.SUCCESS if len(text) <= expectation.config["most"] else webeval.Status.FAILURE
    yield webeval.Assertion(assertion_name="short", status=status, assertion_msgs=[f"{len(text)} characters"])


@dataclass(frozen=True, slots=True)
class IsbnValue(Value):
    type_name: ClassVar[str] = "isbn"

    @classmethod
    def canonical(cls, raw, context):
        text = raw.replace("-", "") if isinstance(raw, str) else ""
        if len(text) != 10:
            raise parse_error(raw, "is not a valid ISBN; write 10 digits")
        return text


def format_statuses(results, settings):
    return {"": "".join(f"{row.task_id} {row.status}\\n" for row in results).encode()}


POINT = 5


class ShopJudge:
    model = "shop-judge-1"

    def answer(self, question):
        return webeval.Reply(text="It is fine.\\nVerdict: SUCCESS", model=self.model)
"""
EXPECTED = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["0-306-40615-2"]}
SCHEMA = {"type": "array", "items": {"type": "isbn"}}
ANSWERS = {7: ("0306406152", "success"), 8: ("0-306-40615-2", "failure"), 9: ("0306406153", "failure")}
SCORE = """
import pytest_webeval
print(pytest_webeval.score_run("runs", "7", pytest_webeval.ScoreSettings(only=("ShortEvaluator",))).status)
for result in pytest_webeval.score_runs("runs", output="from_python"):
    print(result.task_id, result.status)
"""


@pytest.fixture
def shop(tmp_path):
    """Runs a command where the package is installed, and three runs of its format are."""
    dist = tmp_path / "packages/shop_webeval-1.dist-info"
    dist.mkdir(parents=True)
    (dist / "METADATA").write_text("Metadata-Version: 2.1\nName: shop-webeval\nVersion: 1\n")
    (dist / "entry_points.txt").write_text(POINTS)
    (tmp_path / "packages/shop_webeval.py").write_text(MODULE)
    tasks = []
    for number, (answer, _) in ANSWERS.items():
        run = tmp_path / "runs" / str(number)
        run.mkdir(parents=True)
        (run / "answer.txt").write_text(answer)
        (run / "network.har").write_text(json.dumps({"log": {"entries": [navigation()]}}))
        task = definition(number)
        task["eval"] = [task["eval"][0] | {"expected": EXPECTED, "results_schema": SCHEMA}]
        task["eval"].append({"evaluator": "ShortEvaluator", "most": 12})
        tasks.append(task)
    (tmp_path / "runs/tasks.json").write_text(json.dumps(tasks))
    paths = os.pathsep.join([str(tmp_path / "packages"), os.environ.get("PYTHONPATH", "")])

    def run_command(*arguments):
        environment = os.environ | {"PYTHONPATH": paths}
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    return tmp_path, run_command


def read_statuses(place):
    rows = json.loads((place / "eval_summary.json").read_text())["task_results"]
    return {row["task_id"]: row["status"] for row in rows}


STATUSES = {number: status for number, (_, status) in ANSWERS.items()}


@pytest.mark.parametrize(
    "command",
    [
        ("-m", "pytest", "--webeval-runs=runs", "--webeval-output=out", "-p", "no:cacheprovider"),
        ("-m", "pytest", "--webeval-runs=runs", "--webeval-output=out", "-p", "no:cacheprovider", "-n", "2"),
        ("-m", "pytest_webeval", "score", "runs", "--output", "out"),
        ("-m", "pytest_webeval", "score", "runs", "--output", "out", "--executor", "process:2"),
    ],
    ids=["pytest", "xdist", "score", "processes"],
)
def test_every_front_end_has_what_a_package_adds(shop, command):
    place, run = shop
    finished = run(*command)
    assert (finished.returncode, read_statuses(place / "out")) == (1, STATUSES), finished.stdout + finished.stderr


def test_python_export_and_lint_have_it_as_well(shop):
    _, run = shop
    scored = run("-c", SCORE)
    chosen, *lines = scored.stdout.splitlines()
    assert chosen == "success"
    assert dict(line.split() for line in lines) == {str(key): STATUSES[key] for key in STATUSES}
    exported = run("-m", "pytest_webeval", "export", "from_python", "--to", "statuses")
    assert exported.stdout.splitlines() == lines
    assert run("-m", "pytest_webeval", "lint", "runs/tasks.json").returncode == 0
    assert run("-m", "pytest_webeval", "lint", "runs/tasks.json").stdout.count("isbn") == 0


def test_an_option_names_a_judge_of_a_package(shop):
    _, run = shop
    judged = run(
        *("-m", "pytest", f"--webeval-runs={ROOT / 'example_suite/unjudged'}", "--webeval-output=out", "-q"),
        *("--webeval-judge=shop-judge-1", "--webeval-judge-method=webvoyager", "--webeval-judge-mode=live"),
    )
    assert "3 scored: 3 success" in judged.stdout
    assert "judge shop-judge-1 (webvoyager" in judged.stdout


@pytest.mark.parametrize(
    ("point", "message"),
    [
        (
            "value_types]\ndate = shop_webeval:IsbnValue",
            "is called 'date' among the value_types, as is one of pytest-webeval",
        ),
        ("formats]\natif = shop_webeval:TextFormat", "is called 'atif' among the formats, as is one of pytest-webeval"),
        (
            "formats]\nother = shop_webeval:TextFormat",
            "has the name 'answer-text', expected 'other' as its",
        ),
        ("formats]\nother = shop_webeval:POINT", "5 has the name None, expected 'other' as its entry point is called"),
        ("formats]\nother = leaving:TextFormat", "cannot use leaving:TextFormat, 'other' of pytest_webeval.formats"),
        ("evaluators]\nLost = gone:Lost", "cannot use gone:Lost, 'Lost' of pytest_webeval.evaluators: ModuleNotFound"),
        (
            "evaluators]\nOther = shop_webeval:IsbnValue",
            "has the name None, expected 'Other' as its entry point is called",
        ),
        ("value_types]\nother = shop_webeval:IsbnValue", "is not a subclass of Value whose type_name is 'other'"),
    ],
)
def test_what_cannot_be_used_ends_the_session_with_one_line(shop, point, message):
    place, run = shop
    (place / "packages/leaving.py").write_text("import sys; sys.exit(0)")
    (place / "packages/shop_webeval-1.dist-info/entry_points.txt").write_text(f"[pytest_webeval.{point}")
    for command in (("pytest_webeval", "score", "runs", "--output", "out"), ("pytest", "--webeval-runs=runs")):
        finished = run("-m", *command)
        assert finished.returncode == 4, finished.stdout + finished.stderr
        assert message in finished.stderr
        assert len(finished.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("returned", ["[]", "''", "[5]", "[webeval.Assertion(assertion_name='a', status='failed')]"])
def test_a_function_that_checks_nothing_is_an_error(returned):
    names = {}
    exec(f"import pytest_webeval as webeval\ndef check(expectation, case): return {returned}", names)
    evaluator = build_evaluator("Own", names["check"])
    with pytest.raises(EvaluationError, match="return one Assertion or more, each with a Status"):
        evaluator.evaluate(None, None)


def test_a_format_of_a_package_may_read_any_file_of_a_run_in_a_store(monkeypatch):
    assert not RunScorer(SimpleNamespace(formats=()), [ResponseEvaluator()]).has_own_code
    monkeypatch.setattr(run_scoring, "load_installed", lambda: {"answer-text": object()})
    assert RunScorer(SimpleNamespace(formats=()), [ResponseEvaluator()]).has_own_code
