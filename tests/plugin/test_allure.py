"""Results of Allure."""

from __future__ import annotations

import json
import re

import pytest

from tests.support import canaries, recorded

pytest.importorskip("allure_pytest")
ALLURE = ("--alluredir=allure",)


@pytest.fixture
def results(pytester):
    """The results of a session, by their names."""

    def read():
        found = [json.loads(path.read_bytes()) for path in (pytester.path / "allure").glob("*-result.json")]
        for name in ("historyId", "testCaseId"):
            assert len({each[name] for each in found}) == len(found)
        return {each["name"]: each for each in found}

    return read


@pytest.fixture
def attached(pytester):
    """The attachments of a result: type and content by their names."""

    def read(result):
        place = pytester.path / "allure"
        return {each["name"]: (each["type"], (place / each["source"]).read_bytes()) for each in result["attachments"]}

    return read


@pytest.fixture
def failed(tree):
    """A trajectory that was judged a failure."""

    def write(name="books_1", answer="12 €"):
        judged = recorded.score_file(recorded.payload(outcome=False))
        return tree(name, answer=recorded.final_answer(answer), scores=judged)

    return write


def labels(result, kind):
    return [each["value"] for each in result["labels"] if each["name"] == kind]


@pytest.mark.parametrize("spread", [(), ("-n2",)])
def test_a_result_has_the_name_of_its_task_and_the_reason_as_message(runs, webeval_apart, results, spread):
    runs.add(107)
    runs.add(108, passes=False)
    runs.add(109, name="again/0109")
    (runs.add(110) / "network.har").write_text("{")
    webeval_apart(*ALLURE, *spread)
    found = results()
    assert {name: result["status"] for name, result in found.items()} == {
        "runs/107": "passed",
        "runs/108": "failed",
        "runs/again/0109 (task 109)": "passed",
        "runs/110": "broken",
    }
    details = found["runs/108"]["statusDetails"]
    assert details["message"] == 'agent_response.status: expected "success"; got "not_found_error"'
    assert details["trace"].startswith(details["message"] + "\nAgentResponseEvaluator\n")
    assert found["runs/110"]["statusDetails"]["message"].startswith("cannot parse ")
    assert all("description" not in result for result in found.values())


def test_runs_are_in_suites_by_directory_and_site(runs, tree, webeval, results):
    runs.add(107)
    tree("books_1")
    webeval(*ALLURE)
    found = results()
    assert (labels(found["runs/107"], "parentSuite"), labels(found["runs/107"], "suite")) == (["runs"], ["shopping"])
    (trajectory,) = (result for name, result in found.items() if name.endswith("books_1"))
    assert labels(trajectory, "suite") == ["WebTailBench_hf"]


def test_suites_that_users_mark_stay(runs, webeval, results, pytester):
    runs.add(107)
    pytester.makeconftest(
        """
        import allure
        def pytest_collection_modifyitems(items):
            for item in items:
                item.add_marker(allure.suite("of mine"))
        """
    )
    webeval(*ALLURE)
    assert labels(results()["runs/107"], "suite") == ["of mine"]


@pytest.mark.parametrize("spread", [(), ("-n2",)])
def test_a_failure_has_answer_differences_and_the_last_screenshot(
    runs, failed, webeval_apart, results, attached, spread
):
    runs.add(107)
    runs.add(108, passes=False, expects=(runs.visited("__SHOPPING__/cart"),))
    failed()
    webeval_apart(*ALLURE, *spread)
    success, failure, trajectory = (result for _, result in sorted(results().items()))
    assert "attachments" not in success
    (kind, answer), (_, differences) = attached(failure).values()
    assert kind == "text/plain"
    assert json.loads(answer)["status"] == "NOT_FOUND_ERROR"
    assert b'  url: different\n    expected "__SHOPPING__/cart"\n' in differences
    assert attached(trajectory) == {
        "answer": ("text/plain", "12 €".encode()),
        "last screenshot": ("image/png", recorded.PIXEL),
    }


def test_strict_redaction_attaches_no_screenshot(failed, webeval, results, attached):
    failed()
    webeval(*ALLURE, "--webeval-redact=strict")
    (result,) = results().values()
    assert attached(result).keys() == {"answer"}


def test_histories_of_directories_with_dots_are_apart(failed, webeval, results):
    for name in ("v.1", "v.2"):
        failed(name)
    webeval(*ALLURE)
    assert len(results()) == 2  # with a history each


@pytest.mark.parametrize("options", [(), ("--webeval-resume",)])
def test_the_history_of_a_run_is_the_same_in_each_session(runs, webeval, results, options):
    runs.add(107, passes=False)
    histories = set()
    for _ in range(2):
        webeval(*ALLURE, "--clean-alluredir", *options)
        (result,) = results().values()
        histories.add((result["historyId"], result["testCaseId"], result["statusDetails"]["message"]))
    assert len(histories) == 1


def test_an_excluded_run_is_skipped_with_its_reason(tree, webeval, results):
    tree("books_1", answer=recorded.final_answer(None, is_aborted=True))
    webeval(*ALLURE)
    (result,) = results().values()
    assert result["status"] == "skipped"
    assert "aborted" in result["statusDetails"]["message"]
    assert "Skipped" not in result["statusDetails"]["message"]


def test_a_known_failure_is_skipped_with_both_reasons(runs, webeval, results):
    runs.add(107, passes=False)
    webeval()
    (summary := runs.root / "eval_summary.json").rename(runs.root.parent / "baseline.json")
    webeval(*ALLURE, "--webeval-baseline=baseline.json", "--webeval-known-failures")
    (result,) = results().values()
    assert summary.exists()
    assert result["status"] == "skipped"
    assert result["statusDetails"]["message"].startswith("XFAIL reason: known failure")
    assert result["statusDetails"]["message"].endswith('got "not_found_error"')


