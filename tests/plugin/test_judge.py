"""Runs without a verdict are judged: options, memory, money, failures, and a judge of one's own."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from pytest_webeval.__main__ import main
from pytest_webeval.judges.certificates import (
    Certificate,
    CertifiedCounts,
    CertifiedNumbers,
    Estimate,
    write_certificate,
)
from pytest_webeval.judges.identity import JudgeIdentity
from pytest_webeval.judges.methods import METHODS
from pytest_webeval.sessions.settings.options import OPTIONS
from tests.support import recorded
from tests.support.judge_server import failure, reply, serve
from tests.support.runs import navigation

SUCCESS = "The price is visible.\nVerdict: SUCCESS"
FAILURE = "The price is wrong.\nVerdict: NOT SUCCESS"
TASKS = "id\ttask_summary\tbenchmark\n" + "".join(f"{name}\tFind {name}.\tbooks\n" for name in "abcd")
LIVE = ("--webeval-judge=gpt-4o", "--webeval-judge-method=webvoyager", "--webeval-tasks=tasks.tsv")


@pytest.fixture(autouse=True)
def tasks(pytester, monkeypatch):
    (pytester.path / "tasks.tsv").write_text(TASKS)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def verdict_by_task(exchange):
    """Success for all tasks but b."""
    return FAILURE if "Find b." in json.dumps(exchange.body) else SUCCESS


@pytest.fixture
def ask(webeval):
    """A session that asks a server."""
    return lambda server, *more: webeval(*LIVE, "--webeval-judge-mode=live", f"--webeval-judge-url={server.url}", *more)


@pytest.fixture
def judged(results):
    """What the result of a task says of its judge."""
    return lambda name: results(name)["evaluators_results"][0]["actual"]["judge"]


@pytest.fixture
def results(runs):
    def read(name):
        return json.loads((runs.root / recorded.RUN / name / "eval_result.json").read_text())

    return read


def test_runs_without_a_verdict_are_judged_and_the_replies_remembered(tree, ask, webeval, runs, results, judged):
    tree("a", scores=None)
    tree("b", scores=None)
    tree("c")
    with serve(verdict_by_task) as server:
        first = ask(server)
        first.assert_outcomes(passed=2, failed=1)
        assert len(server.exchanges) == 2
        before = results("a"), runs.summary["webeval"]["judging"]
        second = ask(server)
        second.assert_outcomes(passed=2, failed=1)
        assert len(server.exchanges) == 2
    third = webeval(*LIVE)
    third.assert_outcomes(passed=2, failed=1)
    line = "judge gpt-4o (webvoyager 1): 2 runs judged, 2 replies, 220 tokens, $0.0007"
    for outcome in (first, second, third):
        outcome.stdout.fnmatch_lines([line, "no certificate: how far people agree with this judge is unknown; *"])
    after = results("a")
    for one in (before[0], after):
        one["webeval"].pop("wall_time")
    assert (after, runs.summary["webeval"]["judging"]) == before
    assert judged("a") == {
        "model": "gpt-4o",
        "text_model": None,
        "method": "webvoyager",
        "version": "1",
        "votes": 1,
        "threshold": "0.8",
        "criterion": "outcome",
        "success": True,
        "replied_by": ["gpt-4o"],
        "calls": 1,
        "usage": {"gpt-4o": {"prompt": 100, "completion": 10, "reasoning": 0, "cached": 0}},
        "cost_usd": pytest.approx(0.00035),
        "degraded": {},
        "agreement": None,
        "vote_values": [True],
    }
    assert "judge" not in results("c")["evaluators_results"][0]["actual"]


def test_screenshots_are_inputs_of_a_judged_result(tree, ask, results):
    tree("a", scores=None)
    with serve([SUCCESS]) as server:
        ask(server)
    assert {f"screenshot{number}.png" for number in range(4)} <= set(results("a")["webeval"]["inputs"])
    pictures = [part for part in server.exchanges[0].body["messages"][-1]["content"] if part["type"] == "image_url"]
    assert len(pictures) == 4


MANUAL = Path(__file__).parents[2] / "docs/how-to/judge-runs.md"


@pytest.mark.thinned(every=4)
@pytest.mark.parametrize("method", METHODS)
def test_what_is_sent_is_what_the_manual_lists(method, tree, ask):
    tree("a", scores=None)
    with serve(["I do not know."]) as server:
        ask(server, f"--webeval-judge-method={method}")
    section = MANUAL.read_text("utf-8").partition("## What is sent")[2].partition("\n## ")[0]
    listed, absent = section.partition("are not sent")[0].rsplit("\n\n", 1)
    assert server.exchanges
    for exchange in server.exchanges:
        assert {"model", "messages"} <= exchange.body.keys() <= set(re.findall("`([a-z_]+)`", listed))
        assert exchange.body.keys().isdisjoint(re.findall("`([a-z_]+)`", absent))
        assert ("response_format" in exchange.body) is (method in ("rubric", "rubric-pipeline"))
        parts = [part for message in exchange.body["messages"] for part in message["content"]]
        assert {part["image_url"]["detail"] for part in parts if isinstance(part, dict) and "image_url" in part} <= {
            "high"
        }


def test_by_default_nobody_is_asked(tree, webeval, runs):
    tree("a", scores=None)
    outcome = webeval(*LIVE, "-rs")
    outcome.assert_outcomes(skipped=1)
    outcome.stdout.fnmatch_lines(
        ["SKIPPED*not scored: no remembered reply of gpt-4o @ webvoyager.verdict; ask for it with --webeval-judge-*"]
    )
    outcome.stdout.fnmatch_lines(
        ["not judged: forgotten 1", "  forgotten: runs/*/a: no remembered reply of gpt-4o @ *"]
    )
    assert runs.summary["webeval"]["judging"]["not_judged"] == {"forgotten": 1}
    assert not list(runs.root.rglob("eval_result.json"))


def test_off_asks_nobody_and_needs_no_key(tree, webeval, runs):
    tree("a", scores=None)
    webeval(*LIVE, "--webeval-judge-mode=off").assert_outcomes(skipped=1)
    assert "judging" not in runs.summary["webeval"]


@pytest.mark.thinned(every=2)
@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        (["Verdict: maybe"], "unparseable"),
        ([reply(None, refusal="I cannot.")], "refused"),
        ([reply("Ver", finish_reason="length")], "truncated"),
        ([reply("", finish_reason="content_filter")], "filtered"),
        ([failure(404)], "unreachable"),
        ([reply(SUCCESS, model="gpt-3")], "unreachable"),
    ],
)
def test_a_failure_of_the_judge_is_not_one_of_the_agent(answers, outcome, tree, ask, runs, results):
    tree("a", scores=None)
    tree("c")
    with serve(answers) as server:
        ask(server).assert_outcomes(passed=1, skipped=1)
    summary = runs.summary
    assert (summary["total"], summary["webeval"]["excluded_count"]) == (1, 1)
    assert summary["webeval"]["judging"]["not_judged"] == {outcome: 1}
    assert results("a")["webeval"]["judge"]["failure"] == outcome
    assert results("a")["webeval"]["excluded"].startswith("not scored: ")


@pytest.mark.thinned(every=4)
@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("method", ["webvoyager", "webjudge"])
def test_a_refused_key_ends_the_session_once(status, method, tree, ask, runs):
    for name in "abcd":
        tree(name, scores=None)
    with serve([failure(status, "not yours")]) as server:
        outcome = ask(server, f"--webeval-judge-method={method}")
        assert len(server.exchanges) == 1
    assert outcome.ret == pytest.ExitCode.TESTS_FAILED
    outcome.assert_outcomes(skipped=1)
    check_refusal(outcome, runs)


def check_refusal(outcome, runs):
    """One line says that the key was refused, and the summary has it."""
    lines = [line for line in outcome.outlines + outcome.errlines if "refused the key" in line]
    assert len(lines) == 1, lines
    assert re.fullmatch(r"stopped: 127\.0\.0\.1:\d+ refused the key.*; (set|use) .*; not scored: .*", lines[0])
    assert "refused the key" in runs.summary["webeval"]["stopped"]
    assert runs.summary["webeval"]["judging"]["not_judged"] == {
        "unreachable": 4 - runs.summary["webeval"]["unscored_count"]
    }


@pytest.mark.parametrize("option", ["-n2", "-x"])
def test_a_refused_key_ends_a_session_with_several_processes(option, tree, ask, webeval_apart, runs):
    for name in "abcd":
        tree(name, scores=None)
    with serve([failure(401)]) as server:
        live = ("--webeval-judge-mode=live", f"--webeval-judge-url={server.url}", option)
        outcome = webeval_apart(*LIVE, *live)
        assert 1 <= len(server.exchanges) <= 2
    assert outcome.ret == pytest.ExitCode.TESTS_FAILED
    check_refusal(outcome, runs)


def test_a_key_that_is_refused_while_it_proposes_patterns_ends_the_session(near, webeval):
    with serve([failure(401)]) as server:
        outcome = webeval(*REQUESTS, f"--webeval-judge-url={server.url}")
    assert outcome.ret == pytest.ExitCode.TESTS_FAILED
    outcome.stdout.fnmatch_lines(["stopped: 127.0.0.1:* refused the key; *"])


def test_what_the_rules_decide_reaches_no_judge(tree, ask):
    tree("a", answer=recorded.final_answer("<no_answer>"), scores=None)
    tree("b", answer=recorded.final_answer("<no_answer>", is_aborted=True), scores=None)
    tree("c", web_surfer_log="", scores=None)
    tree("d", web_surfer_log=recorded.log(recorded.CLICK), scores=None)
    with serve([SUCCESS]) as server:
        ask(server).assert_outcomes(failed=3, skipped=1)
    assert server.exchanges == []


@pytest.mark.whole
def test_two_workers_pay_for_the_same_questions(tree, webeval_apart, ask, runs, pytester):
    for name in "abcd":
        tree(name, scores=None)
    with serve(verdict_by_task) as server:
        arguments = (*LIVE, "--webeval-judge-mode=live", f"--webeval-judge-url={server.url}")
        webeval_apart(*arguments, "-n2", "--webeval-judge-replies=two").assert_outcomes(passed=3, failed=1)
        two = runs.summary["webeval"]["judging"]
        ask(server, "--webeval-judge-replies=one").assert_outcomes(passed=3, failed=1)
        assert len(server.exchanges) == 8
    assert runs.summary["webeval"]["judging"] == two
    files = [
        sorted(path.relative_to(root) for path in root.rglob("*.json"))
        for root in map(pytester.path.joinpath, ("one", "two"))
    ]
    assert files[0] == files[1]
    assert [(pytester.path / "one" / name).read_bytes() for name in files[0]] == [
        (pytester.path / "two" / name).read_bytes() for name in files[0]
    ]


def test_no_more_than_the_limit_is_spent(tree, ask, runs, pytester):
    for name in "abcd":
        tree(name, scores=None)
    with serve([SUCCESS]) as server:
        ask(server, "--webeval-judge-max-usd=0.0001").assert_outcomes(skipped=4)
        assert server.exchanges == []
        ask(server, "--webeval-judge-max-usd=5").assert_outcomes(passed=4)
    assert runs.summary["webeval"]["judging"]["not_judged"] == {}
    assert [path.name for path in (pytester.path / "judge_replies" / ".locks").iterdir()] == [".gitignore"]


def test_prices_of_a_file_count_before_the_others(tree, ask, judged, pytester):
    (pytester.path / "prices.toml").write_text('["gpt-4o"]\ninput = 1000\noutput = 10000\n')
    tree("a", scores=None)
    with serve([SUCCESS]) as server:
        ask(server, "--webeval-judge-prices=prices.toml")
    assert judged("a")["cost_usd"] == pytest.approx(0.2)


def test_votes_are_counted(tree, ask, judged):
    tree("a", scores=None)
    with serve([SUCCESS, FAILURE, SUCCESS]) as server:
        ask(server, "--webeval-judge-votes=3", "--webeval-judge-concurrency=1").assert_outcomes(passed=1)
    assert (judged("a")["vote_values"], judged("a")["agreement"]) == ([True, False, True], pytest.approx(2 / 3))


def test_judging_again_writes_score_files_and_changes_none(tree, ask, webeval, pytester):
    path = tree("a")
    stored = path / "scores" / "mmrubric_0.8-5-3.json"
    before = {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    with serve([FAILURE]) as server:
        ask(server, "--webeval-judge-again", "--webeval-output=out").assert_outcomes(failed=1)
        written = pytester.path / "out" / recorded.RUN / "a" / "scores" / "gpt_eval.json"
        content = json.loads(written.read_text())
        assert content["score"] == 0
        assert content["gpt_response_text"].endswith("NOT SUCCESS")
        assert {file: file.read_bytes() for file in path.rglob("*") if file.is_file()} == before
        ask(server, "--webeval-judge-again").assert_outcomes(failed=1)
        assert stored.read_bytes() == before[stored]
        other = stored.with_name("gpt_eval.webvoyager-gpt-4o.json")
        assert other.read_bytes() == written.read_bytes()
        webeval().assert_outcomes(passed=1)
        other.write_text("{}")
        outcome = ask(server, "--webeval-judge-again")
    outcome.stdout.fnmatch_lines(
        ["*gpt_eval.webvoyager-gpt-4o.json holds another verdict; choose another directory with --webeval-output"]
    )
    assert len(server.exchanges) == 1


@pytest.fixture
def certified(pytester):
    """Writes a certificate of the judge with these members."""

    def write(**changes):
        judge = {"model": "gpt-4o", "method": "webvoyager", "version": "1", "threshold": "0.8"}
        judge |= {"criterion": "outcome"} | changes
        estimate = Estimate(0.9, (0.8, 0.95))
        numbers = dict.fromkeys(("accuracy", "precision", "recall", "specificity", "kappa", "base_rate"), estimate)
        counts = CertifiedCounts(judged=60, true_positive=27, false_positive=3, false_negative=3, true_negative=27)
        certificate = Certificate(
            judge=JudgeIdentity(**judge),
            counts=counts,
            numbers=CertifiedNumbers(**numbers),
            labels=(),
            package_version="0.1.0",
        )
        write_certificate(pytester.path / "certificate.json", certificate)
        return "--webeval-judge-certificate=certificate.json"

    return write


def test_a_certificate_says_how_far_the_judge_can_be_trusted(tree, ask, runs, certified):
    for name in "abcd":
        tree(name, scores=None)
    with serve(verdict_by_task) as server:
        outcome = ask(server, certified(), "--webeval-gate=certificate")
    outcome.assert_outcomes(passed=3, failed=1)
    assert outcome.ret == 0
    outcome.stdout.fnmatch_lines(
        [
            "certificate: agrees with people on 90.0% (*) of 60 runs, kappa 0.90, success rate corrected * 81.2% (*)",
            "gates: 1 of 1 passed",
            "  pass  certificate: wanted a certificate that is valid for the judge; found 60 labelled runs",
        ]
    )
    certificate = runs.summary["webeval"]["judging"]["certificate"]
    assert certificate["raw_success_rate"]["value"] == 0.75
    assert certificate["corrected_success_rate"]["value"] == pytest.approx((0.75 + 0.9 - 1) / (0.9 + 0.9 - 1))


def test_a_stale_certificate_is_refused(tree, ask, certified):
    tree("a", scores=None)
    with serve([SUCCESS]) as server:
        outcome = ask(server, certified(version="0"), "--webeval-gate=certificate")
    assert outcome.ret == 1
    outcome.stdout.fnmatch_lines(
        [
            "certificate not valid: version was 0 and is 1",
            "  FAIL  certificate: wanted a certificate that is valid for the judge; found version was 0 and is 1",
        ]
    )


def test_where_no_judge_was_asked_none_has_to_be_certified(tree, webeval, certified):
    tree("a")
    outcome = webeval(certified(), "--webeval-gate=certificate")
    assert outcome.ret == 0
    outcome.stdout.fnmatch_lines(["  pass  certificate: * found no judge was asked"])


def test_every_method_is_a_choice_of_the_option():
    (option,) = [option for option in OPTIONS if option.name == "judge_method"]
    assert set(option.choices) == METHODS.keys()


OWN_JUDGE = """
import pytest

