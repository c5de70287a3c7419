"""--webeval-report: a page of all runs, and a page of each."""

from __future__ import annotations

import json
import re

import pytest

from pytest_webeval.reports.html.writer import data_name, events_name

SECRET = "hunter2hunter2"


def page_of(directory, label):
    """What the report shows of a run."""
    return read_script(directory / "data" / f"{data_name(label)}.js", label, "task")


def events_of(directory, label):
    """What the report shows of the events of a run, by their positions. Their headers are in them, as on the page."""
    details = read_script(directory / "data" / f"{events_name(label)}.js", label, "events")
    for event in details["events"]:
        for side in (event["request"], event["response"]):
            side["headers"] = [details["headers"][position] for position in side["headers"]]
    return {event["index"]: event for event in details["events"]}


def names_of_pages(directory):
    """The names of the files with data, but for those of events."""
    names = {path.stem for path in (directory / "data").iterdir()}
    return {name for name in names if not name.endswith("-events")}


def read_script(path, label, function):
    text = path.read_text()
    found = re.fullmatch(rf"webeval\.{function}\((\"[^\"]*\"), '(.*)'\);\n", text, re.DOTALL)
    assert json.loads(found[1]) == label
    return json.loads(re.sub(r"\\(.)", r"\1", found[2]))


def index_of(directory):
    """What its first page shows, with a dict for each row."""
    html = (directory / "index.html").read_text()
    text = re.search(r'<script type="application/json" id="webeval-index">(.*?)</script>', html, re.DOTALL)[1]
    index = json.loads(text)
    return index | {"rows": [dict(zip(index["columns"], row, strict=True)) for row in index["rows"]]}


@pytest.fixture
def report(pytester):
    return pytester.path / "report"


@pytest.fixture
def mixed(runs):
    runs.add(107, expects=(runs.visited("__SHOPPING__/lamps"),), template=270)
    runs.add(108, template=270)
    runs.add(109, passes=False)
    (runs.add(110) / "network.har").write_text("{")
    return runs


@pytest.mark.whole
@pytest.mark.parametrize("options", [(), ("-n2",)])
def test_more_runs_than_one_file_has_room_for_are_refused_before_they_are_scored(
    webeval_apart, runs, pytester, options
):
    for number in (101, 102, 103):
        runs.add(number)
    pytester.makepyfile(small_page="import pytest_webeval.reports.html.index_page as page\npage.MOST_ROWS = 2\n")
    pytester.syspathinsert()
    embedding = ("-p", "small_page", "--webeval-report=report", "--webeval-report-embed=1MB", *options)
    result = webeval_apart(*embedding)
    problem = "--webeval-report-embed: 3 runs are too many for one file; share the directory of the report instead *"
    result.stderr.fnmatch_lines([f"ERROR: {problem}"])
    assert result.ret == 4
    assert runs.written == []
    webeval_apart(*embedding, "-k", "101 or 102").assert_outcomes(passed=2)


def test_each_run_has_a_row_and_a_page(mixed, webeval, report):
    webeval("--webeval-report=report").assert_outcomes(passed=1, failed=2, errors=1)
    index = index_of(report)
    rows = {row["run"]: row for row in index["rows"]}
    assert {label: row["status"] for label, row in rows.items()} == {
        "runs/107": "failure",
        "runs/108": "success",
        "runs/109": "failure",
        "runs/110": "error",
    }
    assert index["totals"] | {"interval": None} == {
        "total": 4,
        "success": 1,
        "failure": 2,
        "error": 1,
        "excluded": 0,
        "missing": 0,
        "unscored": 0,
        "rate": 0.25,
        "denominator": 4,
        "interval": None,
        "sample": "",
    }
    assert {row["data"] for row in rows.values()} == names_of_pages(report)
    assert rows["runs/107"]["intent"] == "Find the lamp."
    groups = [(one["text"], one["count"]) for one in index["groups"]]
    assert ("status differs", 1) in groups
    assert ("expected event is missing", 1) in groups
    assert index["groups"][rows["runs/109"]["group"]]["text"] == "status differs"
    assert rows["runs/108"]["group"] == -1
    (template,) = [each for each in index["templates"] if each["name"] == "270"]
    expected = {"total": 2, "success": 1, "lost": 1, "text": "Find the {{thing}}."}
    assert template == {"name": "270", "interval": [0.0945, 0.9055], **expected}  # Wilson's of 1 of 2


