"""Proposals: which requests decide, what is ignored in them, and what several golden runs have in common."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_webeval.api import load_run
from pytest_webeval.authoring.proposal.proposal import propose
from pytest_webeval.errors import RecordingError, WebEvalError
from pytest_webeval.tasks.sites import Environment, Sites
from tests.support.traffic import SHOP, send, visit, write_traffic

RECORDED = Path(__file__).parents[3] / "recorded"
SITES = Sites({"shopping": Environment((SHOP,))})
HOME = visit("/")
LOGIN = send("/login", [("email", "ida@example.com"), ("password", "demo")], status=302)
SEARCH = visit("/search?q=lamp&sort=price")


def answer(task_type, *data, status="SUCCESS"):
    return {"task_type": task_type, "status": status, "retrieved_data": list(data) or None}


@pytest.fixture
def proposed(tmp_path):
    """The proposal that recordings suggest; each is an answer and entries."""

    def make(*recordings, sites=SITES, **options):
        runs = [
            load_run(write_traffic(tmp_path / str(number) / "7", *recording))
            for number, recording in enumerate(recordings)
        ]
        return propose(runs, sites, **options)

    return make


def traffic(proposal):
    """The entries about traffic."""
    return proposal.definition["eval"][1:]


def test_the_definition_has_all_fields_in_the_order_of_the_manual(proposed):
    proposal = proposed(("NAVIGATE", HOME, SEARCH), intent="Find lamps.")
    assert list(proposal.definition.items())[:-1] == [
        ("task_id", 7),
        ("revision", 1),
        ("intent_template_id", -1),
        ("sites", ["shopping"]),
        ("start_urls", ["__SHOPPING__"]),
        ("intent", "Find lamps."),
        ("intent_template", "Find lamps."),
        ("instantiation_dict", {}),
    ]
    assert traffic(proposal) == [
        {
            "evaluator": "NetworkEventEvaluator",
            "expected": {"url": "__SHOPPING__/search", "query_params": {"q": ["lamp"], "sort": ["price"]}},
        }
    ]
    assert (proposal.notes, proposal.problems) == ((), ())


@pytest.mark.parametrize(("written", "task_id"), [("12", 12), ("lamps", "lamps"), ("-3", -3)])
def test_an_id_may_be_a_number_or_a_name(proposed, written, task_id):
    assert proposed(("NAVIGATE", HOME, SEARCH), task_id=written).definition["task_id"] == task_id


def test_tokens_of_a_form_and_cache_busters_are_not_required(proposed):
    form = [("form_key", "kX9vQ2mB7wLp4RtZ8nYc"), ("product", "lamp"), ("qty", "2"), ("at", "1773482400")]
    proposal = proposed(("MUTATE", HOME, LOGIN, send("/cart/add?isAjax=true&_=17", form, status=302)), intent="x")
    (entry,) = traffic(proposal)
    assert entry == {
        "evaluator": "NetworkEventEvaluator",
        "expected": {
            "url": "__SHOPPING__/cart/add",
            "http_method": "POST",
            "response_status": 302,
            "post_data": {"product": "lamp", "qty": "2"},
        },
        "ignored_query_params": ["_", "isAjax"],
    }
    assert proposal.notes == (
        "eval[1]: _ is ignored: a name that sites use for noise",
        "eval[1]: isAjax is ignored: a name that sites use for noise",
        "eval[1]: at is not required: the time of the request",
        "eval[1]: form_key is not required: the name of a token",
    )


def test_members_of_a_document_that_are_no_texts_have_types(proposed):
    document = {
        "n": 0,
        "open": False,
        "labels": ["a"],
        "mixed": ["a", 1],
        "counts": [1, 2],
        "also": [1, "a"],
        "x": {"y": 2.5, "z": "t"},
    }
    (entry,) = traffic(proposed(("MUTATE", HOME, send("/api", document=document, status=201))))
    assert entry["post_data_schema"]["properties"] == {
        "n": {"type": "number"},
        "open": {"type": "boolean"},
        "labels": {"type": "array", "items": {"type": "string"}},
        "mixed": {"type": "array", "items": {"type": "string"}},
        "counts": {"type": "array", "items": {"type": "number"}},
        "also": {"type": "array", "items": {"type": "string"}},
        "$.x.y": {"type": "number"},
    }


def test_a_date_in_a_query_may_be_written_in_several_ways(proposed):
    (entry,) = traffic(proposed(("NAVIGATE", HOME, visit("/report?from=02/01/2024&kind=sales"))))
    dates = {"type": "array", "items": {"type": "string", "format": "date"}}
    texts = {"type": "array", "items": {"type": "string"}}
    assert entry["query_params_schema"]["properties"] == {"from": dates, "kind": texts}


def test_all_changes_are_required_but_telemetry_logins_reads_and_refused_ones(proposed):
    entries = (
        HOME,
        LOGIN,
        send("/telemetry", [("x", "1")]),
        send("/graphql", document={"query": "query { me }"}),
        send("/cart/add", [("product", "lamp")], status=422),
        send("/cart/add", [("product", "lamp")]),
        send("/cart/add", [("product", "lamp")]),
        send("/checkout", [("pay", "cash")]),
        send("/hook", url="https://partner.test"),
    )
    proposal = proposed(("MUTATE", *entries))
    assert [entry["expected"]["url"] for entry in traffic(proposal)] == [
        "__SHOPPING__/cart/add",
        "__SHOPPING__/checkout",
    ]
    assert "2 requests changed something; remove those that the task does not need" in proposal.notes
    assert not proposal.problems


def test_changes_of_several_things_at_one_url_are_each_required(proposed):
    entries = [send("/cart/add", [("product", name)]) for name in ("lamp", "desk")]
    proposal = proposed(("MUTATE", HOME, *entries))
    assert [entry["last_event_only"] for entry in traffic(proposal)] == [False, False]
    assert not proposal.problems


def test_of_very_many_changes_the_last_are_required(proposed):
    entries = [send(f"/step/{name}", [("x", "1")]) for name in "abcdefghijkl"]
    proposal = proposed(("MUTATE", HOME, *entries))
    assert len(traffic(proposal)) == 10
    assert "2 earlier changes omitted" in proposal.notes


def test_the_same_change_of_another_object_is_forbidden(proposed):
    proposal = proposed(("MUTATE", HOME, send("/orders/1037/cancel", [("why", "late")])))
    assert traffic(proposal)[1] == {
        "evaluator": "NetworkEventEvaluator",
        "expected": {"url": "^__SHOPPING__/orders/(?!1037/cancel/?$)[^/]+/cancel$", "http_method": "POST"},
        "should_not_exist": True,
    }
    assert "eval[2]: the same request about another object is forbidden" in proposal.notes


def test_an_id_that_the_site_gave_to_a_new_object_is_any_id(proposed):
    entries = (
        HOME,
        send("/issues", [("title", "t")], status=201, returned={"id": 8}),
        send("/issues/8/close", [("x", "1")]),
    )
    urls = [entry["expected"]["url"] for entry in traffic(proposed(("MUTATE", *entries)))]
    assert urls == ["__SHOPPING__/issues", "^__SHOPPING__/issues/[^/]+/close$"]


def test_a_token_in_a_path_is_any_segment_also_where_other_objects_are_forbidden(proposed):
    path = "/admin/order/cancel/order_id/65/key/9f86d081884c7d659a2feaa0c55ad015/"
    expected, forbidden = traffic(proposed(("MUTATE", HOME, send(path, [("why", "late")]))))
    assert expected["expected"]["url"] == "^__SHOPPING__/admin/order/cancel/order_id/65/key/[^/]+$"
    assert forbidden["expected"]["url"] == (
        "^__SHOPPING__/admin/order/cancel/order_id/(?!65/key/[^/]+/?$)[^/]+/key/[^/]+$"
    )


def test_an_agent_that_rightly_changed_nothing_must_change_nothing(proposed):
    recording = (answer("MUTATE", status="ACTION_NOT_ALLOWED_ERROR"), HOME, LOGIN, visit("/orders/1035"))
    page, *forbidden = traffic(proposed(recording))
    assert page["expected"] == {"url": "__SHOPPING__/orders/1035"}
    assert [entry["expected"]["http_method"] for entry in forbidden] == ["POST", "PUT", "PATCH", "DELETE"]
    assert forbidden[0]["expected"]["url"] == "^__SHOPPING__/(?!login/?$).*$"
    assert forbidden[1]["expected"]["url"] == "^__SHOPPING__/.*$"


def test_an_attempt_that_the_site_rightly_refused_is_required(proposed):
    refused = send("/cart/add", [("qty", "-1")], status=422)
    (entry,) = traffic(proposed((answer("MUTATE", status="DATA_VALIDATION_ERROR"), HOME, refused)))
    assert entry["expected"]["response_status"] == 422


def test_a_run_that_ended_on_its_start_page_is_known_by_its_referer(proposed):
    proposal = proposed(("NAVIGATE", HOME, SEARCH, visit("/", referer="/search?q=lamp")))
    assert traffic(proposal)[0]["expected"]["headers"] == {"referer": "__SHOPPING__/search?q=lamp"}
    assert not proposal.problems


def test_a_run_that_ended_on_its_start_page_is_known_by_what_it_sent(proposed):
    proposal = proposed(("NAVIGATE", HOME, send("/api/filter", [("color", "red")])))
    assert traffic(proposal)[0]["expected"]["post_data"] == {"color": "red"}
    assert "a run that does no more than open its start page passes" not in proposal.notes


def test_a_run_of_which_nothing_shows_more_than_the_start_page_is_a_warning(proposed):
    proposal = proposed(("NAVIGATE", HOME, SEARCH, HOME))
    assert "a run that does no more than open its start page passes" in proposal.notes


@pytest.mark.parametrize(("status", "expected"), [(200, {}), (304, {}), (403, {"response_status": 403})])
def test_the_status_of_a_page_is_required_unless_it_is_usual(proposed, status, expected):
    (entry,) = traffic(proposed(("NAVIGATE", HOME, visit("/settings", status=status))))
    assert entry["expected"] == {"url": "__SHOPPING__/settings"} | expected


def test_a_run_that_ended_at_another_site_requires_no_page(proposed):
    away = visit("/")
    away["request"]["url"] = "https://partner.test/pay"
    proposal = proposed(("NAVIGATE", HOME, SEARCH, away))
    assert traffic(proposal) == []
    assert "the run did not end on a page of a site, and nothing else that it did is required" in proposal.notes
    assert "a run that does no more than open its start page passes" in proposal.notes


def test_of_equal_changes_the_last_decides(proposed):
    first, last = (send("/cart/add", [("product", "lamp")], status=status) for status in (302, 200))
    (entry,) = traffic(proposed(("MUTATE", HOME, first, last)))
    assert entry["expected"]["response_status"] == 200


def test_a_page_that_was_posted_may_be_the_last(proposed):
    (entry,) = traffic(proposed(("NAVIGATE", HOME, send("/search", [("q", "lamp")], kind="document"))))
    assert entry["expected"] == {
        "url": "__SHOPPING__/search",
        "http_method": "POST",
        "response_status": 200,
        "post_data": {"q": "lamp"},
    }


def test_an_answer_requires_no_request_unless_several_runs_read_it_on_one_page(proposed):
    one = (answer("RETRIEVE", 4), HOME, visit("/orders?status=pending"))
    assert traffic(proposed(one)) == []


def test_several_runs_that_read_an_answer_on_one_page_require_it(proposed):
    recordings = [(answer("RETRIEVE", 4), HOME, *way, visit("/orders?status=pending")) for way in ((), (SEARCH,))]
    (entry,) = traffic(proposed(*recordings))
    assert entry["expected"]["query_params"] == {"status": ["pending"]}


def test_a_rightly_missing_answer_requires_the_page_on_which_it_is_missing(proposed):
    (entry,) = traffic(proposed((answer("RETRIEVE", status="NOT_FOUND_ERROR"), HOME, SEARCH)))
    assert entry["expected"]["url"] == "__SHOPPING__/search"


def test_what_differs_between_golden_runs_is_not_required(proposed):
    first = send("/orders/12/pay?step=2&ref=a", [("how", "cash"), ("note", "hello"), ("slot", "9")])
    second = send("/orders/15/pay?step=2&ref=b", [("how", "Cash"), ("note", "hi")])
    proposal = proposed(("MUTATE", HOME, first, send("/extra", [("x", "1")])), ("MUTATE", HOME, second))
    (entry,) = traffic(proposal)
    assert entry == {
        "evaluator": "NetworkEventEvaluator",
        "expected": {
            "url": "^__SHOPPING__/orders/[^/]+/pay$",
            "http_method": "POST",
            "response_status": 200,
            "query_params": {"step": ["2"]},
            "post_data": {"how": "cash"},
        },
        "ignored_query_params": ["ref"],
    }
    assert "POST __SHOPPING__/extra is not in each run, and is not required" in proposal.notes
    assert "eval[1]: note is not required: other values in other runs" in proposal.notes
    assert not proposal.problems


def test_a_request_of_which_no_field_is_required_is_a_question(proposed):
    recordings = [("MUTATE", HOME, send("/cart/add", [("product", name)])) for name in ("lamp", "desk")]
    assert "eval[1]: no field is required, so any POST to this URL passes" in proposed(*recordings).notes


def test_a_request_is_compared_with_the_equal_one_of_another_run_or_else_with_the_last(proposed):
    def pay(way, note):
        return send("/pay", [("way", way), ("note", note)])

    (entry,) = traffic(
        proposed(("MUTATE", HOME, pay("cash", "a")), ("MUTATE", HOME, pay("card", "b"), pay("cash", "c")))
    )
    assert entry["expected"]["post_data"] == {"way": "cash"}


def test_pages_that_differ_between_golden_runs_are_alternatives(proposed):
    proposal = proposed(*(("NAVIGATE", HOME, visit(f"/product/{name}-lamp")) for name in ("desk", "floor")))
    assert traffic(proposal)[0]["expected"]["url"] == [
        "__SHOPPING__/product/desk-lamp",
        "__SHOPPING__/product/floor-lamp",
    ]
    assert not proposal.problems


def test_a_golden_run_that_does_not_pass_is_named_with_the_reason(proposed):
    proposal = proposed((answer("RETRIEVE", "a", "b"), HOME), (answer("RETRIEVE", "a"), HOME))
    (problem,) = proposal.problems
    assert problem.startswith("7 does not pass: ")
    assert problem.endswith("@ eval[0]")


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (
            {"task_type": "READ", "status": "SUCCESS"},
            "invalid task_type 'READ' in the answer of 7; use one of RETRIEVE",
        ),
        ({"task_type": "^.*$", "status": "SUCCESS"}, r"invalid task_type '\^.\*\$' in the answer of 7"),
        ({"task_type": "MUTATE", "status": 5}, "invalid status 5 in the answer of 7; use one of SUCCESS"),
        ([1], "the answer of 7 is not a JSON object; write a JSON object with task_type"),
    ],
)
def test_an_answer_that_cannot_be_used_is_an_error(proposed, response, message):
    with pytest.raises(RecordingError, match=message):
        proposed((response, HOME))


def test_a_recorder_without_json_answers_has_a_task_about_traffic_alone():
    proposal = propose([load_run(RECORDED / "browser_use/shop-02-har")])
    (entry,) = proposal.definition["eval"]
    assert entry["expected"]["query_params"] == {"q": ["desk lamp"], "sort": ["price_asc"]}
    assert "the recorder has no answer in JSON, so that no answer is required; a judge may read it" in proposal.notes
    assert not proposal.problems


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("browser_use/shop-captcha", "has no page and no changing request that a task could require; record it again"),
        ("browser_use/shop-02-no-browser", "no network recording in"),
        (
            "clawbench/example--agent-1/openclaw-901-shop-success-example--agent-1-20261124-084736",
            "records no responses; expect the request with a RequestPatternEvaluator",
        ),
    ],
)
def test_a_recorder_without_usable_traffic_is_an_error(run, message):
    with pytest.raises(WebEvalError, match=message):
        propose([load_run(RECORDED / run)])


def test_a_recording_of_other_sites_is_an_error(proposed):
    sites = Sites({"shopping": Environment(("http://else.test",))})
    with pytest.raises(RecordingError, match="no page of 7 is at a configured site; fix the URLs"):
        proposed(("NAVIGATE", HOME), sites=sites)


def test_without_a_configuration_the_site_has_a_name_to_replace(proposed):
    proposal = proposed(("NAVIGATE", HOME, SEARCH), sites=None)
    assert proposal.definition["sites"] == ["homepage"]
    assert proposal.notes == (
        "intent: write what the agent is asked to do",
        f"sites: __HOMEPAGE__ stands for {SHOP}; to name the site, pass a configuration with --config",
    )
    assert not proposal.problems
