"""The reference pages name what there is."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from definition_keys import EVALUATORS, list_keys

import pytest_webeval
from pytest_webeval.lint.checks import CHECKS
from pytest_webeval.results import Assertion, EvaluatorResult
from pytest_webeval.rules import QUIRKS
from pytest_webeval.safety.limits import Limits
from pytest_webeval.scoring.provenance import DECIDING
from pytest_webeval.tasks.task import DefinedTask
from pytest_webeval.values import VALUE_TYPES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = runpy.run_path(str(DOCS / "_ext/generated.py"))


def page(name):
    """A page as Sphinx reads it."""
    return GENERATED["expand"]((DOCS / name).read_text("utf-8"))


def in_first_cells(name):
    """The code in the first cells of the tables of a page."""
    rows = re.findall(r"^\| (.*?) \|", page(name), re.MULTILINE)
    return {code for row in rows for code in re.findall(r"`([^`]+)`", row)}


def test_every_option_and_ini_key_is_in_the_reference():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    options = set(re.findall(r"^ +(--webeval-[\w-]+)", done.stdout, re.MULTILINE))
    keys = set(re.findall(r"^ +(webeval_\w+)", done.stdout, re.MULTILINE))
    assert len(options) > 20
    assert len(keys) > 20
    text = page("reference/options.md")
    assert not [option for option in options if not re.search(rf"`{option}[=`]", text)]
    assert not [key for key in keys if f"`{key}`" not in text]


@pytest.mark.parametrize(
    ("name", "things"),
    [
        ("reference/rules.md", [f"| {quirk.number} |" for quirk in QUIRKS]),
        ("reference/value-types.md", [f"| `{name}` |" for name in VALUE_TYPES]),
        (
            "reference/eval-keys.md",
            [
                *(f"## {name}\n" for name in EVALUATORS),
                *(f"| `{key.name}` | " for struct in (DefinedTask, *EVALUATORS.values()) for key in list_keys(struct)),
                *(f"| `{name}` |" for name in VALUE_TYPES),
            ],
        ),
        ("reference/limits.md", [f"| `{name}` |" for name in Limits.__dataclass_fields__]),
        ("reference/python-api.md", [f":: pytest_webeval.{name}\n" for name in pytest_webeval.__all__]),
        ("how-to/lint-tasks.md", [f"| `{check.name}` |" for check in CHECKS]),
        ("reference/fixtures.md", ["## webeval_run\n", "## record_evaluation\n", "## webeval_tasks\n"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_generated_page_has_all_rows(name, things):
    text = page(name)
    assert things
    assert not [thing for thing in things if thing not in text]


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """The files of two sessions, the second with all that adds keys to them, and its JUnit XML."""
    scratch = tmp_path_factory.mktemp("reference")
    for name in ("runs", "trajectories/runs"):
        ignore = shutil.ignore_patterns("eval_*.json")
        shutil.copytree(ROOT / "example_suite" / name, scratch / Path(name).parts[0], ignore=ignore)
    shutil.copy(ROOT / "example_suite/config.json", scratch)
    (scratch / "pytest.ini").write_text("[pytest]\nwebeval_limits = entries = 100000\n", "utf-8")
    (scratch / "empty").mkdir()
    command = (sys.executable, "-m", "pytest", "--webeval-runs=runs", "--webeval-runs=trajectories")
    command += ("--webeval-config=config.json", "--webeval-output=out", "--junitxml=junit.xml")
    shutil.copytree(scratch / "runs/101", scratch / "out/runs/999")
    for options in ((), ("--webeval-baseline=before.json",)):
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        subprocess.run([*command, *options], cwd=scratch, env=environment, capture_output=True, check=False)
        shutil.copy(scratch / "out/eval_summary.json", scratch / "before.json")
    return scratch


@pytest.mark.whole
def test_every_key_of_the_result_files_is_in_the_reference(session):
    keys = {name for struct in (EvaluatorResult, Assertion) for name in struct.__struct_fields__}
    keys -= {"explanation"}  # which files have under `webeval`
    for path in (session / "out").rglob("eval_*.json"):
        content = json.loads(path.read_text("utf-8"))
        keys |= content.keys() | content["webeval"].keys()
    assert {
        "per_site_summary",
        "task_revision",
        "trajectory",
        "limits",
        "redacted",
        "baseline",
        "explanations",
        "trajectories",
    } <= keys
    assert not sorted(keys - in_first_cells("reference/result-files.md") - in_text("reference/result-files.md"))


def in_text(name):
    return set(re.findall(r"`(\w+)`", page(name)))


def test_the_junit_properties_are_those_of_the_reference(session):
    properties = {each.get("name") for each in ET.parse(session / "junit.xml").iter("property")}
    elsewhere = {"webeval_partial_score", "webeval_recording"}  # which no run of the suite has
    assert properties == in_first_cells("reference/junit-properties.md") - elsewhere


def test_the_architecture_page_names_files_and_tables_that_exist():
    rows = re.findall(r"^\| [^|]+\? \| (.*) \|$", page("explanation/architecture.md"), re.MULTILINE)
    assert len(rows) > 8
    for row in rows:
        names = re.findall(r"`([\w/.]+)`", row)
        paths = [name for name in names if "/" in name or name.endswith(".py")]
        assert not [path for path in paths if not (ROOT / "pytest_webeval" / path).exists()], row
        *_, module = paths
        for table in set(names) - set(paths):
            home = module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            assert hasattr(import_module(f"pytest_webeval.{home}"), table), row


def test_the_layers_are_those_of_the_import_contract():
    contract = re.search(r'containers = \["pytest_webeval"\].*?layers = \[(.*?)\]', pyproject(), re.DOTALL)
    layers = re.findall(r'"(.*?)"', contract[1])
    picture = (
        page("explanation/architecture.md").partition("## Layers")[2].partition("```text\n")[2].partition("```")[0]
    )
    shown = [re.split(r"\s{2,}", line.strip())[0] for line in picture.splitlines()]
    assert shown == layers


def test_the_packages_that_decide_are_those_of_the_checksum():
    sentence = page("explanation/architecture.md").partition("checksum of their code: ")[2].partition("Redaction")[0]
    assert tuple(re.findall(r"`([\w.]+)`", sentence)) == DECIDING


def pyproject():
    return (ROOT / "pyproject.toml").read_text("utf-8")
