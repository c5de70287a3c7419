"""What leaves a run directory has no secrets in it, wherever they were recorded, and the verdicts stay as they are."""

from __future__ import annotations

import json
import zipfile
from urllib.parse import urlencode

import pytest

from tests.support import canaries
from tests.support.leaks import TEXTS, list_leaks

REPORTS = ("--webeval-output=out", "--junitxml=out/junit.xml", "--html=out/report.html", "--self-contained-html")
LOUD = ("-v", "-rA", "--webeval-metrics=out/metrics", "-p", "html")
SERIAL, PARALLEL = (), ("-n", "2", "-p", "xdist")
HIDDEN = {"farapassword", "faraquery"}  # what no report has ever shown of a log


@pytest.fixture
def planted(runs, pytester):
    """A run root with canaries in HAR files, in Playwright traces and in a trajectory."""
    canaries.plant(runs, pytester.path)
    return runs


@pytest.fixture
def leaving(pytester, webeval_apart):
    """All that a session lets out of the run directories: its output directory, and what it prints."""

    def read(*arguments):
        done = webeval_apart("--webeval-config=config.json", *REPORTS, *LOUD, *arguments)
        files = [path.read_bytes() for path in (pytester.path / "out").rglob("*") if path.is_file()]
        assert len(files) > 8
        return [*files, done.stdout.str(), done.stderr.str()]

    return read


@pytest.mark.parametrize("how", [SERIAL, PARALLEL], ids=["serial", "parallel"])
@pytest.mark.parametrize("mode", ["default", pytest.param("strict", marks=pytest.mark.whole)])
def test_no_secret_leaves_the_run_directories(planted, leaving, how, mode):
    assert canaries.seen(*leaving(f"--webeval-redact={mode}", *how)) == set()


@pytest.mark.whole
def test_all_secrets_that_results_tell_leave_them_without_redaction(planted, leaving):
    assert canaries.seen(*leaving("--webeval-redact=off")) == canaries.PLANTED - HIDDEN


def test_verdicts_are_the_same_whatever_is_replaced(planted, pytester, webeval):
    verdicts = set()
    for mode in ("off", "default", "strict"):
        webeval("--webeval-config=config.json", f"--webeval-output={mode}", f"--webeval-redact={mode}")
        results = [json.loads(path.read_bytes()) for path in sorted((pytester.path / mode).rglob("eval_result.json"))]
        checks = [
            (found["status"], [(check["assertion_name"], check["status"]) for check in found["assertions"] or ()])
            for result in results
            for found in result["evaluators_results"]
        ]
        verdicts.add(json.dumps([[result["status"], result["score"]] for result in results] + checks))
    assert len(verdicts) == 1


def test_equal_cookies_have_equal_replacements_and_keep_their_names(planted, pytester, webeval):
    webeval("--webeval-config=config.json", "--webeval-output=out")
    result = json.loads((pytester.path / "out/100/eval_result.json").read_bytes())
    cookies = result["evaluators_results"][1]["actual"]["response_cookies"]
    assert cookies["sid"] == cookies["same"]
    assert cookies["sid"].startswith("redacted-")
    assert result["evaluators_results"][1]["actual"]["headers"]["cookie"].startswith("sid=redacted-")
    assert result["webeval"]["redacted"] == "default"


@pytest.mark.whole
def test_two_sessions_write_the_same_replacements(planted, pytester, webeval, webeval_apart):
    webeval("--webeval-config=config.json", "--webeval-output=one")
    webeval_apart("--webeval-config=config.json", "--webeval-output=two", "-n2", "-p", "xdist")
    one, two = (
        json.loads((pytester.path / name / "111/eval_result.json").read_bytes())["evaluators_results"]
        for name in ("one", "two")
    )
    assert one == two
    assert "redacted-" in json.dumps(one)


def test_a_result_in_the_run_directory_stays_whole_while_all_that_is_told_of_it_is_redacted(planted, webeval):
    done = webeval("--webeval-config=config.json", "-rA")
    result = planted.result(100)
    assert result["evaluators_results"][1]["actual"]["headers"]["x-csrf-token"] == canaries.canary("csrf")
    assert "redacted" not in result["webeval"]
    assert canaries.seen(done.stdout.str(), json.dumps(planted.summary)) == set()


def test_the_failure_text_of_a_stored_result_is_that_of_the_session(planted, pytester, webeval):
    from pytest_webeval.reports.failure_text import failure_text
    from pytest_webeval.results import TaskResult

    done = webeval("--webeval-config=config.json", "--webeval-output=out")
    stored = TaskResult.read(json.loads((pytester.path / "out/100/eval_result.json").read_bytes()))
    assert failure_text(stored) in done.stdout.str()