def test_a_page_tells_what_was_expected_and_what_the_browser_did(mixed, webeval, report):
    webeval("--webeval-report=report")
    page = page_of(report, "runs/107")
    assert page["status"] == "failure"
    assert page["reason"].startswith("missing navigation event: no matching GET __SHOPPING__/lamps")
    advice = "But the URLs of the sites were guessed: pass them with --webeval-config."
    assert page["sentence"] == f"No GET to __SHOPPING__/lamps was sent; the nearest request differs in url. {advice}"
    assert [one["name"] for one in page["evaluators"]] == ["NetworkEventEvaluator", "AgentResponseEvaluator"]
    assert page["evaluators"][0]["expected"]["url"] == "__SHOPPING__/lamps"
    nearest = {"index": 0, "of": 1, "method": "GET", "url": "__SHOPPING__/", "status": 200}
    assert page["evaluators"][0]["nearest"] == nearest
    assert page["evaluators"][0]["differences"][0]["path"] == "url"
    assert page["network"]["events"][0][:4] == [0, "GET", "http://shop.test/", 200]
    assert page["intent"] == "Find the lamp."
    assert page["checksums"]["inputs"].keys() == {"agent_response.json", "network.har"}


def test_links_lead_from_the_report_to_the_run(mixed, webeval, report):
    webeval("--webeval-report=report")
    for link in page_of(report, "runs/109")["links"]:
        assert (report / link["href"]).resolve().exists(), link


def test_of_a_run_that_cannot_be_read_the_page_tells_why(mixed, webeval, report):
    webeval("--webeval-report=report")
    page = page_of(report, "runs/110")
    assert page["status"] == "error"
    assert "as HAR: " in page["reason"]
    assert (page["network"], page["evaluators"]) == (None, [])


@pytest.mark.whole
def test_the_report_is_the_same_in_parallel(mixed, webeval, report, pytester):
    def everything():
        found = {path.name: path.read_text() for path in report.rglob("*") if path.is_file()}
        slowest, times = (
            r'(?s:"slowest": \[.*?\],)',
            r'"(?:wall_time|timestamp)": ?(?:"[^"]*"|[\d.e-]+)|\d{4}-\d\d-\d\dT[\d:]+Z|,\d+(?:\.\d+)?,"task-',
        )
        return {name: re.sub(f"{slowest}|{times}", "", text) for name, text in found.items()}

    webeval("--webeval-report=report")
    alone = everything()
    webeval("--webeval-report=report", "-n", "2")
    assert everything() == alone


def test_pages_of_an_earlier_session_are_removed_and_nothing_else(mixed, webeval, report):
    (report / "data").mkdir(parents=True)
    (report / "data" / "task-0123456789abcdef.js").write_text("old")
    (report / "data" / "task-0123456789abcdef-events.js").write_text("old")
    (report / "data" / "mine.js").write_text("mine")
    (report / "notes.txt").write_text("mine")
    webeval("--webeval-report=report", "-k", "107")
    assert names_of_pages(report) == {data_name("runs/107"), "mine"}
    assert not (report / "data" / "task-0123456789abcdef-events.js").exists()
    assert (report / "data" / "mine.js").read_text() == (report / "notes.txt").read_text() == "mine"
    assert index_of(report)["partial"] is True


def test_a_directory_that_cannot_be_written_to_is_refused_at_the_start(mixed, webeval, pytester):
    pytester.path.joinpath("report").write_text("a file")
    result = webeval("--webeval-report=report")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --webeval-report: not a directory: */report; choose another directory"])


def test_without_the_option_nothing_of_the_report_is_loaded(mixed, webeval_apart, pytester):
    pytester.makeconftest(
        """
        import sys

        def pytest_unconfigure():
            loaded = [name for name in sys.modules if name.startswith(("pytest_webeval.reports.", "jinja2", "PIL"))]
            print("LOADED", sorted(name.rpartition(".")[2] for name in loaded))
        """
    )
    webeval_apart("-p", "no:html").stdout.fnmatch_lines(
        ["LOADED ['failure_text', 'rates_text', 'rerun', 'tables', 'terminal']"]
    )


def test_what_a_python_test_adds_is_on_the_page(mixed, webeval, report, pytester):
    pytester.makepyfile(
        test_more="""
        from pytest_webeval import Assertion, EvaluatorResult

        def test_more(webeval_run, record_evaluation):
            one = Assertion(assertion_name="looks nice", status="failure", assertion_msgs=["it does not"])
            record_evaluation(EvaluatorResult(evaluator_name="Mine", status="failure", score=0.0, assertions=[one]))
        """
    )
    webeval("--webeval-report=report", "test_more.py", "runs/108")
    page = page_of(report, "runs/108")
    assert page["status"] == "failure"
    assert [one["name"] for one in page["evaluators"]] == ["Mine", "AgentResponseEvaluator"]
    assert index_of(report)["rows"][0]["status"] == "failure"


