"""Our hooks, and pytest's own in a conftest.py of the user's."""

from __future__ import annotations

import json

import pytest

WORKERS = pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["serial", "xdist"])


def test_a_conftest_beside_the_root_sees_and_changes_the_items(runs, webeval, pytester):
    runs.add(107)
    runs.add(108)
    pytester.makeconftest(
        """
        import pytest
        def pytest_collection_modifyitems(items):
            for item in items:
                if item.get_closest_marker("webeval_template").kwargs["id"] == 1 and "108" in item.nodeid:
                    item.add_marker(pytest.mark.skip(reason="by the conftest"))
        def pytest_runtest_setup(item):
            print("setting up", item.nodeid, item.path.name)
        """
    )
    result = webeval("-s", "-rs")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["*setting up runs/107::task 107*", "*by the conftest*"])


@pytest.mark.parametrize("scope", ["function", "class", "module", "package", "session"])
def test_an_autouse_fixture_of_any_scope_works_on_runs(runs, webeval, pytester, scope):
    runs.add(107)
    runs.add(108)
    pytester.makeconftest(
        f"""
        import pytest
        @pytest.fixture(autouse=True, scope={scope!r})
        def around(request):
            print("before a", request.scope)
            yield
        """
    )
    result = webeval("-s")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines([f"*before a {scope}*"])


def test_an_autouse_fixture_may_look_at_what_tests_usually_have(runs, webeval, pytester):
    runs.add(107)
    pytester.makeconftest(
        """
        import pytest
        @pytest.fixture(autouse=True)
        def curious(request, tmp_path, capsys, monkeypatch):
            assert request.cls is None and request.instance is None
            assert request.path.name == "107" and callable(request.function)
            assert request.node.name == "107" and request.module is not None
        """
    )
    webeval().assert_outcomes(passed=1)


def test_recognize_brings_a_format_of_ones_own(runs, webeval, pytester):
    path = runs.add(107)
    (path / "agent_response.json").rename(path / "answer.txt")
    (path / "network.har").rename(path / "traffic.txt")
    pytester.makeconftest(
        """
        from functools import partial
        from pytest_webeval import Run
        from pytest_webeval.recordings.inputs import RunInputs
        from pytest_webeval.recordings.network.readers import load_har
        class Mine:
            name = "mine"
            wanted = "answer.txt"
            def recognizes(self, path):
                return (path / "answer.txt").is_file()
            def load(self, path, label, rules):
                trace = lambda inputs: load_har(inputs, "traffic.txt")
                return Run(path, label, int(path.name), self.name, "answer.txt", RunInputs(path), rules, trace)
        def pytest_webeval_recognize(path, config):
            assert config.option.webeval_runs
            return Mine() if Mine().recognizes(path) else None
        """
    )
    webeval("-k", "mine").assert_outcomes(passed=1)
    assert runs.result(107)["webeval"]["format"] == "mine"
    pytester.makepyfile(test_it="def test_it(webeval_run): assert webeval_run.format == 'mine'")
    webeval("test_it.py").assert_outcomes(passed=1)


def test_a_conftest_that_comes_with_collection_may_bring_the_format_of_the_root(
    runs, pytester, monkeypatch, tmp_path_factory
):
    path = runs.add(107, name="inner/107", defined=False)
    (path / "agent_response.json").rename(path / "answer.txt")
    (path / "network.har").rename(path / "traffic.txt")
    (path / "tasks.json").write_text(json.dumps([runs.definition(107)]))
    pytester.makeconftest(
        """
        from pytest_webeval.recordings.webarena_verified import WebArenaVerified
        def pytest_webeval_recognize(path, config):
            return WebArenaVerified() if (path / "answer.txt").exists() else None
        """
    )
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))  # from where pytest does not see the conftest.py at first
    where = (f"--rootdir={pytester.path}", f"--webeval-runs={path}")
    result = pytester.runpytest(*where, "--webeval-require-all", "--co", "-q")
    result.stdout.fnmatch_lines(["runs/inner/107::task"])


@WORKERS
def test_scored_and_summary_are_called_with_what_was_written(runs, webeval_apart, pytester, workers):
    runs.add(107)
    runs.add(108, passes=False)
    (runs.add(109) / "network.har").write_text("{")
    pytester.makeconftest(
        """
        import json, pathlib
        told = pathlib.Path(__file__).parent / "told"
        def pytest_webeval_scored(item, run, result):
            told.mkdir(exist_ok=True)
            written = json.loads((run.path / "eval_result.json").read_text())
            assert written["status"] == result.status.value and item.path == run.path
            (told / f"{run.label.replace('/', '-')}.txt").write_text(f"{item.nodeid} {result.status.value}")
        def pytest_webeval_summary(summary, config):
            told.mkdir(exist_ok=True)
            with (told / "summary.txt").open("a") as stream:
                print(summary.total, summary.success_count, config.option.webeval_runs, file=stream)
        """
    )
    webeval_apart(*workers).assert_outcomes(passed=1, failed=1, errors=1)
    told = {path.name: path.read_text().strip() for path in (pytester.path / "told").iterdir()}
    assert told == {
        "runs-107.txt": "runs/107::task success",
        "runs-108.txt": "runs/108::task failure",
        "runs-109.txt": "runs/109::task error",
        "summary.txt": "3 1 ['runs']",
    }


def test_a_conftest_with_our_hooks_does_no_harm_without_runs(pytester):
    pytester.makeconftest("def pytest_webeval_summary(summary, config): raise AssertionError")
    pytester.makepyfile("def test_it(): pass")
    pytester.runpytest().assert_outcomes(passed=1)


def test_a_hook_with_a_wrong_argument_is_pointed_out(pytester):
    pytester.makeconftest("def pytest_webeval_summary(sumary): pass")
    result = pytester.runpytest_subprocess()
    assert result.ret != 0
    result.stderr.fnmatch_lines(["*pytest_webeval_summary*sumary*"])
