"""Keywords in brackets match exactly: sites, templates and types as well as tasks, and Python tests of a run."""

from __future__ import annotations

import pytest

from tests.support import recorded

SMALL = "def test_small(webeval_run): pass"
CHOSEN_BY_HAND = """
import pathlib, pytest
root = pathlib.Path(__file__).parent / "runs"
@pytest.mark.parametrize("webeval_run", [root / "10", root / "11"], indirect=True)
def test_small(webeval_run): pass
"""


@pytest.fixture
def chosen(webeval):
    """Node ids that an expression selects."""

    def selected(expression, *arguments):
        lines = webeval("--collect-only", "-q", "-k", expression, *arguments).stdout.lines
        return [line for line in lines if "::" in line]

    return selected


def test_sites_templates_and_types_in_brackets_match_exactly(runs, chosen):
    runs.add(1, site="shopping", template=4)
    runs.add(2, site="shopping_admin", template=400, kind="mutate")
    runs.add(3, site="shopping_admin-shopping", template=44, kind="navigate")
    assert chosen("shopping") == ["runs/1::task", "runs/2::task", "runs/3::task"]
    assert chosen("[shopping]") == ["runs/1::task", "runs/3::task"]
    assert chosen("not [shopping_admin]") == ["runs/1::task"]
    assert chosen("not template_4") == []
    assert chosen("not [template_4]") == ["runs/2::task", "runs/3::task"]
    assert chosen("[mutate] or [navigate]") == ["runs/2::task", "runs/3::task"]
    assert chosen("[webarena-verified] and [2]") == ["runs/2::task"]


def test_missing_tasks_have_the_same_keywords(runs, chosen):
    runs.add(1)
    runs.define(runs.definition(40, template=4), runs.definition(41, template=40))
    assert chosen("[template_4] and [shopping]", "--webeval-require-all") == ["runs/40::missing"]
    assert chosen("missing", "--webeval-require-all") == ["runs/40::missing", "runs/41::missing"]


def test_python_tests_of_a_run_are_selected_with_it(runs, chosen, pytester):
    runs.add(10, site="gitlab")
    runs.add(101, name="more/101", template=4)
    module = "test_of_mine.py"
    (pytester.path / module).write_text(SMALL)
    assert chosen("[101]", "runs", module) == ["runs/more/101::task", f"{module}::test_small[runs/more/101]"]
    assert chosen("[template_4]", module) == [f"{module}::test_small[runs/more/101]"]
    assert chosen("[10] or [gitlab]", module) == [f"{module}::test_small[runs/10]"]


def test_a_python_test_of_a_directory_without_a_run_is_selected_by_its_name(runs, chosen, pytester):
    runs.add(10)
    (runs.root / "11").mkdir()
    (pytester.path / "test_of_mine.py").write_text(CHOSEN_BY_HAND)
    assert chosen("[11]", "test_of_mine.py") == ["test_of_mine.py::test_small[webeval_run1]"]


def test_trajectories_are_selected_by_benchmark_exactly(runs, chosen, tree):
    tree("Amazon--1")
    root = f"runs/{recorded.RUN}"
    assert chosen("[fara]") == [f"{root}/Amazon--1::task"]
    assert chosen("[Amazon--1]") == [f"{root}/Amazon--1::task"]
    assert chosen("[Amazon--]") == []


def test_a_rerun_command_names_the_run_where_a_site_is_called_like_the_task(runs, webeval, tree, pytester):
    tree("shopping", answer=b"{")
    tree("other", answer=b"{")
    runs.add(1)
    output = webeval("--webeval-report=report").stdout.str()
    assert "[shopping]" not in output
    assert f"runs/{recorded.RUN}/shopping::task" in output
    pages = "".join(path.read_text() for path in (pytester.path / "report" / "data").iterdir())
    assert "[other]" in pages
    assert "[shopping]" not in pages