@pytest.mark.whole
def test_a_run_whose_worker_died_is_listed_with_its_reason(mixed, webeval_apart, report, pytester):
    pytester.makeconftest(
        """
        import os

        def pytest_runtest_setup(item):
            if "108" in item.nodeid and os.environ.get("PYTEST_XDIST_WORKER"):
                os._exit(1)
        """
    )
    webeval_apart("--webeval-report=report", "-n", "1")
    page = page_of(report, "runs/108")
    assert page["status"] == "error"
    assert "xdist worker crashed" in page["reason"]


def test_what_an_earlier_session_scored_has_its_page_as_well(mixed, webeval, report, pytester):
    pytester.makeconftest(
        """
        import pathlib, pytest

        def pytest_runtest_setup(item):
            if "109" in item.nodeid and not pathlib.Path("go").exists():
                pytest.exit("enough")
        """
    )
    webeval()
    (pytester.path / "go").touch()
    result = webeval("--webeval-resume", "--webeval-report=report")
    result.stdout.fnmatch_lines(["resumed: 2 of 4 results*"])
    assert page_of(report, "runs/107")["evaluators"][0]["expected"]["url"] == "__SHOPPING__/lamps"
    assert len(index_of(report)["rows"]) == 4


def test_secrets_are_replaced_in_requests_and_intents(runs, webeval, report):
    path = runs.add(107, passes=False)
    entry = runs.navigation(f"http://shop.test/login?password={SECRET}")
    (path / "network.har").write_text(json.dumps({"log": {"entries": [runs.navigation(), entry]}}))
    runs.tasks[-1]["intent"] = f"Sign in with password={SECRET}"
    runs.define()
    webeval("--webeval-report=report")
    assert SECRET not in "".join(path.read_text() for path in report.rglob("*") if path.is_file())
    assert "password=redacted" in page_of(report, "runs/107")["network"]["events"][1][2]
    webeval("--webeval-report=report", "--webeval-redact=off")
    assert f"password={SECRET}" in page_of(report, "runs/107")["network"]["events"][1][2]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--webeval-report-embed=5MB"], "*--webeval-report-embed requires a report; pass --webeval-report=DIR"),
        (
            ["--webeval-report=report", "--webeval-report-embed=much"],
            "invalid --webeval-report-embed 'much'; use e.g. 25MB",
        ),
    ],
)
def test_a_report_that_cannot_be_as_asked_for_is_refused_at_the_start(mixed, webeval, options, told):
    result = webeval(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {told}"])


def test_without_pillow_small_copies_are_refused_with_what_to_install(mixed, webeval_apart, pytester):
    pytester.makepyfile(no_pillow="import sys; sys.modules['PIL'] = None")
    result = webeval_apart("-p", "no_pillow", "--webeval-report=report", "--webeval-report-embed=5MB")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*requires Pillow; install it with pip install 'pytest-webeval?embed?'"])


def test_the_copy_in_one_file_has_what_there_is_room_for_failures_first(mixed, webeval, report):
    webeval("--webeval-report=report", "--webeval-report-embed=1MB")
    whole = (report / "report.html").read_text()
    assert all(f'webeval.task("runs/{number}"' in whole for number in (107, 108, 109, 110))
    most = len(whole.encode()) - 500  # a page is longer
    webeval("--webeval-report=report", f"--webeval-report-embed={most}")
    copy = (report / "report.html").read_text()
    assert len(copy.encode()) <= most
    assert 'webeval.task("runs/108"' not in copy
    assert all(f'webeval.task("runs/{number}"' in copy for number in (107, 109, 110))


def test_a_page_that_cannot_be_made_costs_only_itself(mixed, webeval, report):
    lines = ['{"action": "click", "arguments": ' + '{"a":' * 600 + "1" + "}" * 600 + "}"]
    trajectory = mixed.root / "traj" / "books_1"
    trajectory.mkdir(parents=True)
    (trajectory / "web_surfer.log").write_text("\n".join(lines))
    answer = {"final_answer": "done", "is_aborted": False, "screenshots": [], "token_usage": {}}
    (trajectory / "books_1_final_answer.json").write_text(json.dumps(answer))
    webeval("--webeval-report=report")
    assert len(index_of(report)["rows"]) == 5


@pytest.mark.whole
def test_the_command_on_a_page_is_that_of_the_session_also_in_parallel(mixed, webeval_apart, report):
    for workers in ((), ("-n", "1")):
        webeval_apart("--webeval-report=report", *workers)
        command = page_of(report, "runs/109")["commands"][0]["command"]
        assert command == "pytest --webeval-runs=runs -k '[109]'"


def test_the_command_on_a_page_selects_no_run_by_its_site(mixed, webeval, report):
    mixed.add(111, name="shopping")
    webeval("--webeval-report=report")
    assert (
        page_of(report, "runs/shopping")["commands"][0]["command"]
        == "pytest --rootdir=. --webeval-runs=runs runs/shopping::task"
    )


def test_what_an_expected_task_without_a_recording_shows_leads_nowhere(mixed, webeval, report):
    mixed.define(mixed.definition(111))
    webeval("--webeval-report=report", "--webeval-require-all")
    page = page_of(report, "runs/111")
    assert (page["status"], page["links"]) == ("error", [])
    assert "no recording" in page["reason"]


def test_regressed_and_fixed_runs_are_listed_since_the_baseline(mixed, webeval, report, pytester):
    webeval("--webeval-report=report")
    (mixed.root / "eval_summary.json").rename(pytester.path / "before.json")
    (mixed.root / "108" / "agent_response.json").write_text("{}")
    webeval("--webeval-report=report", "--webeval-baseline=before.json")
    index = index_of(report)
    assert index["flips"] == {"fixed": 0, "regressed": 1}
    assert {row["run"]: row["flip"] for row in index["rows"]}["runs/108"] == "regressed"
    assert (index["baseline"]["before"], index["baseline"]["after"]) == (0.25, 0.0)
    html = (report / "index.html").read_text()
    assert "Difference</dt><dd>-25.0% over 4 tasks that both judged" in html


def test_attempts_and_agents_are_on_the_first_page(runs, webeval, report):
    for name in ("a/try-1", "a/try-2", "b/try-1", "b/try-2"):
        runs.add(107, name=f"{name}/107", passes=name != "a/try-2", defined=name == "a/try-1")
    webeval("--webeval-attempts=try-*", "--webeval-report=report")
    agents = index_of(report)["attempts"]["agents"]
    assert [(agent["agent"], agent["chances"]["pass@k"], agent["chances"]["pass^k"]) for agent in agents] == [
        ("runs/a", [0.5, 1.0], [0.5, 0.0]),
        ("runs/b", [1.0, 1.0], [1.0, 1.0]),
    ]
    assert "Agents and attempts" in (report / "index.html").read_text()


def test_a_report_in_the_run_root_is_no_run(mixed, webeval):
    for _ in range(2):
        webeval("--webeval-report=runs/report").assert_outcomes(passed=1, failed=2, errors=1)
    assert len(index_of(mixed.root / "report")["rows"]) == 4


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("runs", "runs is a run root"),
        ("runs/107", "runs/107 is a recorded run"),
        ("runs/107/report", "runs/107 is a recorded run"),
    ],
)
def test_a_report_among_recordings_is_refused(mixed, webeval, place, told):
    result = webeval(f"--webeval-report={place}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --webeval-report: *{told}; choose a separate directory"])


