"""Each method of judging from trajectories to score files, against a server on which much goes wrong."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction

import pytest

from pytest_webeval.judges.methods import METHODS
from tests.support.judge_server import failure, serve
from tests.support.judged_books import (
    FAULTS,
    MODEL,
    PRICES,
    SCORE_FILES,
    SCREENSHOTS,
    TASKS,
    BookJudge,
    add_up,
    describe,
    name_of,
    path_of,
    plan_of,
    verdict_on,
    write_books,
)
from tests.support.sessions import read_files

COMMON = (f"--webeval-judge={MODEL}", f"--webeval-tasks={TASKS}", f"--webeval-judge-prices={PRICES}")
STORE = "judge_replies"


@pytest.fixture(autouse=True)
def _no_account(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture
def read_results(runs):
    """All results of the last session by the name of the task, and its summary."""

    def read():
        files = read_files(runs.root)
        summary = files.pop("eval_summary.json")
        return {result["task_id"]: result for result in files.values()}, summary

    return read


def list_files(directory):
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*.json")}


def check_results(results, script, count):
    """Each book has its verdict, but for those that the judge refused, and only these, have none."""
    excluded, degraded = script.excluded(count), script.degraded(count)
    assert results.keys() == {name_of(number) for number in range(count)}
    for number in range(count):
        result = results[name_of(number)]
        if number in excluded:
            assert result["webeval"]["excluded"].startswith("not scored: ")
            assert result["webeval"]["judge"]["failure"] == excluded[number]
            assert bool(result["webeval"]["judge"]["degraded"]) == (number in degraded)
            continue
        verdict = verdict_on(script.method, number)
        assert result["webeval"]["excluded"] is None
        assert result["status"] == ("success" if verdict.success else "failure"), number
        actual = result["evaluators_results"][0]["actual"]
        assert (actual["score"], actual["status"]) == (int(verdict.success), "judged")
        assert actual["judge"]["vote_values"] == [verdict.success]
        assert actual["judge"]["degraded"] == {}
        if verdict.most is not None:
            points = actual["earned_points"], actual["max_points"]
            assert points == pytest.approx((float(verdict.earned), float(verdict.most)))
            assert actual["process"] is (verdict.most > 0 and verdict.earned / verdict.most >= Fraction(4, 5))
            assert (actual["outcome"], actual["flags"]) == (verdict.success, [])
            assert len(actual["items"]) >= len(expected_criteria(script.method, number))
        if script.method == "rubric-pipeline":
            assert actual["violation"] is plan_of(number).violation


def expected_criteria(method, number):
    if method == "rubric":
        return {"find the book": number % 5, "report it": 2.5}
    return {criterion.text: criterion.seen[0] if criterion.is_counted else 0 for criterion in plan_of(number).criteria}


def check_requests(script, count):
    """Nothing is sent twice without a reason, and each question has the pictures of its own run."""
    times = Counter(served.key for served in script.served)
    repeated = {served.key for served in script.served if served.fault in {"torn", "busy", "broken", "dropped"}}
    assert times == Counter(times.keys()) + Counter(repeated)
    shown = {number: set() for number in range(count)}
    for served in script.served:
        assert {number for number, _ in served.asked.pictures} <= {served.asked.number}
        shown[served.asked.number] |= {at for _, at in served.asked.pictures}
    most = SCREENSHOTS - 1 if script.method == "rubric-pipeline" else SCREENSHOTS
    assert all(ats <= set(range(SCREENSHOTS)) for ats in shown.values())
    assert all(len(ats) >= most or number in script.excluded(count) for number, ats in shown.items())
    wanted = {*FAULTS} if script.period else {""}
    assert {served.fault for served in script.served} >= wanted


def check_judging(judging, script, count):
    """The totals are those that the server counted."""
    paid = [served.usage for served in script.served if served.usage]
    usage, cost = add_up(paid)
    assert (judging["calls"], judging["usage"]) == (len(paid), {MODEL: usage})
    assert judging["cost_usd"] == pytest.approx(float(cost))
    excluded = script.excluded(count)
    assert judging["not_judged"] == dict(Counter(excluded.values()))
    assert judging["judged"] == count - len(excluded)
    fallbacks = judging.get("fallbacks", {})
    assert {run.rpartition("/")[2] for run in fallbacks} == set(map(name_of, script.degraded(count)))
    judged = (verdict_on(script.method, number) for number in range(count) if number not in excluded)
    assert judging["successes"] == sum(verdict.success for verdict in judged)


def check_score_file(directory, method, number):
    """The file has the benchmark's own shape."""
    verdict = verdict_on(method, number)
    content = json.loads((directory / "scores" / SCORE_FILES[method]).read_bytes())
    assert content.keys() == {"score", "gpt_response_text"}
    assert content["score"] == int(verdict.success)
    text = content["gpt_response_text"]
    if method == "webvoyager":
        assert text == f"{describe(number)}\n\nVerdict: {'SUCCESS' if verdict.success else 'NOT SUCCESS'}"
    elif method == "webjudge":
        assert text == f"Thoughts: {describe(number)}\n\nStatus: {'success' if verdict.success else 'failure'}"
    else:
        payload = json.loads(text)
        assert (payload["is_success"], payload["outcome_success"]) == (int(verdict.success), verdict.success)
        totals = payload["rubric_total_earned_points"], payload["rubric_total_max_points"]
        assert totals == pytest.approx((float(verdict.earned), float(verdict.most)))
        points = {item["criterion"]: float(item["post_image_earned_points"]) for item in payload["rubric_items"]}
        criteria = expected_criteria(method, number)
        assert {text: points[text] for text in criteria} == pytest.approx(criteria)
        assert payload["rubric_majority_vote_metadata"]["outcome_votes"] == [verdict.success]


