"""Live tests without a browser: markers, directories, and how a session treats what it records."""

from __future__ import annotations

import json
import re

import pytest

from pytest_webeval.summary.store.row_database import is_unfinished
from tests.support.runs import definition, navigation

AGENT = f"""
import json
import pytest

HAR = {json.dumps({"log": {"entries": [navigation()]}})!r}


def act(recording, answer="lamp"):
    (recording.directory / "network.har").write_text(HAR)
    recording.answer(answer)
"""
RECORD = "--webeval-record=live"


@pytest.fixture
def write(pytester):
    """Writes tests of agents that need no browser, and tasks 1 to 3."""

    def write_tests(tests, tasks=(1, 2, 3)):
        pytester.makepyfile(test_agent=AGENT + tests)
        (pytester.path / "tasks.json").write_text(json.dumps([definition(task_id) for task_id in tasks]))
        config = {"environments": {"__SHOPPING__": {"urls": ["http://shop.test"]}}}
        (pytester.path / "config.json").write_text(json.dumps(config))
        pytester.makeini("[pytest]\nwebeval_config = config.json\n")

    return write_tests


ONE = """
@pytest.mark.webeval_task("tasks.json", 1)
def test_agent(webeval_recording):
    act(webeval_recording)
"""
ALL = """
@pytest.mark.webeval_task("tasks.json")
def test_agent(webeval_recording):
    act(webeval_recording, "lamp" if webeval_recording.task.task_id < 3 else "chair")
"""


def status(pytester, run):
    return json.loads((pytester.path / "live" / run / "eval_result.json").read_bytes())["status"]


@pytest.mark.parametrize("value", [None, ""], ids=["unset", "empty"])
def test_a_live_test_without_a_directory_is_skipped_with_the_option(pytester, write, monkeypatch, value):
    monkeypatch.delenv("CI", raising=False)
    if value is not None:
        monkeypatch.setenv("CI", value)
    write(ONE)
    result = pytester.runpytest("-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*requires a directory for its recording; pass --webeval-record=DIR"])


@pytest.mark.parametrize("spread", [[], ["-n2"]], ids=["serial", "xdist"])
@pytest.mark.parametrize("options", [[], ["--webeval-runs=runs"]], ids=["alone", "with runs"])
def test_in_ci_a_live_test_without_a_directory_fails(pytester, write, runs, monkeypatch, options, spread):
    monkeypatch.setenv("CI", "true")
    write(ONE + "def test_other(): pass\n@pytest.mark.skip\n" + ONE.strip().replace("test_agent", "test_skipped"))
    runs.add(107)
    result = pytester.runpytest("test_agent.py", *options, *spread)
    result.assert_outcomes(errors=1, passed=1, skipped=1)
    assert result.ret == 1
    message = "requires a directory for its recording; pass --webeval-record=DIR, or deselect it"
    result.stdout.fnmatch_lines([f"{message} (with CI set, live tests are not skipped)"])


@pytest.mark.parametrize(
    "options", [["-k", "other"], ["--collect-only"], ["--webeval-runs=runs", "--webeval-audit-tasks"]]
)
def test_in_ci_a_live_test_that_is_not_to_run_does_not_fail(pytester, write, runs, monkeypatch, options):
    monkeypatch.setenv("CI", "true")
    write(ONE + "def test_other(): pass\n")
    runs.add(107)
    result = pytester.runpytest(*options)
    assert result.parseoutcomes().get("errors", 0) == 0


NOWHERE = """
@pytest.mark.webeval_task("tasks.json", 1)
def test_agent(webeval_recording):
    webeval_recording.step("open", url=webeval_recording.start_url)
    act(webeval_recording)
"""