def test_a_report_in_a_root_that_is_a_recording_is_refused(mixed, pytester):
    result = pytester.runpytest("--webeval-runs=runs/107", "--webeval-report=runs/107/report")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert not (mixed.root / "107" / "report").exists()


def test_a_page_of_somebody_elses_is_never_replaced(mixed, webeval, report):
    report.mkdir()
    (report / "index.html").write_text("mine")
    result = webeval("--webeval-report=report")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*index.html was not written by pytest-webeval; choose another directory or delete it"]
    )
    assert (report / "index.html").read_text() == "mine"


def test_nothing_is_removed_beside_a_page_of_somebody_elses(mixed, webeval, report):
    webeval("--webeval-report=report")
    (report / "report.html").write_text("mine")
    assert webeval("--webeval-report=report").ret == pytest.ExitCode.USAGE_ERROR
    assert (report / "index.html").exists()


def test_a_session_without_results_leaves_no_report_of_an_earlier_one(mixed, webeval, report):
    webeval("--webeval-report=report", "--webeval-report-embed=1MB")
    webeval("--webeval-report=report", "-k", "nothing")
    assert [path.name for path in report.rglob("*.html")] == []
    assert not (report / "data").exists()


def test_a_copy_that_could_not_even_hold_the_list_is_not_written_and_that_is_told(mixed, webeval, report):
    result = webeval("--webeval-report=report", "--webeval-report-embed=1KB")
    result.stdout.fnmatch_lines(
        ["--webeval-report-embed: 1,000 bytes are too few: the task list needs * bytes; raise the limit to write *"]
    )
    assert not (report / "report.html").exists()
    assert (report / "index.html").exists()