HOOK = """
import json, pathlib
here = pathlib.Path(__file__).parent
def pytest_webeval_scored(item, run, {arguments}):
    for name, result in dict({named}).items():
        with open(here / f"{{name}}.txt", "a") as stream:
            print(json.dumps(result.to_json()), file=stream)
"""
HOOKED = {  # the arguments that a hook names, and the results in which secrets are readable
    "result": set(),
    "unredacted": {"unredacted"},
    "result, unredacted": {"unredacted"},
}


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize("how", [SERIAL, pytest.param(PARALLEL, marks=pytest.mark.whole)], ids=["serial", "parallel"])
@pytest.mark.parametrize(("arguments", "readable"), HOOKED.items(), ids=HOOKED)
def test_hooks_get_a_redacted_result_and_the_original_by_its_name(
    planted, pytester, webeval_apart, arguments, readable, how
):
    names = arguments.split(", ")
    pytester.makeconftest(HOOK.format(arguments=arguments, named=", ".join(f"{name}={name}" for name in names)))
    webeval_apart("--webeval-config=config.json", *how)
    results = {name: (pytester.path / f"{name}.txt").read_text() for name in names}
    assert {name for name, text in results.items() if canaries.seen(text)} == readable
    assert all('"redacted": "default"' in text for name, text in results.items() if name not in readable)


def test_hooks_get_the_original_of_a_session_that_redacts_nothing(planted, pytester, webeval):
    pytester.makeconftest(HOOK.format(arguments="result", named="result=result"))
    webeval("--webeval-config=config.json", "--webeval-redact=off")
    assert canaries.canary("csrf") in (pytester.path / "result.txt").read_text()


def test_a_hook_gets_a_passed_result_without_the_secrets_that_passed(runs, pytester, webeval):
    path = runs.add(107)
    for file in (runs.root / "tasks.json", path / "agent_response.json"):
        file.write_text(file.read_text().replace('"lamp"]', f'"{TEXTS["github"]}"]'))
    pytester.makeconftest(HOOK.format(arguments="result", named="result=result"))
    webeval().assert_outcomes(passed=1)
    assert list_leaks((pytester.path / "result.txt").read_text()) == set()


def test_names_of_the_allow_list_stay_readable_in_the_results_of_their_evaluator(planted, pytester, webeval):
    pytester.makeini("[pytest]\nwebeval_redact_allow =\n    NetworkEventEvaluator: X-CSRF-Token, sid\n")
    done = webeval("--webeval-config=config.json", "--webeval-output=out")
    readable = canaries.seen(*(path.read_bytes() for path in (pytester.path / "out").rglob("*.json")))
    assert readable == {"csrf", "cookie", "setcookie"}
    done.stdout.fnmatch_lines([f'*got "{canaries.canary("csrf").lower()}"*'])


@pytest.mark.parametrize("line", ["form_key", "NetworkEventEvaluator:", ": form_key", "Network Event: form_key"])
def test_a_line_of_the_allow_list_that_names_no_evaluator_is_refused(runs, pytester, webeval, line):
    runs.add(107)
    pytester.makeini(f"[pytest]\nwebeval_redact_allow =\n    {line}\n")
    done = webeval()
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([f"*invalid webeval_redact_allow '{line}'; use a line such as*"])


def test_an_unknown_mode_is_refused(runs, webeval):
    runs.add(107)
    done = webeval("--webeval-redact=loud")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*invalid --webeval-redact 'loud'; use default, off or strict"])


CHECKS = """
import pytest_webeval as webeval

def test_it(webeval_run, webeval_network_event):
    print(webeval_run.response.decode())
    webeval_network_event.check(expected={"url": "__SHOPPING__/cart", "http_method": "POST",
                                          "headers": {"x-csrf-token": "another"}})

def test_bare(webeval_run):
    assert dict(webeval_run.trace.events[0].headers)["Authorization"] == "other"
"""


@pytest.mark.whole
@pytest.mark.parametrize("how", [SERIAL, pytest.param(PARALLEL, marks=pytest.mark.whole)], ids=["serial", "parallel"])
def test_python_tests_tell_no_secrets(planted, pytester, leaving, how):
    pytester.makepyfile(test_checks=CHECKS)
    let_out = leaving("runs", "test_checks.py", *how)
    assert canaries.seen(*let_out) == set()
    result = json.loads((pytester.path / "out/100/eval_result.json").read_bytes())
    names = [found["evaluator_name"] for found in result["evaluators_results"]]
    assert names == ["AgentResponseEvaluator", "NetworkEventEvaluator", "NetworkEventEvaluator"]
    assert any(b"token=redacted-" in text for text in let_out if isinstance(text, bytes))


