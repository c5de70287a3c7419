"""A configured address that no request went to: what failed because of it is no failure of the agent."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pytest

from pytest_webeval.errors import EvaluationError
from pytest_webeval.evaluators.site_visits import format_unvisited, names_a_site, origin
from pytest_webeval.tasks.sites import Environment, Sites

PAGE = {"accept": "text/html"}
AWAY = [
    {"url": "http://127.0.0.1:7770/p", "headers": PAGE},
    {"url": "http://127.0.0.1:7770/q", "headers": PAGE},
    {"url": "http://cdn.test/a.css"},
]
PROBLEM = (
    "no request to a configured URL: expected http://shop.test:7770 (shopping); got "
    "http://127.0.0.1:7770 (2), http://cdn.test (1); fix the URL in --webeval-config, or re-record the run"
)
WARNING = (
    "Q59 (visited_sites) changed this verdict to error: a failure without a request to a configured URL is an error "
    "@ the trace; NetworkEventEvaluator, eval[1]"
)


@pytest.fixture
def scored(bench):
    """The whole result of a run that went elsewhere, of a task that expects a page."""

    def score(events=AWAY, url="__SHOPPING__/p", rules="default", kind="NAVIGATE", **config):
        bench.record({"task_type": kind, "status": "SUCCESS"}, events)
        network = {"evaluator": "NetworkEventEvaluator", "expected": {"url": url}, **config}
        task = bench.task(bench.expecting(kind, schema={"type": "null"}), network)
        return bench.score(task, rules)

    return score


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("kind", ["NAVIGATE", "MUTATE"])
@pytest.mark.parametrize("rules", ["default", "strict"])
@pytest.mark.parametrize("url", ["__SHOPPING__/p", "^__SHOPPING__/p.*$", ["__SHOPPING__/p", "__SHOPPING__/r"]])
def test_a_failure_far_from_all_configured_addresses_is_an_error_with_both_hosts(scored, rules, kind, url):
    whole = scored(url=url, rules=rules, kind=kind)
    result = whole.evaluators_results[1]
    assert (whole.status, result.status, result.score, result.error_msg) == ("error", "error", 0, PROBLEM)
    assert result.assertions[0].assertion_name == "missing_navigation_event"
    assert whole.webeval["warnings"] == [WARNING]
    assert whole.webeval["capture"] == []


def test_for_the_reference_it_is_a_failure_and_the_recording_has_a_warning(scored):
    whole = scored(rules="reference")
    assert (whole.status, whole.evaluators_results[1].error_msg) == ("failure", None)
    assert whole.webeval["capture"] == [{"kind": "sites_not_visited", "text": PROBLEM}]


@pytest.mark.parametrize(
    ("events", "url"),
    [
        ([*AWAY, {"url": "http://shop.test:7770/other"}], "__SHOPPING__/p"),
        ([*AWAY, {"url": "http://SHOP.test:7770/logo.png"}], "__SHOPPING__/p"),
        (AWAY, "^.*/x$"),
        (AWAY, ["^http://127.0.0.1:7770/x$", "__SHOPPING__/p"]),
        ([{"url": "about:blank"}, {"url": "data:text/html,x"}], "__SHOPPING__/p"),
    ],
    ids=["visited", "asset", "pattern", "one pattern", "nowhere"],
)
def test_a_failure_that_no_address_can_have_caused_stays_one(scored, events, url):
    whole = scored(events, url)
    assert (whole.status, whole.evaluators_results[1].error_msg) == ("failure", None)


def test_a_failing_answer_far_from_all_configured_addresses_stays_a_failure_with_a_warning(bench):
    bench.record({"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["http://127.0.0.1:7770/p"]}, AWAY)
    network = {
        "evaluator": "NetworkEventEvaluator",
        "expected": {"url": "^http://cdn.test/x$"},
        "should_not_exist": True,
    }
    whole = bench.score(bench.task(bench.expecting(data=["__SHOPPING__/p"]), network))
    assert [result.status for result in whole.evaluators_results] == ["failure", "success"]
    assert whole.webeval["capture"] == [{"kind": "sites_not_visited", "text": PROBLEM}]
    assert whole.webeval["warnings"] == []


def test_that_nothing_forbidden_was_found_far_from_all_sites_is_a_success_to_the_reference_alone(scored):
    whole = scored(kind="MUTATE", should_not_exist=True, rules="reference")
    assert (whole.status, whole.webeval["warnings"]) == ("success", [f"eval[1] cannot match: {PROBLEM}"])
    assert scored(kind="MUTATE", should_not_exist=True).status == "error"


def test_that_something_forbidden_was_found_stays_a_failure(scored):
    whole = scored([*AWAY, {"url": "http://shop.test:7770/p"}], kind="MUTATE", should_not_exist=True)
    assert (whole.status, whole.webeval["warnings"]) == ("failure", [])


def test_a_forbidden_navigation_far_from_all_sites_stays_a_failure(scored):
    whole = scored(should_not_exist=True)  # which any navigation breaks (Q38)
    assert (whole.status, whole.webeval["warnings"]) == ("failure", [])
    assert scored(should_not_exist=True, rules="strict").status == "error"


def test_addresses_that_were_guessed_are_never_wrong(bench):
    bench.record({"task_type": "MUTATE", "status": "SUCCESS"}, AWAY)
    network = {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__WIKIPEDIA__/x"}}
    task = bench.task(bench.expecting("MUTATE", schema={"type": "null"}), network, sites=["wikipedia"])
    whole = replace(bench, sites=Sites()).score(task)
    assert (whole.status, whole.webeval["capture"]) == ("failure", [])


SHOP, CDN = "http://shop.test:7770", "http://cdn.test"
GUESSED = (
    "the site URL was inferred from the first request, and nothing there matches: {} (shopping); other hosts in the "
    "recording: {}; pass a file with the site URLs: --webeval-config=FILE"
)
GUESSES = {
    "another host first": ([f"{CDN}/", f"{SHOP}/p"], GUESSED.format(CDN, f"{SHOP} (1)")),
    "another host later": ([f"{SHOP}/q", f"{CDN}/", f"{CDN}/x"], GUESSED.format(SHOP, f"{CDN} (2)")),
    "one host": ([f"{SHOP}/q", f"{SHOP}/r"], None),
    "assets of another host": ([f"{CDN}/a.css", f"{SHOP}/q"], None),
    "the page, then another": ([f"{SHOP}/p", f"{CDN}/", f"{SHOP}/q"], GUESSED.format(SHOP, f"{CDN} (1)")),
}


@pytest.mark.parametrize("kind", ["NAVIGATE", "MUTATE"])
@pytest.mark.parametrize("name", GUESSES)
def test_a_failure_by_a_guess_that_may_be_wrong_is_an_error_that_asks_for_a_configuration(bench, name, kind):
    urls, problem = GUESSES[name]
    if (name, kind) == ("the page, then another", "MUTATE"):
        problem = None  # the request was made, and has another status
    status = 500 if name == "the page, then another" else 200
    bench.record(
        {"task_type": kind, "status": "SUCCESS"}, [{"url": u, "headers": PAGE, "status": status} for u in urls]
    )
    network = {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__SHOPPING__/p"}}
    task = bench.task(bench.expecting(kind, schema={"type": "null"}), network)
    for rules in ("default", "strict"):
        result = replace(bench, sites=Sites()).score(task, rules).evaluators_results[1]
        assert (result.status, result.error_msg) == ("error" if problem else "failure", problem)
    assert replace(bench, sites=Sites()).score(task, "reference").evaluators_results[1].status == "failure"


@pytest.mark.usefixtures("published")
def test_a_guess_for_a_published_task_is_that_of_the_reference(bench):
    bench.record({"task_type": "MUTATE", "status": "SUCCESS"}, [{"url": f"{CDN}/"}, {"url": f"{SHOP}/p"}])
    network = {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__SHOPPING__/p"}}
    task = bench.task(bench.expecting("MUTATE", schema={"type": "null"}), network)
    assert replace(bench, sites=Sites()).score(task, "default").status == "failure"


class Event(NamedTuple):
    url: str


class Damaged:
    @property
    def url(self):
        raise EvaluationError("damaged")


def test_of_many_hosts_the_first_are_named():
    sites = Sites({"shopping": Environment(tuple(f"http://s{number}.test" for number in range(5)))})
    events = [Damaged(), *(Event(f"https://{name}.test/x") for name in "abbcccde")]
    assert format_unvisited(sites, ["shopping"], events) == (
        "no request to a configured URL: expected http://s0.test (shopping), http://s1.test (shopping), "
        "http://s2.test (shopping) and 2 more; got https://c.test (3), https://b.test (2), "
        "https://a.test (1) and 2 more; fix the URL in --webeval-config, or re-record the run"
    )
    assert format_unvisited(sites, ["shopping"], [*events, Event("http://s4.test")]) is None
    assert format_unvisited(Sites({"shopping": Environment(("shop.test",))}), ["shopping"], events) is None


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://Shop.test:7770/a?b#c", "http://shop.test:7770"),
        ("HTTPS://shop.test:443", "https://shop.test"),
        ("http://shop.test:443", "http://shop.test:443"),
        ("http://shop.test:80/", "http://shop.test"),
        ("wss://shop.test/socket", "https://shop.test"),
        ("ws://shop.test/socket", "http://shop.test"),
        (" http://a:b@shop.test/", "http://shop.test"),
        ("http://[::1]:7770/x", "http://[::1]:7770"),
        ("http://10.9:7770/x", "http://10.0.0.9:7770"),
        ("http://shop%2Etest.:7770/x", "http://shop.test:7770"),
        ("about:blank", None),
        ("data:text/plain,http://shop.test", None),
        ("chrome-extension://abc/x", None),
        ("http://", None),
        ("http://:80", None),
        ("", None),
    ],
)
def test_an_origin_has_one_spelling(url, expected):
    assert origin(url) == expected


@pytest.mark.parametrize(
    ("urls", "expected"),
    [
        ("__SHOPPING__/a", True),
        ("^__SHOPPING__/a$", True),
        (["__GITLAB__", "__SHOPPING__/a"], True),
        (["__GITLAB__", "http://x"], False),
        ("__REDDIT__/a", False),
        ("http://x/__SHOPPING__", False),
    ],
)
def test_only_a_url_that_begins_with_a_site_of_the_task_depends_on_its_address(urls, expected):
    assert names_a_site(urls, ["shopping", "gitlab"]) is expected


CAPITALS = ["http://Shop.Test:7770", "HTTP://shop.test:7770", "HTTP://SHOP.TEST:7770/"]


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("address", CAPITALS)
@pytest.mark.parametrize(("rules", "status"), [("reference", "error"), ("default", "success"), ("strict", "success")])
def test_capitals_in_a_configured_address_are_folded(bench, address, rules, status):
    bench.record({"task_type": "MUTATE", "status": "SUCCESS"}, [{"url": "http://shop.test:7770/p"}])
    network = {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__SHOPPING__/p"}}
    task = bench.task(bench.expecting("MUTATE", schema={"type": "null"}), network)
    whole = replace(bench, sites=Sites({"shopping": Environment((address,))})).score(task, rules)
    assert whole.status == status
    reason = "configured URLs are normalized"
    told = f"Q40 (folded_addresses) changed this verdict to success: {reason}"
    folded = [f"{told} @ the configured URLs; NetworkEventEvaluator, eval[1]"]
    assert whole.webeval["warnings"] == ([] if rules == "reference" else folded)


@pytest.mark.parametrize(
    ("urls", "active", "folded"),
    [
        (("http://a.test/Path",), 0, ("http://a.test/Path",)),
        (("http://b.test", "HTTP://A.test/Path"), 1, ("http://b.test", "http://a.test/Path")),
        (("http://a.test/",), 0, ("http://a.test",)),
        (("HTTP://A.test",), 1, ("HTTP://A.test",)),
        (("A.test",), 0, ("A.test",)),
    ],
)
def test_folding_an_address_keeps_the_path_and_the_active_one(urls, active, folded):
    result = Environment(urls, active).folded
    assert (result.urls, result.active) == (folded, active)


def test_another_spelling_of_an_address_is_looked_for_first_in_a_recorded_text():
    folded = Sites({"map": Environment(("http://map.test:80", "HTTP://Map.test:80"))}).folded
    assert folded.derender("from http://map.test:80/x", ["map"]) == "from __MAP__/x"
    assert folded.derender("from HTTP://Map.test:80/x", ["map"]) == "from __MAP__/x"
    assert folded.derender("from http://map.test/x", ["map"]) == "from __MAP__/x"


def test_sites_without_capitals_are_their_own_folding():
    sites = Sites({"map": Environment(("http://map.test",))})
    assert sites.folded is sites