def statuses(results):
    return {name: result["status"] for name, result in results.items()}


@pytest.mark.thinned(every=8)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("count", "period"),
    [
        pytest.param(len(FAULTS), len(FAULTS), id="each fault once"),
        pytest.param(200, 40, id="200 runs", marks=pytest.mark.whole),
    ],
)
def test_a_method_loses_nothing(method, count, period, webeval, webeval_apart, runs, pytester, read_results):
    write_books(pytester.path, count)
    method_option = f"--webeval-judge-method={method}"

    def ask(script, *more, start=webeval):
        with serve(script) as server:
            live = (method_option, "--webeval-judge-mode=live", f"--webeval-judge-url={server.url}")
            start(*COMMON, *live, *more)
            assert len(server.exchanges) == len(getattr(script, "served", server.exchanges))
        return server

    first = BookJudge(method, period)
    ask(first)
    results, summary = read_results()
    replies = list_files(pytester.path / STORE)
    check_results(results, first, count)
    check_requests(first, count)
    check_judging(summary["webeval"]["judging"], first, count)

    if count > len(FAULTS) or method == "webjudge":  # to start workers takes longer than all the rest
        apart = BookJudge(method, period)
        ask(apart, "-n2", "--webeval-judge-replies=other", start=webeval_apart)
        assert Counter(served.key for served in apart.served) == Counter(served.key for served in first.served)
        assert list_files(pytester.path / "other") == replies
        assert read_results() == (results, summary)

    healed = BookJudge(method)
    ask(healed)
    complete = read_results()
    check_results(complete[0], healed, count)
    unanswered = {*first.excluded(count)}
    assert {served.asked.number for served in healed.served} == unanswered
    known = {path.rpartition("/")[2].removesuffix(".json") for path in replies}
    assert known.isdisjoint(served.key for served in healed.served)
    assert {name: complete[0][name] for name in results if int(name[4:]) not in unanswered} == {
        name: result for name, result in results.items() if int(name[4:]) not in unanswered
    }
    kept = list_files(pytester.path / STORE)
    assert replies.items() <= kept.items()

    assert ask([failure(500)]).exchanges == []
    assert read_results() == complete
    webeval(*COMMON, method_option)
    assert read_results() == complete

    webeval(*COMMON, method_option, "--webeval-judge-again")
    for number in range(count):
        check_score_file(path_of(pytester.path, number), method, number)
    webeval(f"--webeval-tasks={TASKS}", f"--webeval-score-file={SCORE_FILES[method]}")
    assert statuses(read_results()[0]) == statuses(complete[0])
    assert list_files(pytester.path / STORE) == kept
