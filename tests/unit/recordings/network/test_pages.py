"""Which request is the page that the agent ended on. Each shape is as Chromium 156 and its recorders write it."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.network.readers import load_trace
from pytest_webeval.rules import find_rules
from pytest_webeval.scoring.score import score
from tests.support.bench import har_entry
from tests.unit.recordings.network.test_trace_layouts import SHOP, entry, har

pytestmark = pytest.mark.usefixtures("published")  # so that warnings name the rules that decided

HTML = {"accept": "text/html,application/xhtml+xml"}
MARKED = HTML | {"sec-fetch-dest": "document", "sec-fetch-mode": "navigate", "sec-fetch-user": "?1"}
FRAMED = HTML | {"sec-fetch-dest": "iframe", "sec-fetch-mode": "navigate"}
ABORTED = {"_failureText": "net::ERR_ABORTED"}


def with_response(made, **fields):
    return made | {"response": made["response"] | fields}


def typed(path, method="GET", status=200, headers=MARKED, frame="frame@1", page="page@1", response=None, **more):
    """A document as Playwright records it since 1.61."""
    place = {name: value for name, value in (("_frameref", frame), ("pageref", page)) if value is not None}
    made = entry(path, method, status, headers, _resourceType="document", **place, **more)
    return with_response(made, **(response or {}))


def untyped(path, method="GET", status=200, headers=HTML, response=None, **more):
    """A document as Playwright records it up to 1.60, and other recorders do."""
    return with_response(entry(path, method, status, headers, **more), **(response or {}))


def minimal(path, method="GET", frame="frame@1", headers=HTML, **more):
    """A document as Playwright records it with record_har_mode="minimal": with frames and without tabs."""
    return typed(path, method, headers=headers, frame=frame, page=None, **more)


def chrome(path, initiator="other", page="page_1", **more):
    """A document as Chrome's own HAR has it: without frames."""
    return typed(path, headers=more.pop("headers", HTML), frame=None, page=page, _initiator={"type": initiator}, **more)


def named(value, name="Content-Disposition"):
    return {"headers": [{"name": name, "value": value}]}