def test_what_a_hook_of_a_user_raises_is_the_message_of_a_broken_result(runs, webeval, results, pytester):
    runs.add(107)
    pytester.makeconftest("def pytest_webeval_scored(run, result): raise RuntimeError('no database')")
    webeval(*ALLURE)
    (result,) = results().values()
    assert result["status"] == "broken"
    assert "no database" in result["statusDetails"]["message"]


def test_hostile_texts_are_spelled_out(failed, webeval, results, attached):
    failed(answer="<script>\x1b[31m\u202e")
    webeval(*ALLURE)
    (result,) = results().values()
    assert attached(result)["answer"] == ("text/plain", b"<script>\\u001b[31m\\u202e")


def test_half_a_character_in_an_exception_does_not_end_the_session(runs, webeval, results, pytester):
    runs.add(107)
    (module := pytester.path / "test_of_mine.py").write_text(
        "def test_more(webeval_run): raise ValueError('half \\ud800 of one')"
    )
    webeval(str(module), *ALLURE).assert_outcomes(failed=1)
    (result,) = results().values()
    assert "half \\ud800 of one" in result["statusDetails"]["message"]


PYTHON_TEST = """
import pytest

@pytest.fixture
def before():
    raise RuntimeError("password=CaNaRyBefore7zQ4")

@pytest.fixture
def after(request):
    def end():
        raise RuntimeError("password=CaNaRyAfter7zQ4")
    request.addfinalizer(end)

def test_more(webeval_run):
    raise RuntimeError("password=CaNaRyTest7zQ4")

def test_before(webeval_run, before): pass

def test_after(webeval_run, after):
    print("password=CaNaRyOutput7zQ4")
"""


@pytest.mark.parametrize(("mode", "leaks"), [("default", False), ("strict", False), ("off", True)])
def test_no_secret_is_in_any_file(runs, webeval, pytester, mode, leaks):
    path = runs.add(101, expects=(canaries.expectation("form"),))
    canaries.as_har(path, "form")
    (path / "agent_response.json").write_text(canaries.answer())
    canaries.fara(runs.root / recorded.RUN / "a")
    (module := pytester.path / "test_of_mine.py").write_text(PYTHON_TEST)
    pytester.makefile(".json", config='{"environments": {"__SHOPPING__": {"urls": ["http://shop.test"]}}}')
    webeval("runs", str(module), "--webeval-config=config.json", *ALLURE, f"--webeval-redact={mode}")
    files = [file.read_bytes() for file in (pytester.path / "allure").iterdir()]
    assert len(files) > 10
    assert bool(canaries.seen(*files)) is leaks
    assert len(set(re.findall(rb"CaNaRy(?:Before|After|Test|Output)7zQ4", b"".join(files)))) == 4 * leaks


STEPS = """
import allure
import pytest

PHRASE = "CaNaRy" + "Argument7zQ4"  # which no line of a traceback shows

@allure.step("log in with token=CaNaRyStep7zQ4")
def log_in(password):
    with allure.step("inner"):
        raise RuntimeError("password=CaNaRyInner7zQ4")

@pytest.fixture
def before():
    with allure.step("prepare"):
        log_in(PHRASE)

@pytest.fixture
def after():
    yield
    log_in(PHRASE)

def test_more(webeval_run):
    log_in(PHRASE)

def test_before(webeval_run, before): pass

def test_after(webeval_run, after): pass
"""


@pytest.mark.parametrize(("mode", "leaks"), [("default", False), ("strict", False), ("off", True)])
def test_no_secret_is_in_a_step_of_a_user(runs, webeval, pytester, mode, leaks):
    runs.add(101)
    (module := pytester.path / "test_of_mine.py").write_text(STEPS)
    webeval(str(module), *ALLURE, f"--webeval-redact={mode}")
    files = [json.loads(path.read_bytes()) for path in (pytester.path / "allure").glob("*.json")]
    parts = [part for file in files for part in (file, *file.get("befores", ()), *file.get("afters", ()))]
    steps = [json.dumps(part["steps"]) for part in parts if part.get("steps")]
    assert sum("log in with" in text for text in steps) == 3
    for kind in ("Step", "Inner", "Argument"):
        assert any(f"CaNaRy{kind}7zQ4" in text for text in steps) is leaks
        assert any(f"CaNaRy{kind}7zQ4" in json.dumps(file) for file in files) is leaks


def test_steps_that_lie_very_deep_are_left_out(runs, webeval, results, pytester):
    runs.add(101)
    (module := pytester.path / "test_of_mine.py").write_text(
        "import allure\n"
        "def test_more(webeval_run): go(120)\n"
        "def go(left):\n"
        "    if left:\n"
        "        with allure.step('deeper'): go(left - 1)\n"
    )
    webeval(str(module), *ALLURE)
    (step,), levels = results().values(), 0
    while step.get("steps"):
        (step,) = step["steps"]
        levels += 1
    assert levels == 100


def test_a_session_leaves_nothing_in_allure(runs, webeval):
    import allure_commons

    runs.add(107)
    webeval(*ALLURE)
    assert "AllureResults" not in {type(each).__name__ for each in allure_commons.plugin_manager.get_plugins()}


@pytest.mark.whole
def test_a_session_without_its_option_loads_nothing_for_it(runs, webeval_apart, pytester):
    runs.add(107)
    pytester.makeconftest(
        """
        import sys
        def pytest_unconfigure():
            print("loaded", "pytest_webeval.plugin.reporting.allure_results" in sys.modules)
        """
    )
    for options, loaded in (((), False), (ALLURE, True)):
        webeval_apart("-s", "-p", "allure_pytest", *options).stdout.fnmatch_lines([f"*loaded {loaded}*"])
