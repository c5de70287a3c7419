"""The names of `pytest_webeval`: loaded on first use, without pytest, and the same for type checkers."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_webeval
from pytest_webeval.recordings.discovery import list_directory

NEW = {"EvaluationError", "RunExcluded", "SettingsError", "TaskDefinitionError", "RunFormat", "RunInputs", "Rules"}
NEW |= {"RedactionPolicy", "Redactor", "load_trace"}
LOADS = """
import sys
import pytest_webeval
early = [name for name in sys.modules if name.startswith("pytest_webeval.")]
objects = [getattr(pytest_webeval, name) for name in pytest_webeval.__all__]
print(len(objects), early, "pytest" in sys.modules, "pydantic" in sys.modules)
"""


def test_all_names_are_loaded_on_first_use_and_without_pytest():
    done = subprocess.run([sys.executable, "-c", LOADS], capture_output=True, text=True, check=True)
    assert done.stdout == f"{len(pytest_webeval.__all__)} [] False False\n"
    assert set(pytest_webeval.__all__) >= NEW


def test_type_checkers_see_the_same_names_with_the_same_homes():
    nodes = ast.parse(Path(pytest_webeval.__file__).with_suffix(".pyi").read_text("utf-8")).body
    *imports, names = [node for node in nodes if isinstance(node, ast.ImportFrom | ast.Assign)]
    homes = {alias.asname: node.module.removeprefix("pytest_webeval.") for node in imports for alias in node.names}
    assert homes == pytest_webeval._HOMES
    assert ast.literal_eval(names.value) == sorted(pytest_webeval.__all__)


def test_a_format_without_a_method_is_refused_when_it_is_made():
    class Half(pytest_webeval.RunFormat):
        name = "half"
        expected_files = "half.txt"

        def recognizes(self, path):
            return (path / "half.txt").is_file()

    with pytest.raises(TypeError, match=r"abstract method '?load'?"):
        Half()


def test_a_format_needs_neither_of_the_two_methods_for_listed_directories(tmp_path):
    class Whole(pytest_webeval.RunFormat):
        def recognizes(self, path):
            return path == tmp_path

        def load(self, path, label, rules):
            raise NotImplementedError

    listing = list_directory(tmp_path)
    assert Whole().recognizes_listing(listing)
    assert not Whole().has_typical_file(listing)
