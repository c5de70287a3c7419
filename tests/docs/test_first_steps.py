"""The README is short, its two commands and the recipes for CI fit their purpose, and its links lead somewhere."""

import re
import tomllib
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
    judge = "--webeval-judge=example-judge --webeval-judge-replies=example_suite/judge_replies"
    roots = "--webeval-runs=example_suite/runs --webeval-runs=example_suite/unjudged"
    assert first.endswith(f".venv/bin/pytest {roots} {judge} --webeval-report=report")
    assert second.endswith(".venv/bin/pytest -n 2")
    assert f"$ {first}\n" in (ROOT / "docs/getting-started.md").read_text("utf-8")


def test_each_recipe_for_ci_installs_from_the_repository():
    assert len(RECIPES) == 2
    for recipe in RECIPES:
        assert re.findall(r"pip install.*", recipe) == [INSTALLED]
        assert re.findall(r"PYTEST_WEBEVAL: (.*)", recipe) == ["https://git.example/pytest-webeval.git@main"]


def test_the_recipe_for_the_history_reads_what_the_session_uploads():
    (recipe,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/how-to/history.md").read_text("utf-8"), re.DOTALL)
    (name,) = re.findall(r"gh run download .* --name (\S+)", recipe)
    assert f"          name: {name}\n          path: results/eval_summary.json\n" in RECIPES[0]
    assert re.findall(r"pip install.*", recipe) == [INSTALLED.replace("[xdist]", "")]
    assert "webeval history summaries/*/" in recipe


def test_the_readme_links_to_every_page_of_the_manual_that_it_names():
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert len(links) > 20
    assert not [link for link in links if not link.startswith("../../actions/") and not (ROOT / link).is_file()]


def test_the_badges_say_what_the_project_declares():
    badges = dict(re.findall(r"^\[!\[(\w+)\]\((\S+)\)\]\(\S+\)$", README, re.MULTILINE))
    assert list(badges) == ["CI", "PyPI", "License", "Python", "mypy"]
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project = declared["project"]
    (workflow,) = re.findall(r"^\.\./\.\./actions/workflows/(.*)/badge\.svg$", badges["CI"])
    assert (ROOT / ".github/workflows" / workflow).is_file()
    assert badges["PyPI"].endswith(f"/{project['name']}")
    assert badges["License"].endswith(f"/license-{project['license'].replace('-', '--')}-blue")
    assert badges["Python"].endswith(f"/python-{project['requires-python'].removeprefix('>=')}+-blue")
    assert badges["mypy"].endswith("/mypy-strict-blue")
    assert declared["tool"]["mypy"]["strict"]