START = typed("/start")
DOWNLOADS = {
    "Playwright, with the status of the server": [START, typed("/file", response=ABORTED)],
    "Playwright, without a response": [START, typed("/file", status=-1, response=ABORTED)],
    "no status": [START, typed("/file", status=0)],
    "a name of a file": [START, typed("/file", response=named("attachment; filename=a.csv"))],
    "capitals": [START, typed("/file", response=named("ATTACHMENT", "content-disposition"))],
    "an answer without content": [START, typed("/file", status=204)],
    "a form without content": [START, typed("/file", "POST", status=205)],
    "after a redirect": [START, typed("/go", status=302), typed("/file", response=ABORTED)],
    "a redirect of a form": [START, typed("/go", "POST", status=303), typed("/file", response=ABORTED)],
    "in a new tab": [START, typed("/file", page="page@2", frame="frame@2", response=ABORTED)],
    "Chrome": [chrome("/start"), chrome("/file", page="page_2", response={"_error": "net::ERR_ABORTED"})],
    "untyped": [untyped("/start"), untyped("/file", response=ABORTED)],
    "untyped, with a name": [untyped("/start"), untyped("/file", response=named(" attachment"))],
    "untyped, with marks": [untyped("/start", headers=MARKED), untyped("/file", headers=MARKED, response=ABORTED)],
    "a later page aborted the first": [typed("/x", response=ABORTED), START],
}
NO_DOWNLOADS = {
    "shown in the browser": [typed("/x"), typed("/start", response=named("inline; filename=a.pdf"))],
    "no failure": [typed("/x"), typed("/start", response={"_failureText": None, "_error": ""})],
    "a redirect is all that was recorded": [typed("/x"), typed("/start", status=302)],
    "from the cache": [typed("/x"), typed("/start", status=304)],
}
FORMS = {
    "a form that posts": [typed("/form"), typed("/start", "POST")],
    "an error page": [typed("/form"), typed("/start", "POST", status=422)],
    "untyped": [untyped("/form"), untyped("/start", "POST")],
    "untyped, with marks": [untyped("/form", headers=MARKED), untyped("/start", "POST", headers=MARKED)],
    "redirected": [typed("/form"), typed("/do", "POST", status=302), START],
    "redirected, the next page is missing": [typed("/a"), typed("/do", "POST", status=302), START],
    "of a script": [START, entry("/api", "POST", headers={"accept": "*/*"}, _resourceType="fetch")],
    "of a script, untyped": [untyped("/start"), untyped("/api", "POST", headers={"accept": "*/*"})],
    "of jQuery, untyped": [
        untyped("/start"),
        untyped("/api", "POST", headers={"accept": "text/html, */*", "x-requested-with": "XMLHttpRequest"}),
    ],
    "in an iframe": [START, typed("/do", "POST", headers=FRAMED, frame="frame@2")],
    "from an iframe into the tab": [START, typed("/frame", frame="frame@2"), typed("/start", "POST")],
}
FRAMES = {
    "named": [START, typed("/frame", headers=HTML, frame="frame@2")],
    "marked": [typed("/start", frame=None), typed("/frame", headers=FRAMED, frame=None)],
    "marked, untyped": [untyped("/start", headers=MARKED), untyped("/frame", headers=FRAMED)],
    "marked, untyped, embed": [untyped("/start"), untyped("/frame", headers=HTML | {"sec-fetch-dest": "embed"})],
    "fetched, untyped": [untyped("/start"), untyped("/part", headers=HTML | {"sec-fetch-dest": "empty"})],
    "Chrome, parsed": [chrome("/start"), chrome("/frame", "parser")],
    "Chrome, parsed, first of its page": [chrome("/start"), chrome("/frame", "parser", page="page_2")],
    "Chrome, of a script": [chrome("/start"), chrome("/frame", "script")],
    "Chrome, by a script to the next page": [chrome("/a"), chrome("/start", "script", page="page_2")],
    "Chrome, redirected": [chrome("/go", status=302), chrome("/start", "script"), chrome("/frame", "script")],
    "Chrome, without pages": [chrome("/start", page=None), chrome("/frame", "parser", page=None)],
    "Playwright's tab has many pages": [typed("/a", frame=None), typed("/start", frame=None)],
    "unreadable initiators": [typed("/a", frame=None), typed("/start", frame=None, _initiator=[5])],
    "minimal, marked": [minimal("/start"), minimal("/frame", frame="frame@2", headers=FRAMED)],
    "minimal, a marked popup": [minimal("/a"), minimal("/start", frame="frame@2", headers=MARKED)],
    "minimal, back in the first tab": [minimal("/a"), minimal("/frame", frame="frame@2"), minimal("/start")],
    "minimal, a download in a popup": [minimal("/start"), minimal("/file", frame="frame@2", response=ABORTED)],
    "minimal, redirected": [minimal("/a"), minimal("/do", "POST", status=303), minimal("/start")],
    "of a program": [START, untyped("/api", _apiRequestRef="request@1")],
    "of a program, before Playwright 1.63": [START, untyped("/api", _apiRequest=True)],
}
ALL = {
    f"{kind}: {name}": entries
    for kind, table in (("download", DOWNLOADS), ("shown", NO_DOWNLOADS), ("form", FORMS), ("frame", FRAMES))
    for name, entries in table.items()
}


@pytest.mark.parametrize("name", ALL)
def test_the_last_page_is_the_one_that_the_tab_shows(tmp_path, name):
    (tmp_path / "network.har").write_bytes(har(*ALL[name]))
    page = load_trace(RunInputs(tmp_path), "network.har").last_page
    assert page.url.removeprefix(SHOP) == "/start"


def test_where_nothing_was_shown_there_is_no_page(tmp_path):
    (tmp_path / "network.har").write_bytes(har(typed("/a", "POST", status=302), typed("/file", response=ABORTED)))
    assert load_trace(RunInputs(tmp_path), "network.har").last_page is None


