"""What CONTRIBUTING.md, `.ci/run` and the workflows name exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
JOBS = ("browser", "exports", "hostile", "libraries", "parity", "rest")
CALLERS = ["CONTRIBUTING.md", ".ci/run", ".github/workflows/ci.yml"]
# `for name in a b` of .ci/run, `session: [a, b]` of a matrix, `nox -s a b`, `--session a b`.
CALLS = re.compile(r"for name in ([\w ]+);|session: \[([\w, ]+)\]|(?: -s|--session) ([\w. -]+)")


def sessions():
    tree = ast.parse((ROOT / "noxfile.py").read_text("utf-8"))
    decorated = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.decorator_list)
    return {node.name for node in decorated if "nox.session" in ast.unparse(node.decorator_list[0])}


def called(text):
    names = [re.findall(r"[a-z]+", "".join(groups)) for groups in CALLS.findall(text)]
    return {name for group in names for name in group}


@pytest.mark.parametrize("caller", CALLERS)
def test_the_sessions_that_are_called_exist(caller):
    names = called((ROOT / caller).read_text("utf-8"))
    assert len(names) >= 5
    assert names <= sessions()


def test_ci_calls_every_session_but_those_that_the_readme_or_a_job_of_their_own_covers():
    assert called((ROOT / ".ci/run").read_text("utf-8")) == sessions() - {"exports", "fast", "tests"}
    assert {*JOBS} <= called((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))


def test_the_fast_session_names_folders_that_exist():
    (folders,) = re.findall(r"^PURE = (\[.*?\])", (ROOT / "noxfile.py").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert [folder for folder in ast.literal_eval(folders) if not (ROOT / "tests" / folder).is_dir()] == []


def test_the_paths_in_the_text_exist():
    paths = re.findall(r"`(?:python )?((?:pytest_webeval/|tests|\.ci|pyproject)[\w./]*)`", CONTRIBUTING)
    assert len(paths) > 8
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_names_in_the_lists_are_defined():
    lists = CONTRIBUTING.partition("### Add a value type")[2].partition("## Style guide")[0]
    names = set(re.findall(r"`(\w+)(?:\(.*?\))?`", lists))
    paths = [
        path for folder in ("pytest_webeval", "tests/hostile", "tests/plugin") for path in (ROOT / folder).rglob("*.py")
    ]
    source = "\n".join(path.read_text("utf-8") for path in paths)
    defined = {*re.findall(r"\b(?:class|def) (\w+)", source), *re.findall(r"^ *(\w+)(?::| =)", source, re.MULTILINE)}
    assert {"VALUE_TYPES", "parse_error", "FORMATS", "RunInputs", "Settings"} <= names
    assert names <= defined


def test_the_contract_that_a_format_is_added_to_exists():
    (name,) = re.findall(r'contract\s+"(.*?)"', CONTRIBUTING)
    assert f'name = "{name}: ' in (ROOT / "pyproject.toml").read_text("utf-8")
