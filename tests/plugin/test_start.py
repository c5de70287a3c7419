"""What a session imports: what its runs need, as Python itself imports it, and nothing else."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

# Before the first test, what a process has loaded; at its end, what it has loaded of ours, and who loaded that.
TELLING = """
import os
import sys
from pathlib import Path

def pytest_collection_finish():
    Path(__file__).with_name("before").write_text("\\n".join(sorted(sys.modules)))

def pytest_unconfigure():
    ours = [found for name, found in sorted(sys.modules.items()) if name.partition(".")[0] == "pytest_webeval"]
    lines = [f"{one.__name__} {type(one.__spec__.loader).__name__}" for one in ours]
    Path(__file__).with_name(os.environ.get("PYTEST_XDIST_WORKER", "main")).write_text("\\n".join(lines))
"""
# All of what pytest_webeval loads for a run that passes; what a failure needs comes with the first failure.
LISTED = Path(__file__).with_name("loaded_before_first_test.txt")
# Of these parts a session without trajectories needs what they share with other runs.
SHARED = {"recordings.trajectory": {"", ".layout"}, "rubrics": {"", ".policy"}}
SELDOM = {
    "diagnostics.difference",
    "evaluators.rubric_verdict",
    "plugin.audit",
    "plugin.reporting.attachments",
    "plugin.reporting.html_policy",
    "plugin.reporting.pytest_html",
    "recordings.formats.fara_trajectory",
    "redaction.redactor",
    "summary.trajectories.metrics_json",
    "summary.trajectories.trajectory_rows",
    "summary.trajectories.trajectory_statistics",
    "tasks.lenient_models",
    "tasks.subset",
    "values.transliteration",
}


@pytest.fixture
def loaded(pytester, monkeypatch):
    """Which of our modules a process has loaded, with the loader of each, by names without that of the package."""
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)  # of the process that runs this test
    pytester.makeconftest(TELLING)

    def read(process="main"):
        lines = (pytester.path / process).read_text().splitlines()
        pairs = (line.split(" ") for line in lines)
        return {name.removeprefix("pytest_webeval").lstrip("."): loader for name, loader in pairs}

    return read


def test_what_is_loaded_before_the_first_test_is_on_the_list(runs, webeval_apart, pytester, loaded):
    pytester.makepyfile("def test_nothing(): pass")
    pytester.runpytest_subprocess("-pno:hypothesispytest", "-pno:benchmark", "-pno:rerunfailures")
    idle = set((pytester.path / "before").read_text().splitlines())
    runs.add(107)
    webeval_apart("-pno:benchmark", "-pno:rerunfailures").assert_outcomes(passed=1)
    added = set((pytester.path / "before").read_text().splitlines()) - idle
    ours = {name for name in added if name.startswith("pytest_webeval.")}
    libraries = {name.partition(".")[0] for name in added - ours} - sys.stdlib_module_names
    assert libraries - {"typing_extensions"} == {"msgspec"}  # which loads the other where it is installed
    assert sorted(ours) == LISTED.read_text().splitlines(), f"add to {LISTED.name} what each run that passes needs"


def test_a_session_without_trajectories_loads_nothing_that_only_they_need(runs, webeval_apart, loaded):
    runs.add(107)
    webeval_apart().assert_outcomes(passed=1)
    found = {
        part: {name.removeprefix(part) for name in loaded() if f"{name}.".startswith(f"{part}.")} for part in SHARED
    }
    assert found == SHARED


@pytest.mark.whole
def test_a_session_with_a_trajectory_loads_them(tree, webeval_apart, loaded):
    tree("a")
    webeval_apart().assert_outcomes(passed=1)
    assert {
        "evaluators.rubric_verdict",
        "recordings.formats.fara_trajectory",
        "recordings.trajectory.log",
        "summary.trajectories.trajectory_statistics",
    } <= loaded().keys()
    assert "tasks.lenient_models" not in loaded()  # which imports pydantic


@pytest.mark.whole
def test_a_session_loads_what_few_ask_for_only_when_they_do(runs, webeval_apart, loaded):
    runs.add(107)
    webeval_apart().assert_outcomes(passed=1)
    assert all(find_spec(f"pytest_webeval.{name}") for name in SELDOM)
    assert SELDOM & loaded().keys() == set()


def test_a_session_loads_the_value_types_of_its_tasks_alone(runs, webeval_apart, loaded):
    runs.add(107)
    webeval_apart().assert_outcomes(passed=1)
    found = {name.removeprefix("values.") for name in loaded() if name.startswith("values.")}
    assert found == {"base", "comparison", "matching", "schema", "string", "text", "url_normalization"}


@pytest.mark.whole
def test_workers_do_not_load_what_sums_up(runs, webeval_apart, loaded):
    runs.add(107)
    webeval_apart("-n1", "-p", "xdist").assert_outcomes(passed=1)
    assert "plugin.reporting.controller" in loaded()
    assert {"plugin.reporting.controller", "reports.terminal"}.isdisjoint(loaded("gw0"))
    assert "plugin.runtest.evaluation" in loaded("gw0")


def test_pytest_does_not_rewrite_our_modules_once_there_are_runs(runs, pytester, webeval_apart, loaded):
    pytester.makepyfile(as_installed="import pytest\npytest.register_assert_rewrite('pytest_webeval')")
    runs.add(107)
    webeval_apart("-p", "as_installed").assert_outcomes(passed=1)
    rewritten = {name for name, loader in loaded().items() if loader == "AssertionRewritingHook"}
    assert rewritten == {"", "plugin"} | {
        *(f"plugin.{name}" for name in ("entry", "hookspecs", "performance", "settings", "settings.options")),
        "sessions",
        "sessions.settings",
        "sessions.settings.options",
    }


def test_a_session_leaves_no_way_of_importing_behind(runs, pytester):
    runs.add(107)
    script = pytester.makepyfile(
        start="""
        import sys
        import pytest
        before = list(sys.meta_path)
        assert pytest.main(["--webeval-runs=runs", "-p", "no:hypothesispytest"]) == 0
        assert "pytest_webeval.plugin.performance" in sys.modules
        assert sys.meta_path == before
        """
    )
    assert pytester.runpython(script).ret == 0
