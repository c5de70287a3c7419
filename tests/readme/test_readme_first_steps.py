"""The README's first command and its recipes for CI fit what they are for."""

import re
from pathlib import Path

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
RECIPES = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
INSTALLED = 'pip install "pytest-webeval[xdist] @ git+$PYTEST_WEBEVAL"'


def test_the_first_command_scores_a_few_small_runs_in_one_process():
    first, second = (line for line in README.splitlines() if "python3 -m venv" in line)
    assert first.endswith(".venv/bin/pytest --webeval-runs=example_suite/runs --webeval-report=report")
    assert second.endswith(".venv/bin/pytest -n 2")


def test_each_recipe_for_ci_installs_from_the_repository():
    assert len(RECIPES) == 2
    for recipe in RECIPES:
        assert re.findall(r"pip install.*", recipe) == [INSTALLED]
        assert re.findall(r"PYTEST_WEBEVAL: (.*)", recipe) == ["https://git.example/pytest-webeval.git@main"]