@pytest.mark.parametrize(
    ("about", "site"),
    [
        ({"start_urls": []}, "__SHOPPING__"),
        ({"start_urls": [], "sites": ["reddit", "shopping"]}, "__REDDIT__"),
        ({"start_urls": ["__SHOPPING__/cart"], "sites": []}, "__SHOPPING__/cart"),
    ],
)
def test_a_start_page_without_an_address_is_one_line(pytester, write, about, site):
    write(NOWHERE)
    (pytester.path / "tasks.json").write_text(json.dumps([definition(1) | about]))
    result = pytester.runpytest(RECORD, "-o", "webeval_config=")
    result.assert_outcomes(failed=1)
    problem = f"no URL for '{site}', where task 1 starts; pass a file with the site URLs: --webeval-config=FILE"
    result.stdout.fnmatch_lines(["*_ test_agent _*", problem, "*- webeval recording -*"], consecutive=True)
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_right_run_passes_and_leaves_result_and_summary(pytester, write):
    write(ONE)
    result = pytester.runpytest(RECORD)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["webeval: recording into */live", "1 scored: 1 success, 0 failure, 0 error, 0 excluded"]
    )
    assert status(pytester, "1") == "success"
    summary = json.loads((pytester.path / "live/eval_summary.json").read_bytes())
    assert (summary["total"], summary["webeval"]["partial"]) == (1, False)
    assert not is_unfinished(pytester.path / "live/eval_session.sqlite")


def test_a_marker_without_an_id_repeats_the_test_for_each_task(pytester, write):
    write(ALL)
    result = pytester.runpytest(RECORD)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*retrieved_data: *chair*", "*FAILED test_agent.py::test_agent[[]3[]]*"])
    assert [status(pytester, run) for run in "123"] == ["success", "success", "failure"]


@pytest.mark.parametrize("word", ["[2]", "test_agent and 2"])
def test_keywords_of_a_task_select_its_live_test(pytester, write, word):
    write(ALL)
    pytester.runpytest(RECORD, "-k", word).assert_outcomes(passed=1, deselected=2)
    assert json.loads((pytester.path / "live/eval_summary.partial.json").read_bytes())["webeval"]["partial"]


def test_a_live_test_that_is_named_leaves_the_summary_of_all(pytester, write):
    write(ALL)
    pytester.runpytest(RECORD)
    summary = pytester.path / "live/eval_summary.json"
    before = summary.read_bytes()
    pytester.runpytest(RECORD, "test_agent.py::test_agent[2]").assert_outcomes(passed=1)
    assert summary.read_bytes() == before
    assert json.loads(summary.with_name("eval_summary.partial.json").read_bytes())["total"] == 1


def test_the_site_of_a_task_selects_its_live_tests(pytester, write):
    write(ALL)
    pytester.runpytest(RECORD, "-k", "[shopping]").assert_outcomes(passed=2, failed=1)


def test_each_session_records_new_attempts(pytester, write):
    write(ONE)
    for _ in range(2):
        pytester.runpytest(RECORD).assert_outcomes(passed=1)
    assert status(pytester, "attempt-2/1") == "success"
    result = pytester.runpytest("--webeval-runs=live")
    result.assert_outcomes(passed=2)


def test_repeated_tests_are_attempts(pytester, write):
    write(ONE.replace("@pytest", "@pytest.mark.parametrize('seed', [1, 2])\n@pytest", 1).replace("g):", "g, seed):"))
    pytester.runpytest(RECORD).assert_outcomes(passed=2)
    assert [status(pytester, run) for run in ("1", "attempt-2/1")] == ["success", "success"]


def test_the_exception_of_an_agent_is_shown_and_its_run_is_scored(pytester, write):
    write(ONE + "    raise ValueError('no chair')\n")
    result = pytester.runpytest(RECORD)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E * ValueError: no chair", "1 scored: 1 success*"])
    assert status(pytester, "1") == "success"


def test_a_failed_run_of_an_agent_that_raised_is_shown_below_the_exception(pytester, write):
    write("""
@pytest.mark.webeval_task("tasks.json", 1)
def test_agent(webeval_recording):
    act(webeval_recording, "chair")
    raise ValueError("no lamp")
""")
    result = pytester.runpytest(RECORD)
    result.stdout.fnmatch_lines(["E * ValueError: no lamp", "*- webeval -*", "retrieved_data: *chair*"])


def test_a_test_that_skips_itself_is_not_scored(pytester, write):
    write(ONE + "    pytest.skip('no shop today')\n")
    result = pytester.runpytest(RECORD, "-rs")
    result.assert_outcomes(skipped=1)
    assert not (pytester.path / "live/1/eval_result.json").exists()


