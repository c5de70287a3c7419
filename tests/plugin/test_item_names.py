"""Other reports call an item by its task, while its node id stays."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest


@pytest.fixture
def cases(pytester):
    """Class name and name of each test case in junit.xml, sorted."""
    tree = lambda: ET.parse(pytester.path / "junit.xml")  # noqa: E731
    return lambda: sorted((one.get("classname"), one.get("name")) for one in tree().iter("testcase"))


@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.whole)])
@pytest.mark.parametrize("family", ["xunit1", "xunit2"])
def test_junit_cases_are_named_by_their_tasks(runs, webeval_apart, cases, workers, family):
    runs.add(107)
    runs.add(108, passes=False)
    runs.add(109, name="again/0109")
    runs.define(runs.definition(110), runs.definition(111))
    (runs.root / "111").mkdir()
    options = ("-n", workers, "-o", f"junit_family={family}", "--junitxml=junit.xml", "--webeval-require-all")
    webeval_apart(*options, "runs")
    again = ("runs.again.0109", "109")
    assert cases() == [("runs", "107"), ("runs", "108"), ("runs", "110"), ("runs", "111"), again]


def test_junit_keeps_its_prefix_and_the_names_of_python_tests(runs, webeval, cases, pytester):
    runs.add(107)
    (module := pytester.path / "test_of_mine.py").write_text("def test_more(webeval_run): pass")
    webeval("runs", str(module), "--junitxml=junit.xml", "--junitprefix=nightly")
    assert cases() == [("nightly.runs", "107"), ("nightly.test_of_mine", "test_more[runs/107]")]


def test_a_test_case_of_a_failed_run_whose_teardown_fails_too_is_named_by_its_task(runs, webeval, cases, pytester):
    runs.add(107, passes=False)
    pytester.makeconftest(
        """
        import pytest
        @pytest.fixture(autouse=True)
        def broken():
            yield
            raise RuntimeError("no cleanup")
        """
    )
    webeval("--junitxml=junit.xml")
    assert cases() == [("runs", "107"), ("runs", "107")]


@pytest.mark.whole
def test_a_run_that_ends_its_worker_is_named_by_its_directory(runs, webeval_apart, cases, pytester):
    runs.add(107)
    pytester.makeconftest(
        """
        import os, pytest
        @pytest.fixture
        def webeval_response():
            os._exit(1)
        """
    )
    webeval_apart("-n", "1", "--max-worker-restart=0", "--junitxml=junit.xml")
    assert ("runs", "107") in cases()
    assert not any(name == "task" for _, name in cases())


def test_an_odd_task_id_is_spelled_in_ascii(runs, webeval, cases, tree):
    tree("Books \u202eä")
    webeval("--junitxml=junit.xml")
    assert [name for _, name in cases()] == ["Books %E2%80%AE%C3%A4"]


def test_the_item_is_called_by_its_task_for_plugins_such_as_allure(runs, webeval, pytester):
    runs.add(107, name="0107")
    runs.define(runs.definition(110))
    pytester.makeconftest(
        """
        def pytest_collection_modifyitems(items):
            print("called", [(item.name, item.originalname, item.nodeid) for item in items])
        """
    )
    called = [("107", "task", "runs/0107::task"), ("110", "missing", "runs/110::missing")]
    webeval("--webeval-require-all", "-s").stdout.fnmatch_lines([f"*called {str(called).replace('[', '[[]')}"])
