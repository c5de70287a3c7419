"""What a recorder left out is an error that names it with the setting to change, and no failure of the agent."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pytest_webeval.api import load_run
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.evaluators.case import Case
from pytest_webeval.evaluators.network.evaluator import NetworkEventEvaluator
from pytest_webeval.recordings.network.events import NetworkTrace
from pytest_webeval.recordings.network.gaps import Gaps, parse_length
from pytest_webeval.scoring.score import run_evaluator, score
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR as NETWORK
from pytest_webeval.tasks.task import Expectation, read_task

pytestmark = pytest.mark.usefixtures("published")  # so that warnings name the rules that decided

RECORDED = Path(__file__).parents[3] / "recorded"
SHOP = "http://shop.test:7770"
FORM, JSON, HTML = "application/x-www-form-urlencoded", "application/json", "text/html"
POST = {"url": "__SHOPPING__/cart", "http_method": "POST"}
REDIRECT = {**POST, "response_status": 302}
ACCEPT = {"Accept": "text/html,application/xhtml+xml"}


def pairs(headers):
    return [{"name": name, "value": value} for name, value in (headers or {}).items()]


def request(method="POST", path="/cart", *, headers=ACCEPT, sent=None, size=-1, status=200, response=None, **own):
    """An entry as recorders of HAR write it. `response` are members of the response, `own` those of the entry."""
    posted = {} if sent is None else {"postData": sent}
    request_json = {"method": method, "url": SHOP + path, "headers": pairs(headers), "bodySize": size, **posted}
    usual = {"status": status, "headers": [], "cookies": [], "content": {"size": -1, "mimeType": HTML}}
    return {**own, "request": request_json, "response": usual | (response or {})}


def answering(content, **more):
    """An entry with this content of the response."""
    return request(response={"content": content}, **more)


def sized(length, kind=FORM):
    return {**ACCEPT, "Content-Length": str(length), "Content-Type": kind}


@pytest.fixture
def judge(bench):
    """Status and reason of the network evaluator for a HAR of that recorder, under one rule set."""

    def found(expected, *entries, recorder="Playwright", rules="strict", kind="MUTATE", **config):
        directory = bench.record({"task_type": kind, "status": "SUCCESS"})
        creator = {"creator": {"name": recorder, "version": "1"}} if recorder else {}
        (directory / "network.har").write_text(json.dumps({"log": {**creator, "entries": entries}}))
        evaluator = {"evaluator": "NetworkEventEvaluator", "expected": expected, **config}
        task = bench.task(bench.expecting(kind, schema={"type": "null"}), evaluator)
        case = bench.case(task, rules)
        result = score(case, default_evaluators()).evaluators_results[1]
        return str(result.status), result.error_msg or "", list(case.warnings)

    return found


QTY = {**REDIRECT, "post_data": {"qty": "5"}}
DATA = {**POST, "response_content": {"id": 5}}
NAVIGATION = {"url": "__SHOPPING__/cart"}
REFERRED = {**POST, "headers": {"referer": "__SHOPPING__/form"}}
IDENTIFIED = {**POST, "headers": {"Cookie": "a=1"}}
ADDED = {**POST, "response_cookies": {"msg": "added"}}
EMPTIED = {"mimeType": FORM, "text": "", "params": [{"name": "qty", "value": "5"}]}
EMPTIED_JSON = {"mimeType": JSON, "text": "", "params": []}
PAGE = answering({"size": 224, "mimeType": HTML}, method="GET", path="/form")
WHOLE_PAGE = answering({"size": 4, "mimeType": HTML, "text": "<p/>"}, method="GET", path="/form")
UNSIZED_PAGE = answering({"size": -1, "mimeType": HTML}, method="GET", path="/form")
SENT_PAGE = request("GET", "/form", headers={**ACCEPT, "Host": "shop.test:7770"})
TRACES = "its headers are provisional"
EMBED, CONTENT = "record_har_content='embed'", "export the HAR with content"
PROXY, SENSITIVE = "record with a proxy", "export the HAR with sensitive data"
HEADERS, PAGES = "use a recorder that keeps request headers", "omits all Accept and Sec-Fetch headers"
REDIRECTED = {"redirectURL": f"{SHOP}/done"}
REDIRECTS = "keeps the responses of redirects"

# Recorder, what is missing, the expectation, the entries, and what the message has to say.
GAPS = [
    ("Playwright", "form, omit", QTY, [PAGE, request(headers=sized(5), sent=EMPTIED, size=5, status=302)], EMBED),
    (
        "Playwright",
        "form, omit and minimal",
        QTY,
        [UNSIZED_PAGE, request(headers=sized(5), sent=EMPTIED, status=302)],
        EMBED,
    ),
    (
        "Playwright",
        "JSON, omit",
        QTY,
        [PAGE, request(headers=sized(9, JSON), sent=EMPTIED_JSON, size=9, status=302)],
        EMBED,
    ),
    (
        "Playwright",
        "JSON without sizes, omit and minimal",
        QTY,
        [UNSIZED_PAGE, request(headers={**ACCEPT, "Content-Type": JSON}, sent=EMPTIED_JSON, status=302)],
        EMBED,
    ),
    ("Playwright", "content, omit", DATA, [answering({"size": 22, "mimeType": JSON})], EMBED),
    ("Playwright", "content, omit and minimal", DATA, [PAGE, answering({"size": -1, "mimeType": JSON})], EMBED),
    (
        "Playwright",
        "content that has a length",
        DATA,
        [WHOLE_PAGE, request(response={"headers": pairs({"content-length": "22"})})],
        EMBED,
    ),
    ("WebInspector", "content", DATA, [answering({"size": 22, "mimeType": JSON})], CONTENT),
    ("Firefox", "content", DATA, [answering({"size": 22, "mimeType": JSON})], "includeResponseBodies"),
    ("mitmproxy", "content", DATA, [answering({"size": 22, "mimeType": JSON})], "record bodies, as Playwright does"),
    ("Playwright", "Blob", QTY, [WHOLE_PAGE, request(headers=sized(9, JSON), size=0, status=302)], PROXY),
    (
        "Playwright",
        "file in a FormData, provisional headers",
        QTY,
        [WHOLE_PAGE, request(headers={"Content-Type": "multipart/form-data; boundary=x"}, size=0, status=302)],
        PROXY,
    ),
    (
        "Playwright",
        "typed array",
        QTY,
        [
            WHOLE_PAGE,
            request(sent={"mimeType": "application/octet-stream", "text": "", "params": []}, size=9, status=302),
        ],
        "record_har_content='attach'",
    ),
    ("WebInspector", "Blob", QTY, [WHOLE_PAGE, request(headers=sized(9), status=302)], PROXY),
    ("a proxy", "body of unknown size", QTY, [request(headers={"Content-Type": FORM}, status=302)], PROXY),
    ("WebInspector", "Cookie, sanitized", IDENTIFIED, [request()], SENSITIVE),
    ("WebInspector", "Set-Cookie, sanitized", ADDED, [request()], SENSITIVE),
    ("", "Set-Cookie of a redirect", {**ADDED, "response_status": 302}, [SENT_PAGE, request(status=302)], TRACES),
    ("", "Cookie of a redirect", {**IDENTIFIED, "response_status": 302}, [SENT_PAGE, request(status=302)], TRACES),
    (
        "",
        "Blob and redirect",
        QTY,
        [SENT_PAGE, WHOLE_PAGE, request(headers={"Content-Type": JSON}, size=0, status=302)],
        PROXY,
    ),
    ("puppeteer", "all headers", REFERRED, [request("GET", headers={}), request(headers={})], HEADERS),
    ("agent-browser", "status of a redirect", REDIRECT, [request(status=0), request("GET", "/done")], REDIRECTS),
    (
        "agent-browser",
        "what a redirect leads to",
        REDIRECT,
        [request(status=0, response={"redirectURL": f"{SHOP}/done"}), request("GET", "/other")],
        f"that of the redirect to {SHOP}/done is unknown",
    ),
    ("agent-browser", "response", POST, [request(status=0)], "stop recording when the pages are idle"),
]


@pytest.mark.parametrize("rules", ["default", "strict"])
@pytest.mark.parametrize(
    ("recorder", "missing", "expected", "entries", "hint"),
    GAPS,
    ids=[f"{gap[0] or 'a trace'}: {gap[1]}" for gap in GAPS],
)
def test_what_a_recorder_left_out_is_an_error_that_names_the_setting(
    judge, rules, recorder, missing, expected, entries, hint
):
    status, reason, warnings = judge(expected, *entries, recorder=recorder, rules=rules)
    assert (status, hint in reason) == ("error", True), f"{missing}: {status} {reason}"
    if rules == "default":
        assert any(warning.startswith("§4.3 (recording_gaps) changed this verdict to error") for warning in warnings)


@pytest.mark.parametrize(
    ("recorder", "expected", "entries"),
    [(gap[0], gap[2], gap[3]) for gap in GAPS],
    ids=[f"{gap[0] or 'a trace'}: {gap[1]}" for gap in GAPS],
)
def test_the_reference_takes_what_is_missing_for_not_sent(judge, recorder, expected, entries):
    assert judge(expected, *entries, recorder=recorder, rules="reference")[0] == "failure"


UNMARKED = request("GET", headers={})


@pytest.mark.parametrize("rules", ["default", "strict"])
@pytest.mark.parametrize(
    ("entries", "status"),
    [
        ([UNMARKED], "error"),
        ([request("GET", headers={"User-Agent": "x"}), request("GET", "/other", headers={})], "error"),
        ([request("GET", "/other", headers={})], "failure"),
        ([request("GET", headers={}, status=404)], "failure"),
        ([request("GET", headers={"Accept": "*/*"})], "failure"),
        ([request("GET", headers={"Sec-Fetch-Dest": "empty"}), request("GET", "/b", headers={})], "failure"),
        ([request("GET", headers={}, _resourceType="Document")], "success"),
        (
            [
                request("GET", headers={}, _resourceType="DOCUMENT"),
                request("GET", "/b", headers={}, _resourceType="Fetch"),
            ],
            "success",
        ),
        ([request("GET", headers={}, _resourceType="Fetch")], "failure"),
        ([request("GET", "/b", headers={}, _resourceType="Document"), UNMARKED], "failure"),
        ([request("GET", _resourceType="Document")], "success"),
    ],
)
def test_a_page_is_an_error_where_nothing_says_what_a_page_is(judge, rules, entries, status):
    found, reason, _ = judge(NAVIGATION, *entries, kind="NAVIGATE", rules=rules)
    assert found == status
    assert (PAGES in reason) is (status == "error")


def test_a_forbidden_page_is_not_absent_where_nothing_says_what_a_page_is(judge):
    other = request("GET", "/other", headers={})
    assert judge(NAVIGATION, other, kind="NAVIGATE", should_not_exist=True)[0] == "error"
    marked = request("GET", "/other", headers={"Accept": "*/*"})
    assert judge(NAVIGATION, marked, kind="NAVIGATE", should_not_exist=True)[0] == "success"


STORED = {"mimeType": FORM, "text": "qty=4"}
SENT = request(sent=STORED, status=302)


@pytest.mark.parametrize("rules", ["default", "strict"])
@pytest.mark.parametrize(
    ("expected", "entries"),
    [
        (QTY, [request(headers=sized(0), size=0, status=302)]),
        (QTY, [request(size=0, status=302)]),
        (QTY, [request(status=302)]),
        (QTY, [request(headers=sized(0), sent={"mimeType": FORM, "text": ""}, status=302)]),
        (QTY, [request("PUT", headers=sized(5), sent=EMPTIED, size=5, status=302)]),
        (QTY, [PAGE, request(headers=sized(5), sent=EMPTIED, size=5, status=500)]),
        (QTY, [PAGE, request(path="/other", headers=sized(5), sent=EMPTIED, size=5, status=302)]),
        (QTY, [request(headers=sized(5), sent=EMPTIED, status=302), SENT]),
        (DATA, [request(status=204)]),
        ({**DATA, "response_status": 304}, [PAGE, answering({"size": 0, "mimeType": JSON}, status=304)]),
        ({**DATA, "response_status": 302}, [PAGE, answering({"size": -1, "mimeType": JSON}, status=302)]),
        (DATA, [PAGE, answering({"size": 0, "mimeType": JSON})]),
        (DATA, [WHOLE_PAGE, answering({"size": -1, "mimeType": JSON})]),
        (DATA, [answering({"size": -1, "mimeType": HTML, "text": "<p>login</p>"})]),
        (DATA, [answering({"size": -1, "mimeType": JSON, "text": "oops"})]),
        (REFERRED, [request()]),
        (REFERRED, [SENT_PAGE, request()]),
        (IDENTIFIED, [SENT_PAGE, request(headers={"Host": "shop.test:7770"})]),
        (IDENTIFIED, [SENT_PAGE, request(headers={":authority": "shop.test:7770"})]),
        (ADDED, [SENT_PAGE, request(response={"cookies": [{"name": "other", "value": "added"}]})]),
        ({**POST, "headers": {"X-Requested-With": "a"}}, [SENT_PAGE, request()]),
        (IDENTIFIED, [request()]),
        (ADDED, [request()]),
        (ADDED, [request(response={"cookies": [{"name": "msg", "value": "gone"}]})]),
        (REDIRECT, [request(status=-1, response={"_failureText": "net::ERR_ABORTED"})]),
        (REDIRECT, [request(status=0, response={"_error": "net::ERR_FAILED"})]),
        (REDIRECT, [request(status=-1)]),
        ({**POST, "response_status": 200}, [request(status=0, response=REDIRECTED), request("GET", "/done")]),
        (NAVIGATION, [request("GET", status=0, response=REDIRECTED), request("GET", "/done")]),
    ],
)
def test_what_was_not_sent_is_a_failure(judge, rules, expected, entries):
    assert judge(expected, *entries, rules=rules)[0] == "failure"


@pytest.mark.parametrize("rules", ["default", "strict"])
@pytest.mark.parametrize("status", [0, -1])
@pytest.mark.parametrize(
    ("target", "later"),
    [
        ({"redirectURL": f"{SHOP}/done"}, "/done"),
        ({"redirectURL": "/done"}, "/done"),
        ({"redirectURL": "", "headers": pairs({"Location": "/done#top"})}, "/done"),
    ],
)
def test_a_redirect_without_a_status_is_known_by_the_request_that_follows(judge, rules, status, target, later):
    entries = [request(status=status, response=target), request("GET", "/style"), request("GET", later)]
    assert judge(REDIRECT, *entries, rules=rules)[0] == "success"
    assert judge({**POST, "response_status": 303}, *entries, rules=rules)[0] == "error"
    assert judge(POST, *entries, rules=rules)[0] == ("success" if rules == "strict" else "failure")
    assert judge(REDIRECT, *reversed(entries), rules=rules)[0] == "error"
    assert judge(REDIRECT, *entries, rules="reference")[0] == "failure"


def at(second, made):
    """The entry with the second at which its request began."""
    return {**made, "startedDateTime": f"2026-01-01T00:00:{second:02}.000Z"}


@pytest.mark.parametrize(
    ("times", "status"),
    [((3, 2), "success"), ((2, 3), "error"), ((2, 2), "error")],
    ids=["later, written before", "before, written before", "at the same time, written before"],
)
@pytest.mark.parametrize("turn", [list, reversed], ids=["as written", "reversed"])
def test_what_follows_a_redirect_is_known_by_time(judge, times, status, turn):
    redirect = request(status=0, response={"redirectURL": f"{SHOP}/done"})
    entries = [at(times[0], request("GET", "/done")), at(times[1], redirect)]
    expected = "success" if turn is reversed and times[0] == times[1] else status  # then the order of the file counts
    assert judge(REDIRECT, *turn(entries))[0] == expected


def test_one_request_that_matches_needs_no_other_to_be_recorded(judge):
    entries = [
        request(headers=sized(9, JSON), size=0, status=302),
        request(sent={**STORED, "text": "qty=5"}, status=302),
    ]
    assert judge(QTY, *entries)[0] == "success"
    assert judge(QTY, *reversed(entries), last_event_only=False)[0] == "success"
    assert judge(QTY, *reversed(entries))[0] == "error"


def test_a_page_whose_header_was_recorded_is_none_by_its_type_when_strict_alone(judge):
    page = request("GET", headers={"Accept": "*/*"}, _resourceType="document")
    found = [judge(NAVIGATION, page, kind="NAVIGATE", rules=rules)[0] for rules in ("reference", "default", "strict")]
    assert found == ["failure", "failure", "success"]


def test_params_without_a_text_are_a_body_though_the_recorder_keeps_no_other(judge):
    sent = {"mimeType": FORM, "params": EMPTIED["params"]}
    assert judge(QTY, PAGE, request(headers=sized(5), sent=sent, size=5, status=302))[0] == "success"


def test_the_recorder_is_known_though_an_entry_is_damaged(judge):
    damaged = {**request("GET", "/b"), "response": {"status": []}}
    status, reason, _ = judge(ADDED, damaged, request(), recorder="WebInspector")
    assert (status, SENSITIVE in reason) == ("error", True)


def test_a_recorder_whose_name_cannot_be_read_has_none(judge):
    for recorder in (5, ["WebInspector"]):
        assert judge(ADDED, request(), recorder=recorder)[0] == "failure"


def test_an_export_with_cookies_is_not_sanitized(judge):
    entries = [request("GET", "/form", headers={**ACCEPT, "Cookie": "b=2"}), request()]
    for expected in (IDENTIFIED, ADDED):
        assert judge(expected, *entries, recorder="WebInspector")[0] == "failure"


@pytest.mark.parametrize(
    "recorded",
    [
        "browser_use/shop-judged-success",
        "webvoyager/taskShop--0",
        "online_mind2web/lamp_failure",
        "agentlab/2026-11-24_08-55-13_ScriptedAgent-example-model-1_on_toy.partial_0",
    ],
)
@pytest.mark.parametrize(("name", "hint"), [("body", EMBED), ("page", PAGES)])
def test_a_gap_is_an_error_in_each_format(bench, tmp_path, recorded, name, hint):
    directory = tmp_path / "recorded" / Path(recorded).name
    shutil.copytree(RECORDED / recorded, directory)
    for path in (*directory.glob("*.har"), *directory.glob("*.zip")):
        path.unlink()
    entries = [request(headers=sized(5), sent=EMPTIED, size=5, status=302), request("GET", "/seen", headers={})]
    (directory / "network.har").write_text(json.dumps({"log": {"creator": {"name": "Playwright"}, "entries": entries}}))
    expected, kind = {"body": (QTY, "MUTATE"), "page": ({"url": "__SHOPPING__/seen"}, "NAVIGATE")}[name]
    task = bench.task(bench.expecting(kind, schema={"type": "null"}))
    case = Case(load_run(directory, "strict"), read_task(task, "a test"), bench.sites)
    expectation = Expectation(NETWORK, 1, {"evaluator": NETWORK, "expected": expected})
    result = run_evaluator(expectation, case, {NETWORK: NetworkEventEvaluator()})
    assert (result.status, hint in result.error_msg) == ("error", True)


def test_a_pattern_of_a_request_needs_its_body_too(bench):
    directory = bench.record({"task_type": "MUTATE", "status": "SUCCESS"})
    (directory / "network.har").write_text(json.dumps({"log": {"entries": [request(headers=sized(9), size=0)]}}))
    evaluator = {"evaluator": "RequestPatternEvaluator", "expected": {"url_pattern": "cart", "body": {"qty": "5"}}}
    task = bench.task(bench.expecting("MUTATE", schema={"type": "null"}), evaluator)
    result = bench.score(task, "strict").evaluators_results[1]
    assert (result.status, "no recorded body of 9 bytes" in result.error_msg) == ("error", True)


@pytest.mark.parametrize(
    ("text", "length"), [("5", 5), (" 0 ", 0), ("", None), (None, None), ("-1", None), ("x", None), ("9" * 5000, None)]
)
def test_a_length_is_a_number_of_bytes(text, length):
    assert parse_length(text) == length


def test_a_trace_without_events_has_no_gaps():
    gaps = Gaps(NetworkTrace(()))
    assert (gaps.omits_bodies, gaps.is_sanitized, gaps.unmarked_pages) == (False, False, [])


HOSTED = {**ACCEPT, "Host": "shop.test:7770"}


@pytest.mark.parametrize(("status", "in_trace"), [(302, "error"), (303, "error"), (200, "failure")])
def test_a_trace_of_playwright_may_lack_the_cookies_of_a_redirect(judge, bench, status, in_trace):
    entry, expected = request(headers=HOSTED, status=status), ADDED | {"response_status": status}
    assert judge(expected, entry)[0] == "failure"  # by a HAR
    line = {"type": "resource-snapshot", "snapshot": entry}
    (bench.directory / "7/network.har").rename(bench.directory / "other")
    (bench.directory / "7/trace.network").write_text(json.dumps(line))
    task = bench.task(bench.expecting("MUTATE", schema={"type": "null"}), {"evaluator": NETWORK, "expected": expected})
    result = bench.score(task, "strict").evaluators_results[1]
    assert result.status == in_trace
    assert ("has no recorded cookies" in (result.error_msg or "")) is (in_trace == "error")