def test_a_session_that_ends_closes_the_recording(pytester, write):
    write(ONE + "    pytest.exit('enough')\n")
    assert pytester.runpytest(RECORD).ret == pytest.ExitCode.INTERRUPTED
    state = json.loads((pytester.path / "live/1/webeval_recording.json").read_bytes())
    assert state["outcome"] == "interrupted"
    assert not (pytester.path / "live/1/eval_result.json").exists()


def test_an_agent_that_never_began_is_not_to_blame(pytester, write):
    write("""
@pytest.fixture
def model(webeval_recording):
    raise ValueError("no model")


@pytest.mark.webeval_task("tasks.json", 1)
def test_agent(webeval_recording, model):
    act(webeval_recording)
""")
    pytester.runpytest(RECORD).assert_outcomes(errors=1)
    result = pytester.runpytest("--webeval-runs=live")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["no answer in *: the test ended before its agent began; record the run again"])


def test_a_site_without_an_address_is_an_error_that_leaves_no_directory(pytester, write):
    write(ONE)
    (pytester.path / "tasks.json").write_text(json.dumps([definition(1) | {"start_urls": ["__SHOPPING__/cart"]}]))
    (pytester.path / "config.json").write_text('{"environments": {"__REDDIT__": {"urls": ["http://forum.test"]}}}')
    result = pytester.runpytest(RECORD)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["no URL for * shopping; *"])
    assert not (pytester.path / "live/1").exists()


def test_a_recording_without_answer_and_definition_lacks_its_definition(pytester, runs):
    path = runs.add(1, defined=False)
    (path / "agent_response.json").unlink()
    (path / "webeval_recording.json").write_text('{"outcome": "closed"}')
    result = pytester.runpytest("--webeval-runs=runs")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["no task definition for runs/1*"])


def test_evaluators_of_a_conftest_score_live_tests_too(pytester, write):
    write(ONE)
    pytester.makeconftest("""
        import pytest
        import pytest_webeval as webeval

        class Refusing(webeval.ResponseEvaluator):
            def evaluate(self, expectation, case):
                return self.result([webeval.Assertion.of("never", False, "a chair")])

        @pytest.fixture
        def webeval_response(webeval_response):
            return webeval_response.using(Refusing())
    """)
    result = pytester.runpytest(RECORD)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*a chair*"])


def test_results_go_to_the_output_directory(pytester, write):
    write(ONE)
    pytester.runpytest(RECORD, "--webeval-output=results").assert_outcomes(passed=1)
    assert (pytester.path / "results/1/eval_result.json").exists()
    assert not (pytester.path / "live/1/eval_result.json").exists()


def test_the_ini_key_names_the_directory_and_recordings_are_not_collected(pytester, write):
    write(ONE)
    pytester.makeini("[pytest]\nwebeval_config = config.json\nwebeval_record = live\n")
    (pytester.path / "live/1").mkdir(parents=True)
    (pytester.path / "live/1/test_planted.py").write_text("raise SystemExit\n")
    pytester.runpytest().assert_outcomes(passed=1)
    assert status(pytester, "attempt-2/1") == "success"


def test_definitions_are_copied_anew_unless_a_user_wrote_them(pytester, write):
    write(ONE)
    pytester.runpytest(RECORD).assert_outcomes(passed=1)
    write(ONE, tasks=(1,))
    pytester.runpytest(RECORD).assert_outcomes(passed=1)
    copy = pytester.path / "live/tasks.json"
    assert copy.read_bytes() == (pytester.path / "tasks.json").read_bytes()
    copy.write_text("[]")
    result = pytester.runpytest(RECORD)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *live/tasks.json has other definitions than */tasks.json; remove it, or *"])
    assert copy.read_text() == "[]"


def test_live_tests_over_several_files_need_the_option_for_tasks(pytester, write):
    write(ONE + ONE.replace("tasks.json", "more.json").replace("test_agent", "test_other").replace(", 1", ", 9"))
    (pytester.path / "more.json").write_text(json.dumps([definition(9)]))
    result = pytester.runpytest(RECORD)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: live tests of one session use 2 files of tasks; pass --webeval-tasks=*"])
    options = "--webeval-tasks=tasks.json", "--webeval-tasks=more.json"
    pytester.runpytest(RECORD, *options).assert_outcomes(passed=2)


