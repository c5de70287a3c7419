"""The README is short, its two commands and the recipes for CI fit their purpose, and its links lead somewhere."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
RECIPES = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/how-to/ci.md").read_text("utf-8"), re.DOTALL)
INSTALLED = 'pip install "pytest-webeval[xdist] @ git+$PYTEST_WEBEVAL"'
LONGEST = 900  # words


def test_the_readme_is_short():
    assert len(README.split()) <= LONGEST


def test_the_first_command_scores_a_few_small_runs_in_one_process():
    first, second = (line for line in README.splitlines() if "python3 -m venv" in line)
    assert first.endswith(".venv/bin/pytest --webeval-runs=example_suite/runs --webeval-report=report")
    assert second.endswith(".venv/bin/pytest -n 2")
    assert f"$ {first}\n" in (ROOT / "docs/getting-started.md").read_text("utf-8")


def test_each_recipe_for_ci_installs_from_the_repository():
    assert len(RECIPES) == 2
    for recipe in RECIPES:
        assert re.findall(r"pip install.*", recipe) == [INSTALLED]
        assert re.findall(r"PYTEST_WEBEVAL: (.*)", recipe) == ["https://git.example/pytest-webeval.git@main"]


def test_the_readme_links_to_every_page_of_the_manual_that_it_names():
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert len(links) > 20
    assert not [link for link in links if not (ROOT / link).is_file()]