from pytest_webeval import Reply


class LengthJudge:
    model = "length-judge-1"

    def answer(self, question):
        return {answer}


@pytest.fixture(scope="session")
def webeval_judge():
    return LengthJudge()
"""


def test_a_judge_of_ones_own_is_asked_and_remembered(tree, webeval, pytester, judged):
    tree("a", scores=None)
    conftest = pytester.path / "conftest.py"
    conftest.write_text(OWN_JUDGE.format(answer='Reply(text="Long.\\nVerdict: SUCCESS", model=self.model)'))
    arguments = ("--webeval-judge-method=webvoyager", "--webeval-tasks=tasks.tsv")
    webeval(*arguments).assert_outcomes(skipped=1)
    webeval(*arguments, "--webeval-judge-mode=live").assert_outcomes(passed=1)
    assert (judged("a")["model"], judged("a")["cost_usd"]) == ("length-judge-1", None)
    webeval(*arguments).assert_outcomes(passed=1)


def test_a_judge_that_returns_a_text_is_told_what_to_return(tree, webeval, pytester):
    tree("a", scores=None)
    (pytester.path / "conftest.py").write_text(OWN_JUDGE.format(answer='"SUCCESS"'))
    outcome = webeval("--webeval-judge-mode=live", "--webeval-tasks=tasks.tsv", "-rs")
    outcome.assert_outcomes(skipped=1)
    outcome.stdout.fnmatch_lines(["SKIPPED*not scored: the judge returned str; return Reply(text=..., model=...)"])


ASKING = ["--webeval-judge=m", "--webeval-judge-mode=live"]
LOCAL = [*ASKING, "--webeval-judge-url=http://127.0.0.1/v1"]


@pytest.mark.thinned(every=5)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (ASKING, "no key for api.openai.com; set the environment variable OPENAI_API_KEY"),
        ([*ASKING, "--webeval-judge-url=x"], "invalid base URL of the judge; use one such as *"),
        ([*ASKING, "--webeval-judge-url=http://u:p@127.0.0.1/v1"], "has a user or parameters; put the key into *"),
        ([*LOCAL, "--webeval-judge-max-usd=1"], "no price for model 'm', so --webeval-judge-max-usd cannot be kept; *"),
        (["--webeval-judge=m", "--webeval-judge-replies=none"], "directory not found: *none; check the path, *"),
        (["--webeval-judge-certificate=tasks.tsv"], "*tasks.tsv is not valid JSON: *; repair the file"),
        (["--webeval-judge-votes=2"], "invalid --webeval-judge-votes '2'; use 1, 3, 5 or so, at most 99"),
        (["--webeval-judge-max-usd=much"], "invalid --webeval-judge-max-usd 'much'; use an amount in USD, e.g. 2.50"),
        (["--webeval-judge-max-usd=nan"], "invalid --webeval-judge-max-usd 'nan'; use an amount in USD, e.g. 2.50"),
        (["--webeval-judge-concurrency=0"], "invalid --webeval-judge-concurrency '0'; use a number from 1 to 256"),
        (["--webeval-judge-method=x"], "invalid --webeval-judge-method 'x'; use rubric, *"),
        (["--webeval-judge-mode=x"], "invalid --webeval-judge-mode 'x'; use cached, live or off"),
    ],
)  # fmt: skip
def test_invalid_options_are_named(arguments, message, tree, webeval):
    tree("a")
    outcome = webeval(*arguments)
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    outcome.stderr.fnmatch_lines([f"*{message}"])


def test_secrets_are_removed_before_anything_is_sent(tree, ask):
    typed = {"action": "type", "text": "password=hunter2hunter2"}
    tree("a", answer=recorded.final_answer("It is hunter2hunter2."), web_surfer_log=recorded.log(typed), scores=None)
    with serve([SUCCESS]) as server:
        ask(server, "--webeval-redact=off")
    assert not re.search("hunter2", json.dumps([exchange.body for exchange in server.exchanges]))


def test_waiting_for_a_judge_is_not_scoring(tree, ask):
    tree("a", scores=None)
    with serve([reply(SUCCESS)._replace(seconds=1.5)]) as server:
        ask(server, "--webeval-timeout=1").assert_outcomes(passed=1)


NEAR = {"reasoning": "Only the order differs.", "acceptance": "yes", "expected": '{"url": "^__SHOPPING__/list.*$"}'}
REQUESTS = (
    "--webeval-judge=gpt-4o",
    "--webeval-judge-text-model=gpt-4o-mini",
    "--webeval-judge-mode=live",
    "--webeval-judge-requests",
    "--webeval-config=sites.json",
)


@pytest.fixture
def near(runs, pytester):
    """A run whose only request has another query than the task expects."""
    (pytester.path / "sites.json").write_text('{"environments": {"__SHOPPING__": {"urls": ["http://shop.test"]}}}')
    expected = {"url": "__SHOPPING__/list?sort=price", "http_method": "GET", "response_status": 200}
    path = runs.add(107, expects=({"evaluator": "NetworkEventEvaluator", "expected": expected},))
    return record(path, "http://shop.test/list?sort=name&token=hunter2hunter2")


def record(path, url):
    """Put one request into the recording of a run."""
    (path / "network.har").write_text(json.dumps({"log": {"entries": [navigation(url)]}}))
    return path


def test_a_judge_proposes_a_pattern_for_a_request_that_came_near(near, webeval, runs):
    with serve([json.dumps(NEAR)]) as server:
        outcome = webeval(*REQUESTS, f"--webeval-judge-url={server.url}")
    outcome.assert_outcomes(failed=1)
    outcome.stdout.fnmatch_lines(
        [
            "judge gpt-4o-mini @ eval[[]1]: accepts the nearest request: Only the order differs.",
            '  proposed for the task, which decides: {"url": "^__SHOPPING__/list.*$"}',
            "judge of requests: 1 proposal, 1 reply, 110 tokens, $0.0000",
        ]
    )
    (proposal,) = json.loads((near / "eval_result.json").read_text())["webeval"]["proposals"]
    assert (proposal["index"], proposal["is_accepted"]) == (1, True)
    assert proposal["expected"] == {"url": "^__SHOPPING__/list.*$"}
    assert runs.summary["webeval"]["judging"]["cost_usd"] == pytest.approx(0.000021)
    assert "hunter2" not in json.dumps([exchange.body for exchange in server.exchanges])
    assert server.exchanges[0].body["model"] == "gpt-4o-mini"


def test_without_a_reply_there_is_no_proposal_and_the_same_verdict(near, webeval):
    outcome = webeval(*REQUESTS, "--webeval-judge-mode=cached")
    outcome.assert_outcomes(failed=1)
    outcome.stdout.fnmatch_lines(["judge gpt-4o-mini @ eval[[]1]: no proposal: no remembered reply of gpt-4o-mini @ *"])


def test_a_request_that_is_not_near_or_is_forbidden_is_shown_to_nobody(runs, webeval, pytester):
    (pytester.path / "sites.json").write_text('{"environments": {"__SHOPPING__": {"urls": ["http://shop.test"]}}}')
    far = {"url": "__SHOPPING__/cart", "http_method": "POST", "response_status": 200}
    forbidden = {"url": "__SHOPPING__/list", "http_method": "GET", "response_status": 200}
    network = "NetworkEventEvaluator"
    record(runs.add(107, expects=({"evaluator": network, "expected": far},)), "http://shop.test/list")
    check = {"evaluator": network, "expected": forbidden, "should_not_exist": True}
    record(runs.add(108, expects=(check,)), "http://shop.test/list")
    with serve([json.dumps(NEAR)]) as server:
        webeval(*REQUESTS, f"--webeval-judge-url={server.url}").assert_outcomes(failed=2)
    assert server.exchanges == []


@pytest.mark.thinned(every=2)
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_nothing_is_written_outside_of_a_run_or_waits_for_a_pipe(kind, tree, ask, pytester):
    path, outside = tree("a", scores=None), pytester.path / "outside"
    outside.mkdir()
    if kind == "link":
        (path / "scores").symlink_to(outside)
    else:
        (path / "scores").mkdir()
        os.mkfifo(path / "scores" / "gpt_eval.json")
    with serve([SUCCESS]) as server:
        outcome = ask(server, "--webeval-judge-again")
    assert list(outside.iterdir()) == []
    if kind == "link":
        outcome.stdout.fnmatch_lines(["*scores is a link, and nothing is written through it; choose another *"])
    else:
        assert (path / "scores" / "gpt_eval.webvoyager-gpt-4o.json").is_file()


def test_secrets_that_a_judge_quotes_are_not_in_score_files_elsewhere(tree, ask, pytester):
    tree("a", scores=None)
    with serve(["The page shows password=hunter2hunter2.\nVerdict: SUCCESS"]) as server:
        ask(server, "--webeval-judge-again", "--webeval-output=out").assert_outcomes(passed=1)
    text = "".join(path.read_text() for path in (pytester.path / "out").rglob("*.json"))
    assert "SUCCESS" in text
    assert "hunter2" not in text


def test_a_run_whose_task_the_file_does_not_define_is_not_judged(tree, ask):
    path = tree("unknown", scores=None)
    recorded.put(path / "task_data.json", {"task_summary": "Do nothing."})
    with serve([SUCCESS]) as server:
        outcome = ask(server, "-rs")
        assert server.exchanges == []
    outcome.assert_outcomes(skipped=1)
    outcome.stdout.fnmatch_lines(
        ["SKIPPED*not scored: no verdict in scores/*task unknown is not defined in tasks.tsv;*"]
    )


def test_a_judge_that_is_shown_the_task_of_the_run_directory_says_so(tree, webeval, results):
    recorded.put(tree("a", scores=None) / "task_data.json", {"task_summary": "Do nothing."})
    with serve([SUCCESS]) as server:
        arguments = ("--webeval-judge=gpt-4o", "--webeval-judge-method=webvoyager", "--webeval-judge-mode=live")
        webeval(*arguments, f"--webeval-judge-url={server.url}").assert_outcomes(passed=1)
    warnings = results("a")["webeval"]["warnings"]
    assert any(text.startswith("the judge was shown the task text of the run directory") for text in warnings)


def test_a_judge_of_ones_own_that_raises_is_no_failure_of_the_agent(tree, webeval, pytester, runs):
    tree("a", scores=None)
    (pytester.path / "conftest.py").write_text(OWN_JUDGE.format(answer="1 / 0"))
    outcome = webeval("--webeval-judge-mode=live", "--webeval-tasks=tasks.tsv", "-rs")
    outcome.assert_outcomes(skipped=1)
    outcome.stdout.fnmatch_lines(["SKIPPED*not scored: the judge raised ZeroDivisionError: *; fix its method answer()"])
    assert runs.summary["webeval"]["judging"]["not_judged"] == {"unreachable": 1}


def test_the_rate_of_a_judge_is_that_of_its_verdicts(tree, webeval, pytester, runs):
    tree("a", scores=None)
    (pytester.path / "conftest.py").write_text(
        OWN_JUDGE.format(answer='Reply(text="Fine.\\nVerdict: SUCCESS", model=self.model)')
        + """