@pytest.mark.whole
def test_workers_fail_live_tests_over_several_files(pytester, write):
    write(ONE + ONE.replace("tasks.json", "more.json").replace("test_agent", "test_other").replace(", 1", ", 9"))
    (pytester.path / "more.json").write_text(json.dumps([definition(9)]))
    result = pytester.runpytest_subprocess(RECORD, "-n2")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["live tests of one session use 2 files of tasks; pass --webeval-tasks=*"])


def test_a_recording_that_a_test_gets_while_it_runs_is_refused(pytester, write):
    write(
        ONE.replace("(webeval_recording):", "(request):").replace(
            "act(webeval_recording)", "act(request.getfixturevalue('webeval_recording'))"
        )
    )
    result = pytester.runpytest(RECORD)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*test_agent gets webeval_recording while it runs; make it an argument of the test"])
    assert not (pytester.path / "live/1").exists()


def test_the_option_names_the_tasks_of_a_marker_without_a_file(pytester, write):
    write(ONE.replace('"tasks.json", ', ""))
    pytester.runpytest(RECORD, "--webeval-tasks=tasks.json").assert_outcomes(passed=1)
    result = pytester.runpytest(RECORD)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*webeval_task names no file of tasks*"])


def test_a_text_that_is_no_file_is_an_id_among_the_tasks_of_the_option(pytester, write):
    write(ONE.replace('"tasks.json", 1', '"first", "second"'), tasks=("first", "second"))
    pytester.runpytest(RECORD, "--webeval-tasks=tasks.json").assert_outcomes(passed=2)
    assert [status(pytester, run) for run in ("first", "second")] == ["success", "success"]


@pytest.mark.parametrize(
    ("marker", "problem"),
    [
        ("", "a test with webeval_recording requires a task; use @pytest.mark.webeval_task*"),
        ('@pytest.mark.webeval_task("tasks.json", 9)', "*9*"),
        ('@pytest.mark.webeval_task("no.json", 1)', "no such file of tasks: no.json*"),
        ('@pytest.mark.webeval_task("tasks.json", 1, limit=3)', "invalid arguments of webeval_task*"),
        ('@pytest.mark.webeval_task("tasks.json", 1, timeout="1")', "invalid timeout '1' @ *; use seconds, or 0 *"),
        ('@pytest.mark.webeval_task("tasks.json", timeout=-1)', "invalid timeout -1 @ *; use seconds, or 0 *"),
        ('@pytest.mark.webeval_task("tasks.json", 1, timeout=float("inf"))', "invalid timeout inf @ *"),
        ('@pytest.mark.webeval_task("tasks.json", 1, max_steps=1.5)', "invalid max_steps 1.5 @ *; use a non-neg*"),
        ('@pytest.mark.webeval_task("tasks.json", 1, max_steps=-1)', "invalid max_steps -1 @ *"),
    ],
)
def test_a_marker_that_names_no_task_is_an_error_in_one_line(pytester, write, marker, problem):
    write(ONE.replace('@pytest.mark.webeval_task("tasks.json", 1)', marker))
    result = pytester.runpytest(RECORD)
    assert result.ret != pytest.ExitCode.OK
    assert "live_tasks.py" not in result.stdout.str()  # our stack
    (result.stderr if result.ret == pytest.ExitCode.USAGE_ERROR else result.stdout).fnmatch_lines([f"*{problem}"])


def test_runs_and_live_tests_in_one_session(pytester, write, runs):
    write(ONE)
    runs.add(7)
    result = pytester.runpytest("--webeval-runs=runs", "test_agent.py", "runs", RECORD)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["webeval: runs in */runs, recording into */live", "2 scored: 2 success*"])


def test_a_live_test_has_no_fixture_over_recorded_runs(pytester, write):
    write(ONE.replace("recording):", "recording, webeval_run):"))
    pytester.runpytest(RECORD).assert_outcomes(errors=1)


@pytest.mark.whole
def test_live_tests_run_on_workers(pytester, write):
    write(ALL)
    result = pytester.runpytest_subprocess(RECORD, "-n2", "--webeval-report=report", "--junitxml=junit.xml")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["3 scored: 2 success, 1 failure, 0 error, 0 excluded"])
    assert (pytester.path / "junit.xml").read_text().count('name="webeval_status"') == 3
    assert len(list((pytester.path / "report/data").glob(f"task-{'?' * 16}.js"))) == 3


