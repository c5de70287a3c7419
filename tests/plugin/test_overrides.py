"""Whoever overrides a fixture of ours decides about every run, whichever run comes first and whoever scores it."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.plugin.test_fixtures import OVERRIDES
from tests.support.sessions import read_files

STRICT = OVERRIDES["webeval_response"]
RAISED = "overridden"
NAMED = STRICT.replace("@pytest.fixture", '@pytest.fixture(name="webeval_response")').replace(
    "def webeval_response", "def mine"
)
OF_OURS = """
    import pytest
    from pytest_webeval.evaluators import default_evaluators

    @pytest.fixture
    def webeval_evaluators():
        return [each for each in default_evaluators() if each.name != "AgentResponseEvaluator"]
"""
WRAPPED = """
    import functools
    import pytest
    from pytest_webeval.plugin import fixtures

    @pytest.fixture
    @functools.wraps(fixtures.find_run, assigned=("__module__",), updated=())
    def webeval_response():
        pytest.fail("overridden")
"""
KINDS = {
    **OVERRIDES,
    "autouse": STRICT.replace("@pytest.fixture", "@pytest.fixture(autouse=True)"),
    "named": NAMED,
    "without one of ours": OF_OURS,
    "with our module's name": WRAPPED,
}


@pytest.fixture
def five(runs):
    """Five runs, of which the first cannot be read."""
    for number in range(101, 106):
        runs.add(number)
    (runs.root / "101/network.har").write_text("{")
    return runs


def list_checksums(runs):
    scored = [result for number in range(102, 106) if (result := runs.result(number))["evaluators_results"]]
    return [result["webarena_verified_evaluator_checksum"] for result in scored]


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize("name", KINDS)
def test_an_override_counts_for_the_runs_after_a_broken_one(five, webeval, pytester, ordinary, name):
    pytester.makeconftest(KINDS[name])
    webeval()
    assert ordinary == [101, 102, 103, 104, 105]
    assert five.counts[0] == 0
    assert len(set(list_checksums(five))) <= 1


PLACES = {
    "an option": ("", ("-pshop",)),
    "an option before ours": ("", ("-pshop", "-pwebeval")),
    "pytest_plugins": ("pytest_plugins = ['shop']", ()),
}


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize("name", ["webeval_response", "webeval_evaluators", "named", "webeval_run"])
@pytest.mark.parametrize("place", PLACES)
def test_an_override_of_a_plugin_counts_for_each_run(five, webeval, pytester, monkeypatch, ordinary, place, name):
    conftest, options = PLACES[place]
    pytester.makepyfile(shop=KINDS[name])
    pytester.makeconftest(conftest)
    monkeypatch.syspath_prepend(pytester.path)
    webeval(*options)
    assert ordinary == [101, 102, 103, 104, 105]
    assert five.counts[0] == 0


def test_an_override_of_a_conftest_comes_before_that_of_a_plugin(five, webeval, pytester, monkeypatch):
    pytester.makepyfile(shop=STRICT)
    pytester.makeconftest(STRICT.replace(RAISED, "nearer"))
    monkeypatch.syspath_prepend(pytester.path)
    webeval("-pshop")
    assert [("nearer" in five.result(number)["error_msg"]) for number in (102, 105)] == [True, True]


def test_an_override_of_a_plugin_holds_in_python_tests(five, webeval, pytester, monkeypatch):
    pytester.makepyfile(shop=STRICT, test_all="def test_all(webeval_response): webeval_response.check()")
    monkeypatch.syspath_prepend(pytester.path)
    result = webeval("-pshop", "test_all.py")
    result.assert_outcomes(failed=4, errors=1)
    result.stdout.fnmatch_lines([f"*{RAISED}*"])


def test_an_override_holds_below_its_directory_alone(another_root, webeval_over, pytester, ordinary):
    for name in ("near", "far"):
        runs = another_root(f"{name}/runs")
        for number in range(101, 105):
            runs.add(number)
        (runs.root / "101/network.har").write_text("{")
    (pytester.path / "near/conftest.py").write_text(dedent(STRICT))
    webeval_over(["near/runs", "far/runs"]).assert_outcomes(passed=3, errors=2, failed=3)
    assert ordinary == [101, 102, 103, 104, 101, 104]


def test_a_fixture_with_parameters_is_an_error_of_each_run(five, webeval, pytester):
    pytester.makeconftest(STRICT.replace("@pytest.fixture", "@pytest.fixture(params=[1, 2])"))
    webeval().assert_outcomes(errors=5)
    assert five.counts == (0, 0, 5)


@pytest.mark.whole
@pytest.mark.parametrize("options", [("-n2",), ("--webeval-workers=2",)], ids=str)
def test_processes_change_no_result(five, webeval_apart, pytester, options):
    pytester.makeconftest(STRICT)
    assert webeval_apart().ret == pytest.ExitCode.TESTS_FAILED
    alone = read_files(five.root)
    webeval_apart(*options)
    assert read_files(five.root) == alone
    assert five.counts == (0, 0, 5)