def test_what_python_tests_add_to_a_result_in_a_run_directory_is_told_without_secrets(planted, pytester, webeval):
    pytester.makepyfile(test_checks=CHECKS)
    done = webeval("--webeval-config=config.json", "runs", "test_checks.py")
    assert len(planted.result(100)["evaluators_results"]) == 3
    assert canaries.canary("csrf") in json.dumps(planted.result(100))
    assert canaries.seen(done.stdout.str(), json.dumps(planted.summary)) == set()


REPEATED = "canarycookie123456"
SENT = {"method": "GET", "url": "http://shop.test/", "headers": [{"name": "Cookie", "value": f"session={REPEATED}"}]}


@pytest.mark.parametrize("kind", ["har", "trace"])
@pytest.mark.parametrize("how", [SERIAL, pytest.param(PARALLEL, marks=pytest.mark.whole)], ids=["serial", "parallel"])
def test_a_secret_of_the_recording_that_the_answer_repeats_leaves_nowhere(runs, pytester, leaving, kind, how):
    expected = {"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": ["lamp"]}
    for number in range(6):
        path = runs.add(200 + number, expects=({"evaluator": "AgentResponseEvaluator", "expected": expected},))
        snapshot = {"request": SENT, "response": {"status": 200, "headers": [], "content": {}}}
        (path / "network.har").write_text(json.dumps({"log": {"entries": [snapshot]}}))
        if kind == "trace":
            (path / "network.har").unlink()
            with zipfile.ZipFile(path / "trace.zip", "w") as archive:
                archive.writestr(
                    "trace.network", json.dumps({"type": "resource-snapshot", "snapshot": snapshot}) + "\n"
                )
        said = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": [REPEATED, "order12345"]}
        (path / "agent_response.json").write_text(json.dumps(said | {"error_details": None}))
    pytester.makefile(".json", config='{"environments": {"__SHOPPING__": {"urls": ["http://shop.test"]}}}')
    let_out = [text if isinstance(text, bytes) else text.encode() for text in leaving(*how)]
    assert not any(REPEATED.encode() in text.lower() for text in let_out)
    assert any(b"order12345" in text for text in let_out)


@pytest.mark.parametrize("mode", ["default", "strict"])
def test_the_password_of_a_form_that_the_answer_repeats_leaves_nowhere(runs, leaving, pytester, mode):
    expected = {"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": ["lamp"]}
    passwords = ["swordfish", "Hunter2Zq777x9Kd", "Tr0ub4dor&3 again", "monkey7"]
    for number in range(12):  # more than eight files
        password = passwords[number % len(passwords)]
        path = runs.add(200 + number, expects=({"evaluator": "AgentResponseEvaluator", "expected": expected},))
        posted = {
            "mimeType": "application/x-www-form-urlencoded",
            "text": urlencode({"user": "bob", "password": password}),
        }
        request = {"method": "POST", "url": "http://own.test/login", "postData": posted}
        (path / "network.har").write_text(json.dumps({"log": {"entries": [{"request": request}]}}))
        said = {
            "task_type": "RETRIEVE",
            "status": "SUCCESS",
            "retrieved_data": [password.upper()],
            "error_details": None,
        }
        (path / "agent_response.json").write_text(json.dumps(said))
    pytester.makefile(".json", config='{"environments": {"__SHOPPING__": {"urls": ["http://own.test"]}}}')
    texts = [text if isinstance(text, bytes) else text.encode() for text in leaving(f"--webeval-redact={mode}")]
    assert not [word for word in passwords if any(word.lower().encode() in text.lower() for text in texts)]


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize(
    "code",
    [
        "def pytest_webeval_scored(): raise ValueError('Cookie: sid=CANARY123456; password=CANARYhunter2')",
        "def pytest_webeval_summary(): raise ValueError('password=CANARYhunter2')",
        "import pytest\ndef pytest_runtest_setup(): pytest.exit('password=CANARYhunter2')",
    ],
    ids=["scored", "summary", "exit"],
)
def test_what_hooks_raise_is_told_without_secrets(runs, webeval_apart, pytester, code):
    runs.add(107)
    pytester.makeconftest(code)
    result = webeval_apart("--webeval-output=out", "-q", "--no-summary")
    written = "".join(path.read_text(errors="replace") for path in (pytester.path / "out").rglob("*") if path.is_file())
    section = (
        result.stdout.str().partition(" webeval ==")[2].partition("!!!!")[0]
    )  # what follows is a line of pytest's own
    assert "CANARY" not in written + section
    assert "redacted-" in written + section