def test_live_tests_are_not_split_into_shards(pytester, write):
    write(ONE)
    result = pytester.runpytest(RECORD, "--webeval-shard=1/2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --webeval-shard splits recorded runs, not live tests; *"])
    assert not (pytester.path / "live/1").exists()


def test_no_agent_works_while_tasks_are_audited(pytester, write):
    write(ONE)
    result = pytester.runpytest(RECORD, "--webeval-audit-tasks", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*--webeval-audit-tasks records nothing"])
    assert not (pytester.path / "live/1").exists()


@pytest.mark.parametrize(
    ("limit", "excess", "reason"),
    [
        ("max_steps=0", "webeval_recording.step('wait')", "the budget of 0 steps was exceeded"),
        ("timeout=0.3", "__import__('time').sleep(60)", "the time limit of 0.3 s was exceeded"),
    ],
)
def test_an_agent_that_exceeds_a_limit_is_scored_by_what_it_did_before(pytester, write, limit, excess, reason):
    test = ONE.replace(", 1)", f", 1, {limit})") + f"    {excess}\n"
    write(test)
    result = pytester.runpytest(RECORD)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"*{reason}"])
    write(test.replace("act(webeval_recording)", "pass"))
    result = pytester.runpytest(RECORD)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"agent_response: expected a JSON object; got no answer: {reason}"])


@pytest.mark.whole
def test_a_debugger_takes_none_of_the_time_of_an_agent(pytester, write):
    pytester.makeconftest("""
        import time

        class Thinking:
            def __init__(self, **_):
                self.reset = self.setup = lambda *_: None

            def set_trace(self, *_, **__):
                time.sleep(1)
    """)
    write(ONE.replace(", 1)", ", 1, timeout=0.8)").replace("    act", "    breakpoint()\n    act"))
    pytester.runpytest_subprocess(RECORD, "--pdbcls=conftest:Thinking").assert_outcomes(passed=1)


def test_the_rerun_command_scores_the_recordings_of_this_session_alone(pytester, write):
    write(ALL)
    pytester.runpytest(RECORD)
    result = pytester.runpytest(RECORD)
    (line,) = [line.strip() for line in result.outlines if line.strip().startswith("pytest ")]
    assert line.endswith("--webeval-runs=live live/attempt-2/3::task")
    pytester.runpytest(*line.split()[1:]).assert_outcomes(failed=1)


def test_a_failed_test_and_its_junit_case_name_the_recording(pytester, write):
    write(ALL)
    pytester.runpytest(RECORD)
    result = pytester.runpytest(RECORD, "--junitxml=junit.xml")
    result.stdout.fnmatch_lines(["*- webeval recording -*", "live/attempt-2/3"])
    properties = re.findall(r'"webeval_recording" value="([^"]*)"', (pytester.path / "junit.xml").read_text())
    assert properties == [f"live/attempt-2/{task_id}" for task_id in (1, 2, 3)]


def test_the_steps_of_an_agent_are_in_the_report(pytester, write):
    write(
        ONE.replace("    act", '    webeval_recording.step("click", "buy it", b"\\x89PNG", selector="#buy")\n    act')
    )
    pytester.runpytest(RECORD, "--webeval-report=report").assert_outcomes(passed=1)
    (page,) = (pytester.path / "report/data").glob(f"task-{'?' * 16}.js")
    assert "buy it" in page.read_text()