FULL, IDLE = "record with record_har_mode='full'", "was not recorded; stop recording when the pages are idle"
POPUP = [minimal("/a"), minimal("/goal", frame="frame@2")]
UNKNOWN = {
    "a popup or an iframe": (POPUP, FULL),
    "one that posts": ([minimal("/a"), minimal("/goal", "POST", frame="frame@2")], FULL),
    "one that redirects": ([minimal("/a"), minimal("/go", frame="frame@2", status=302), POPUP[1]], FULL),
    "before a download": ([*POPUP, minimal("/file", response=ABORTED)], FULL),
    "a redirect of a form": ([typed("/goal"), typed("/go", "POST", status=303)], IDLE),
    "a redirect of a form, 308": ([typed("/goal"), typed("/go", "PUT", status=308)], IDLE),
    "a redirect of a form, untyped": ([untyped("/goal"), untyped("/go", "POST", status=302)], IDLE),
    "a redirect of a form in another tab": (
        [typed("/go", "POST", status=303), typed("/a"), typed("/go", "POST", status=303, page="page@2", frame="f")],
        IDLE,
    ),
    "a redirect of a form after its page": ([typed("/goal"), typed("/x"), typed("/go", "POST", status=307)], IDLE),
    "minimal, a redirect in a popup": ([*POPUP, minimal("/go", "POST", frame="frame@2", status=303)], IDLE),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_may_have_been_the_last_page_is_an_error_for_each_page(bench, name):
    entries, advice = UNKNOWN[name]
    directory = bench.record()
    (directory / "network.har").write_bytes(har(*entries))
    (directory / "agent_response.json").write_text(json.dumps({"task_type": "NAVIGATE", "status": "SUCCESS"}))
    for path in ("/a", "/goal", "/x"):
        expected = {"evaluator": "NetworkEventEvaluator", "expected": {"url": f"__SHOPPING__{path}"}}
        task = bench.task(bench.expecting("NAVIGATE", schema={"type": "null"}), expected)
        result = score(bench.case(task, "strict"), default_evaluators()).evaluators_results[-1]
        assert (str(result.status), advice in str(result.error_msg)) == ("error", True)
        assert score(bench.case(task, "default"), default_evaluators()).status != "error"


def test_the_main_frame_of_an_open_tab_is_known_from_an_earlier_chunk(tmp_path):
    """Otherwise the first document of the chunk, an iframe that loads again, would be taken for the page."""
    folder = tmp_path / "trace"
    folder.mkdir()
    (folder / "trace.trace").write_text(json.dumps({"type": "context-options", "monotonicTime": 10}))
    entries = (
        typed("/old", headers=HTML, _monotonicTime=1),
        typed("/frame", headers=HTML, frame="frame@2", _monotonicTime=11),
        typed("/start", headers=HTML, _monotonicTime=12),
        typed("/frame", headers=HTML, frame="frame@2", _monotonicTime=13),
    )
    snapshots = [json.dumps({"type": "resource-snapshot", "snapshot": each}) for each in entries]
    (folder / "trace.network").write_text("\n".join(snapshots))
    page = load_trace(RunInputs(tmp_path), "trace").under(find_rules("strict")).last_page
    assert page.url.removeprefix(SHOP) == "/start"


def test_of_lines_in_the_order_of_their_ends_the_first_to_begin_is_the_main_frame(tmp_path):
    entries = (
        typed("/frame", headers=HTML, frame="frame@2") | {"startedDateTime": "2026-01-01T00:00:02Z"},
        typed("/start", headers=HTML) | {"startedDateTime": "2026-01-01T00:00:01Z"},
    )
    (tmp_path / "network.har").write_bytes(har(*entries))
    assert load_trace(RunInputs(tmp_path), "network.har").last_page.url.removeprefix(SHOP) == "/start"


@pytest.mark.parametrize(
    ("entries", "reference", "strict"),
    [
        ([untyped("/goal", headers=MARKED), untyped("/file", headers=MARKED, response=ABORTED)], "failure", "success"),
        ([untyped("/goal"), untyped("/other", "POST")], "success", "failure"),
        ([untyped("/goal"), untyped("/frame", headers=FRAMED)], "failure", "success"),
        ([chrome("/goal"), chrome("/frame", "parser")], "failure", "success"),
    ],
)
def test_pages_decide_under_strict_rules_alone(bench, entries, reference, strict):
    directory = bench.record()
    (directory / "network.har").write_bytes(har(*entries))
    (directory / "agent_response.json").write_text(json.dumps({"task_type": "NAVIGATE", "status": "SUCCESS"}))
    expected = {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__SHOPPING__/goal"}}
    task = bench.task(bench.expecting("NAVIGATE", schema={"type": "null"}), expected)
    for rules, status in (("reference", reference), ("default", reference), ("strict", strict)):
        case = bench.case(task, rules)
        assert str(score(case, default_evaluators()).status) == status
        decided = [text for text in case.warnings if "Q24 (resource_types) changed this verdict" in text]
        assert len(decided) == (rules == "strict")


def linked(path, referer="/goal", made=untyped, **more):
    """A document that names the page before, as an iframe in it and a page that a link led to both do."""
    sent = referer if referer.startswith("http") else f"{SHOP}{referer}"
    return made(path, headers=HTML | {"Referer": sent} | more.pop("marks", {}), **more)


UNTYPED, TYPED = untyped("/goal"), typed("/goal", headers=HTML, frame=None)


@pytest.mark.parametrize(
    ("entries", "status"),
    [
        ([UNTYPED, linked("/x")], "error"),
        ([TYPED, linked("/x", made=typed, frame=None)], "error"),
        ([UNTYPED, linked("/x"), linked("/y")], "error"),
        ([UNTYPED, linked("/x"), linked("/y", "/x")], "error"),  # an iframe in an iframe
        ([UNTYPED, linked("/x", f"{SHOP}/")], "error"),  # the page of another site names the origin alone
        ([untyped("/other"), linked("/x", "/other")], "failure"),  # the expected page is none of both
        ([UNTYPED, untyped("/x")], "failure"),  # somebody typed the address
        ([UNTYPED, linked("/x", "/other")], "failure"),
        ([UNTYPED, linked("/x", marks={"sec-fetch-dest": "document"})], "failure"),
        ([TYPED, linked("/x", made=typed, frame="frame@1", page="page@2")], "failure"),
        (
            [chrome("/goal"), linked("/x", made=typed, frame=None, page="page_2", _initiator={"type": "other"})],
            "failure",
        ),
        ([untyped("/a"), linked("/goal", "/a")], "success"),
    ],
)
def test_what_may_be_an_iframe_in_the_expected_page_is_no_failure(bench, entries, status):
    directory = bench.record()
    (directory / "network.har").write_bytes(har(*entries))
    (directory / "agent_response.json").write_text(json.dumps({"task_type": "NAVIGATE", "status": "SUCCESS"}))
    expected = {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__SHOPPING__/goal"}}
    task = bench.task(bench.expecting("NAVIGATE", schema={"type": "null"}), expected)
    result = score(bench.case(task, "strict"), default_evaluators())
    assert str(result.status) == status
    assert ("names no frames; record a trace" in str(result.evaluators_results[-1].error_msg)) == (status == "error")
    assert score(bench.case(task, "default"), default_evaluators()).status != "error"


@pytest.mark.parametrize("rules", ["reference", "default", "strict"])
def test_a_tab_without_any_document_shows_no_page(bench, rules):
    entry = har_entry("http://shop.test:7770/a", "GET") | {"_resourceType": "x", "pageref": "page_1"}
    directory = bench.record({"task_type": "NAVIGATE", "status": "SUCCESS"})
    (directory / "network.har").write_text(json.dumps({"log": {"entries": [entry]}}))
    network = {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__SHOPPING__/b"}}
    task = bench.task(bench.expecting("NAVIGATE", schema={"type": "null"}), network)
    assert bench.score(task, rules).status in ("failure", "error")
    assert "KeyError" not in str(bench.score(task, rules).error_msg)