from pytest_webeval import Assertion, EvaluatorResult

@pytest.fixture(autouse=True)
def other(record_evaluation):
    checks = [Assertion(assertion_name="mine_mismatch", status="failure")]
    record_evaluation(EvaluatorResult(evaluator_name="Mine", status="failure", score=0.0, assertions=checks))
"""
    )
    webeval("--webeval-judge-mode=live", "--webeval-tasks=tasks.tsv", "--webeval-judge-method=webvoyager")
    assert (runs.summary["success_count"], runs.summary["webeval"]["judging"]["successes"]) == (0, 1)


@pytest.mark.whole
def test_a_judged_result_is_not_reused_for_another_judge(tree, ask, webeval, judged):
    tree("a", scores=None)
    with serve([SUCCESS]) as server:
        ask(server, "--webeval-reuse").assert_outcomes(passed=1)
        ask(server, "--webeval-reuse").assert_outcomes(passed=1)
    with serve([FAILURE]) as server:
        ask(server, "--webeval-reuse", "--webeval-judge-replies=other").assert_outcomes(failed=1)
    assert judged("a")["success"] is False


def test_the_failure_text_names_the_judge(tree, ask):
    tree("b", scores=None)
    with serve([FAILURE]) as server:
        outcome = ask(server)
    outcome.stdout.fnmatch_lines(["RubricEvaluator, by judge gpt-4o (webvoyager 1)"])


def test_a_judge_of_ones_own_without_a_model_is_one_line(tree, webeval, pytester):
    tree("a", scores=None)
    source = OWN_JUDGE.format(answer="None").replace('model = "length-judge-1"', 'name = "mine"')
    (pytester.path / "conftest.py").write_text(source)
    outcome = webeval("--webeval-judge-mode=live", "--webeval-tasks=tasks.tsv")
    outcome.stdout.fnmatch_lines(["*invalid model of the judge that webeval_judge returns: None; give it a name of *"])


def test_a_certificate_of_a_judge_that_judged_nothing_is_not_stale(tree, webeval, certified):
    tree("a", scores=None)
    outcome = webeval(*LIVE, certified())
    outcome.stdout.fnmatch_lines(["certificate not valid: no run was judged, so that there is nothing to certify"])


@pytest.mark.whole
def test_all_processes_together_send_so_many_requests_at_a_time(tree, webeval_apart, pytester):
    for name in "abcd":
        for picture in tree(name, scores=None).glob("*.png"):  # equal ones would be one question
            picture.write_bytes(recorded.PIXEL + picture.name.encode())
    with serve(lambda _: reply("It shows a page.\nScore: 4")._replace(seconds=0.05)) as server:
        arguments = ("--webeval-judge=gpt-4o", "--webeval-judge-method=webjudge", "--webeval-tasks=tasks.tsv")
        live = ("--webeval-judge-mode=live", f"--webeval-judge-url={server.url}", "--webeval-judge-concurrency=2")
        webeval_apart(*arguments, *live, "-n2").assert_outcomes(skipped=4)
    assert 1 <= server.most_at_once <= 2


@pytest.mark.parametrize(
    "options",
    [
        ["--webeval-judge=other"],
        ["--webeval-judge-text-model=other"],
        ["--webeval-judge-method=webjudge"],
        ["--webeval-judge-votes=3"],
        ["--webeval-judge-again"],
        ["--webeval-judge-requests"],
        ["--webeval-judge-mode=off"],
    ],
)
def test_shards_with_another_judge_are_not_merged(options, tree, webeval, pytester, capsys):
    for name in "ab":
        tree(name)
    webeval(*LIVE, "--webeval-shard=1/2", "--webeval-output=one")
    webeval(*LIVE, *options, "--webeval-shard=2/2", "--webeval-output=two")
    capsys.readouterr()
    assert main(["merge", "one", "two", "--output=merged"]) == 4
    assert "option judging" in capsys.readouterr().err


def test_a_verdict_is_not_compared_with_what_the_run_says_of_an_older_one(tree, ask, results):
    core = recorded.core_log("a", evaluated=True) + recorded.core_log("a")
    tree("a", scores=None, core_log=core)
    with serve([SUCCESS]) as server:
        ask(server).assert_outcomes(passed=1)
    assert [text for text in results("a")["webeval"]["warnings"] if "R17" in text] == []


@pytest.mark.whole
def test_a_threshold_has_one_spelling(tree, ask, judged):
    tree("a", scores=None)
    with serve([SUCCESS]) as server:
        ask(server, "--webeval-rubric-threshold=0.80").assert_outcomes(passed=1)
    assert judged("a")["threshold"] == "0.8"