@pytest.mark.parametrize("place", ["tasks.json/live", "runs/live", "."])
def test_a_place_that_cannot_hold_recordings_is_refused(pytester, write, runs, place):
    write(ONE)
    runs.add(1)
    result = pytester.runpytest("--webeval-runs=runs", f"--webeval-record={place}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert len([line for line in result.errlines if line.strip()]) == 1


SITE = "shop \x1b[31mred\x9b2J \u202eevil\x07\n::error::pwned"
SAYING = f"""
import logging
import warnings
SITE = {SITE!r}

@pytest.fixture
def browser(request):
    if "set_up" in request.node.name:
        raise RuntimeError(SITE)
    yield
    if "tear_down" in request.node.name:
        raise RuntimeError(SITE)
"""
SAYING_ONE = """
@pytest.mark.webeval_task("tasks.json", 1)
def test_NAME(webeval_recording, browser):
    act(webeval_recording)
    BODY
"""
BODIES = {
    "exception": "raise RuntimeError(SITE)",
    "assertion": "assert not SITE, SITE",
    "group": "raise ExceptionGroup(SITE, [ValueError(SITE)])",
    "fail": "pytest.fail(SITE)",
    "fail_briefly": "pytest.fail(SITE, pytrace=False)",
    "skip": "pytest.skip(SITE)",
    "xfail": "pytest.xfail(SITE)",
    "output": "print(SITE); raise ValueError",
    "log": "logging.getLogger().warning(SITE); raise ValueError",
    "warning": "warnings.warn(SITE)",
    "answer": "act(webeval_recording, SITE)",
    "crash": "webeval_recording.answer({'status': SITE}); raise KeyError(SITE)",
    "set_up": "pass",
    "tear_down": "pass",
}


def find_controls(pytester, *options):
    """The control sequences in all that a session prints and writes about its tests, and all of it."""
    result = pytester.runpytest_subprocess(RECORD, "-rA", "--junitxml=junit.xml", *options)
    shown = result.stdout.str() + result.stderr.str() + (pytester.path / "junit.xml").read_text("utf-8")
    return re.findall(r"[\x07\x1b\x9b\u202e]|#x1B|^\s*::.*", shown, re.MULTILINE), shown


@pytest.mark.parametrize("spread", [[], pytest.param(["-n2"], marks=pytest.mark.whole)], ids=["serial", "xdist"])
def test_what_a_site_says_in_live_tests_is_no_control_sequence(pytester, write, spread):
    tests = [SAYING_ONE.replace("NAME", name).replace("BODY", body) for name, body in BODIES.items()]
    write(SAYING + "".join(tests))
    controls, shown = find_controls(pytester, *spread)
    assert controls == []
    for name in BODIES:
        assert f"test_{name}" in shown
    assert shown.count("evil") >= 2 * len(BODIES)


@pytest.mark.whole
def test_what_a_site_says_in_the_end_of_a_session_is_no_control_sequence(pytester, write):
    write(SAYING + SAYING_ONE.replace("NAME", "exit").replace("BODY", "pytest.exit(SITE)"))
    controls, shown = find_controls(pytester)
    assert controls == []
    assert "evil" in shown


SWAPPING = """
import pathlib

OTHER = pathlib.Path("other/1").absolute()

def aim_at(path, target):
    if path.exists():
        path.rename(path.with_name("aside"))
    path.symlink_to(target)

@pytest.mark.webeval_task("tasks.json", 1)
def test_directory(webeval_recording):
    act(webeval_recording, "chair")
    aim_at(webeval_recording.directory, OTHER)

@pytest.mark.webeval_task("tasks.json", 2)
def test_log(webeval_recording):
    webeval_recording.step("click")
    aim_at(webeval_recording.directory / "webeval_steps/steps.jsonl", OTHER / "steps.jsonl")
    webeval_recording.step("click")

@pytest.mark.webeval_task("tasks.json", 3)
def test_folder(webeval_recording):
    aim_at(webeval_recording.directory / "webeval_steps", OTHER)
    webeval_recording.step("click", screenshot=b"\\x89PNG\\r\\n\\x1a\\n")
"""


def test_links_that_an_agent_leaves_in_its_recording_lead_nowhere(pytester, write):
    write(ONE + SWAPPING)
    pytester.runpytest("test_agent.py::test_agent", "--webeval-record=other").assert_outcomes(passed=1)
    other = pytester.path / "other/1"
    (other / "steps.jsonl").touch()
    before = {path: path.read_bytes() for path in other.iterdir()}
    pytester.runpytest("--deselect=test_agent.py::test_agent", RECORD).assert_outcomes(failed=3)
    assert {path: path.read_bytes() for path in other.iterdir()} == before
    summary = json.loads((pytester.path / "live/eval_summary.partial.json").read_bytes())
    assert [row["status"] for row in summary["task_results"]] == ["error"] * 3
