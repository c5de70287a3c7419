"""The details of events in a report: what is written for whom, and no secret in any of it."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.__main__ import main
from pytest_webeval.reports.html.requests import MOST_DETAILED
from pytest_webeval.reports.html.writer import events_name
from tests.plugin.test_report import events_of, names_of_pages, page_of
from tests.support import canaries
from tests.support.canaries import canary

OPTIONS = ("--webeval-config=config.json", "--webeval-output=out")
PLACES = ("unlisted", "hidden", "page", "header", "nested", "swapped")
SECRETS = (*canaries.OF_EVENTS.split(), *PLACES)
MODES = ("--webeval-redact=default", "--webeval-redact=strict")


def page(*texts):
    return {"mimeType": "text/html", "text": " ".join(texts), "size": 10}


def visit(number, **response):
    found = {"status": 200, "headers": [], "cookies": [], **response}
    return {"request": {"method": "GET", "url": f"http://shop.test/{number}", "headers": []}, "response": found}


def entries(body):
    """Requests with a secret in each place of an event, and more of them than have details."""
    first = visit(0, cookies=[{"name": "sid", "value": canary("unlisted")}])
    repeated = visit(1, content=page("<p>signed in as", canary("unlisted"), canary("header")))
    answered = [{"name": "X-Auth-Token", "value": canary("header")}]
    hidden = (
        f'<input type="hidden" name="form_key" value="{canary("hidden")}">',
        f'<input value="{canary("swapped")}" name="csrf_token">',
        f'<script>load({{"api_key": "{canary("page")}"}})</script>',
    )
    nested = {"mimeType": "application/json", "text": json.dumps([{"user": {"session_token": canary("nested")}}])}
    latest = [repeated, visit(2, headers=answered, content=page(*hidden)), visit(3, content=nested)]
    return [first, *(visit(number) for number in range(4, MOST_DETAILED + 4)), *latest, canaries.entry(body)]


@pytest.fixture
def planted(runs, pytester):
    """Failing runs with secrets in all places of their events, as HAR and as Playwright trace."""
    for number, body in enumerate(canaries.BODIES):
        path = runs.add(100 + number, expects=(canaries.expectation(body),))
        (path / "network.har").write_text(json.dumps({"log": {"entries": entries(body)}}))
        canaries.as_trace(runs.add(110 + number, expects=(canaries.expectation(body),)), body)
    pytester.makefile(".json", config='{"environments": {"__SHOPPING__": {"urls": ["http://shop.test"]}}}')
    return runs


@pytest.fixture
def report(pytester):
    return pytester.path / "report"


def seen(directory):
    files = [path.read_bytes() for path in directory.rglob("*") if path.is_file()]
    assert sum(b"webeval.events(" in content for content in files) >= 2 * len(canaries.BODIES)
    return canaries.seen(*files, names=SECRETS)


@pytest.mark.thinned(every=2)
@pytest.mark.parametrize("workers", [(), ("-n2", "-p", "xdist")], ids=["serial", "parallel"])
@pytest.mark.parametrize("mode", MODES)
def test_no_secret_of_an_event_is_in_a_report(planted, webeval_apart, report, mode, workers):
    webeval_apart(*OPTIONS, "--webeval-report=report", "--webeval-report-embed=9MB", mode, *workers)
    assert seen(report) == set()


@pytest.mark.parametrize("mode", MODES)
def test_no_secret_of_an_event_is_in_a_report_of_shards(planted, webeval, pytester, mode):
    for index in (1, 2):
        webeval(
            *OPTIONS,
            f"--webeval-report=job-{index}",
            f"--webeval-shard={index}/2",
            f"--webeval-output=out-{index}",
            mode,
        )
    directories = [f"{name}-{index}" for name in ("job", "out") for index in (1, 2)]
    assert main(["merge", *directories, "--output=merged", "--report=all"]) == 0
    scripts = {
        path.name: path.read_bytes() for name in ("job-1", "job-2") for path in pytester.path.glob(f"{name}/data/*")
    }
    assert {path.name: path.read_bytes() for path in pytester.path.glob("all/data/*")} == scripts
    assert seen(pytester.path / "all") == set()


def test_what_is_written_has_its_secrets_without_redaction(planted, webeval, report):
    webeval(*OPTIONS, "--webeval-report=report", "--webeval-redact=off")
    assert seen(report) == set(SECRETS)


def test_details_have_their_names_under_strict_redaction(planted, webeval, report):
    webeval(*OPTIONS, "--webeval-report=report", "--webeval-redact=strict")
    (event,) = events_of(report, "runs/110").values()
    assert [field["name"] for field in event["request"]["body"]["post_data"]] == ["password", "card_token", "note"]
    assert {field["value"][:9] for field in event["request"]["body"]["post_data"]} == {"redacted-"}
    assert event["request"]["headers"][0] == {"name": "Accept", "value": "text/html"}


def test_a_page_says_how_many_events_have_details(planted, webeval, report):
    webeval(*OPTIONS, "--webeval-report=report")
    network = page_of(report, "runs/100")["network"]
    assert (network["total"], network["detailed"]) == (MOST_DETAILED + 5, MOST_DETAILED + 1)
    assert len(events_of(report, "runs/100")) == network["detailed"]
    assert 0 not in events_of(report, "runs/100")


def test_a_success_has_details_of_what_changed_something(runs, webeval, report):
    path = runs.add(107)
    recorded = [runs.navigation(), runs.navigation("http://shop.test/cart", method="POST")]
    (path / "network.har").write_text(json.dumps({"log": {"entries": recorded}}))
    runs.add(108)
    webeval("--webeval-report=report")
    assert list(events_of(report, "runs/107")) == [1]
    assert page_of(report, "runs/108")["network"]["detailed"] == 0
    assert not (report / "data" / f"{events_name('runs/108')}.js").exists()
    assert len(names_of_pages(report)) == 2


def test_a_run_that_cannot_be_read_has_no_details(runs, webeval, report):
    (runs.add(107) / "network.har").write_text("{")
    webeval("--webeval-report=report")
    assert [path.name for path in (report / "data").iterdir() if "-events" in path.name] == []


def test_details_that_a_report_reads_are_no_inputs_of_a_result(runs, webeval, pytester):
    """The same inputs and the same replacements with a report and without."""
    path = runs.add(107, passes=False)
    side = {"mimeType": "text/html", "_file": "page.html", "size": 9}
    (path / "network.har").write_text(json.dumps({"log": {"entries": [visit(1, content=side)]}}))
    (path / "page.html").write_text("<p>lamp" * 5_000)
    webeval("--webeval-output=without")
    webeval("--webeval-output=with", "--webeval-report=report")
    with_report, without = (
        json.loads((pytester.path / name / "107" / "eval_result.json").read_bytes())["webeval"]["inputs"]
        for name in ("with", "without")
    )
    assert with_report == without
    (event,) = events_of(pytester.path / "report", "runs/107").values()
    assert event["response"]["body"]["response_content"]["text"].startswith("<p>lamp")