def test_the_reason_names_the_parameters_that_differ(runs, webeval):
    expected = {"url": "__SHOPPING__/search", "query_params": {"q": ["lamp"], "sort": ["price"], "page": ["1"]}}
    path = runs.add(107, expects=({"evaluator": "NetworkEventEvaluator", "expected": expected},))
    entries = [runs.navigation(), runs.navigation("http://shop.test/search?q=lamp&sort=name&dir=up")]
    (path / "network.har").write_text(json.dumps({"log": {"entries": entries}}))
    webeval()
    assert runs.reasons["107"].split("; ")[:3] == [
        'network_event.query_params.dir: not expected, got "up"',
        'network_event.query_params.page: expected "1", not sent',
        'network_event.query_params.sort: expected "price", got "name"',
    ]


@pytest.mark.whole
def test_a_recording_that_ended_a_worker_is_not_looked_at_by_the_controller(mixed, webeval_apart, report, pytester):
    pytester.makeconftest(
        """
        import os
        from pytest_webeval.recordings.network.readers import TRACE_READERS

        load = TRACE_READERS[".har"]

        def ending(inputs, name):
            if inputs.directory.name == "109":
                os._exit(9)
            return load(inputs, name)

        TRACE_READERS[".har"] = ending
        """
    )
    result = webeval_apart("--webeval-report=report", "-n", "1")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    page = page_of(report, "runs/109")
    assert "xdist worker crashed" in page["reason"]
    assert page["network"] is None
    assert {row["run"]: row["intent"] for row in index_of(report)["rows"]}["runs/109"] == "Find the lamp."
    assert mixed.summary["total"] == 4


def test_secrets_in_other_letters_are_replaced_beside_a_result_too(runs, webeval, report):
    path = runs.add(107, expects=(runs.visited("__SHOPPING__/login"),))
    posted = runs.navigation("http://shop.test/login", method="POST")
    posted["request"]["postData"] = {"mimeType": "application/x-www-form-urlencoded", "text": "password=CorrectHorse"}
    echoed = runs.navigation("http://shop.test/echo/CorrectHorse")
    (path / "network.har").write_text(json.dumps({"log": {"entries": [runs.navigation(), posted, echoed]}}))
    expected = {"url": "__SHOPPING__/login", "http_method": "POST", "post_data": {"password": "other"}}
    runs.tasks[-1]["eval"][1]["expected"] = expected
    runs.define()
    webeval("--webeval-report=report", "--webeval-output=out")
    told = "".join(path.read_text() for path in report.rglob("*") if path.is_file())
    assert "/echo/redacted" in told
    assert "correcthorse" not in told.lower()


def test_a_page_that_an_earlier_session_redacted_is_made_again_with_its_recording(mixed, webeval, report, pytester):
    conftest = pytester.makeconftest(
        """
        import pytest

        def pytest_runtest_setup(item):
            if "109" in item.nodeid:
                pytest.exit("enough")
        """
    )
    webeval("--webeval-output=out")
    conftest.unlink()
    result = webeval("--webeval-output=out", "--webeval-resume", "--webeval-report=report")
    result.stdout.fnmatch_lines(["resumed: * of 4 results*"])
    assert page_of(report, "runs/107")["network"]["total"] == 1


def test_the_reason_names_three_parameters_and_the_page_all(runs, webeval, report):
    wanted = {name: ["1"] for name in "abcde"}
    path = runs.add(
        107,
        expects=(
            {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__SHOPPING__/s", "query_params": wanted}},
        ),
    )
    (path / "network.har").write_text(json.dumps({"log": {"entries": [runs.navigation("http://shop.test/s")]}}))
    webeval("--webeval-report=report")
    page = page_of(report, "runs/107")
    assert page["reason"].count("query_params") == 3
    assert len(page["evaluators"][0]["differences"]) == 5


def test_of_a_result_that_another_process_redacted_the_recording_is_not_shown(mixed, webeval, report, pytester):
    pytester.makepyfile(
        test_more="""
        from pytest_webeval import Assertion, EvaluatorResult

        def test_more(webeval_run, record_evaluation):
            one = Assertion(assertion_name="looks nice", status="failure", assertion_msgs=["it does not"])
            record_evaluation(EvaluatorResult(evaluator_name="Mine", status="failure", score=0.0, assertions=[one]))
        """
    )
    webeval("--webeval-report=report", "--webeval-output=out", "test_more.py", "runs/108")
    page = page_of(report, "runs/108")
    assert (page["status"], page["network"]) == ("failure", None)
    webeval("--webeval-report=report", "test_more.py", "runs/108")
    assert page_of(report, "runs/108")["network"]["total"] == 1
