"""Members of an entry with a type that nobody expects: bodies, headers and cookies, read as the reference does."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.rules import RULES
from pytest_webeval.scoring.score import score

pytestmark = pytest.mark.usefixtures("published")  # whose results say what the rules changed

FORM, JSON = "application/x-www-form-urlencoded", "application/json"
PLACE = {"url": "__SHOPPING__/p", "http_method": "POST"}
WANTED = {"post_data": {**PLACE, "post_data": {"a": "1"}}, "content": {**PLACE, "response_content": {"a": "1"}}}
GOOD = {"post_data": {"mimeType": FORM, "text": "a=1"}, "content": {"mimeType": JSON, "text": '{"a": "1"}'}}
ALL_RULES = ("reference", "default", "strict")


@pytest.fixture
def scored(bench):
    """Results of the network evaluator and warnings under each rule set; all candidates are compared."""

    def judge(wanted, *entries, rules=ALL_RULES, kind="MUTATE", **config):
        directory = bench.record({"task_type": kind, "status": "SUCCESS"})
        (directory / "network.har").write_text(json.dumps({"log": {"entries": entries}}))
        evaluator = {"evaluator": "NetworkEventEvaluator", "expected": wanted, "last_event_only": False, **config}
        cases = [
            bench.case(bench.task(bench.expecting(kind, schema={"type": "null"}), evaluator), one) for one in rules
        ]
        return [(score(case, default_evaluators()).evaluators_results[1], list(case.warnings)) for case in cases]

    return judge


def statuses(results):
    return [str(result.status) for result, _ in results]


def posted(bench, field="post_data", stored=None, **request):
    """A POST to the expected place with a body stored like this."""
    entry = bench.entry("http://shop.test:7770/p", "POST")
    if stored is not None or field == "content":
        side, name = ("request", "postData") if field == "post_data" else ("response", "content")
        entry[side][name] = stored
    entry["request"].update(request)
    return entry


CHARLES = {"size": 0, "mimeType": None, "text": "", "encoding": "base64"}


@pytest.mark.parametrize("field", WANTED)
@pytest.mark.parametrize(
    "stored",
    [
        CHARLES,
        *({"mimeType": mime, "text": None} for mime in (None, 5, [], {})),
        *({"mimeType": JSON, "text": text} for text in (False, 0, [], {})),
        *({"text": text} for text in (5, True, ["a"])),
        {},
        [],
        0,
        False,
        "",
        None,
    ],
    ids=str,
)
def test_a_body_without_a_text_is_none_and_the_next_event_counts(bench, scored, field, stored):
    bad, good = posted(bench, field, stored), posted(bench, field, GOOD[field])
    assert statuses(scored(WANTED[field], bad)) == ["failure"] * 3
    assert statuses(scored(WANTED[field], bad, good)) == ["success"] * 3


@pytest.mark.parametrize("field", WANTED)
@pytest.mark.parametrize("member", ["encoding", "_file", "_sha1"])
@pytest.mark.parametrize("value", [False, 5, [], {"a": 1}], ids=str)
def test_a_member_of_a_wrong_type_beside_a_good_text_is_ignored(bench, scored, field, member, value):
    assert statuses(scored(WANTED[field], posted(bench, field, GOOD[field] | {member: value}))) == ["success"] * 3


@pytest.mark.parametrize("field", WANTED)
@pytest.mark.parametrize("mime", [[], {}, ["text/plain"]], ids=str)
def test_a_json_text_without_a_readable_type_is_none_for_the_reference_alone(bench, scored, field, mime):
    bad = posted(bench, field, {"mimeType": mime, "text": '{"a": "1"}'})
    assert statuses(scored(WANTED[field], bad)) == ["failure", "success", "success"]


def test_a_mime_type_in_a_list_is_found_in_it(bench, scored):
    listed = posted(bench, "post_data", {"mimeType": [None, FORM], "text": "a=1"})
    longer = posted(bench, "post_data", {"mimeType": [f"{FORM}; charset=utf-8"], "text": "a=1"})
    assert statuses(scored(WANTED["post_data"], listed)) == ["success"] * 3
    assert statuses(scored(WANTED["post_data"], longer)) == ["failure", "error", "error"]


@pytest.mark.parametrize("field", WANTED)
@pytest.mark.parametrize(
    "damaged",
    [{"mimeType": 5, "text": "a=1"}, {"mimeType": JSON, "text": 5}, "a=1", ["a"]],
    ids=str,
)
def test_a_body_that_the_reference_cannot_read_is_an_error_whichever_event_decides(bench, scored, field, damaged):
    bad, good = posted(bench, field, damaged), posted(bench, field, GOOD[field])
    for events in ([bad], [bad, good], [good, bad]):
        assert statuses(scored(WANTED[field], *events)) == ["error"] * 3
    assert statuses(scored(WANTED[field], bad, should_not_exist=True)) == ["error"] * 3
    assert statuses(scored(PLACE, good, bad)) == ["success"] * 3  # nobody asks for it


@pytest.mark.parametrize("field", WANTED)
@pytest.mark.parametrize("text", ["a=1", '{"a": "1"}', "eyJhIjogIjEifQ=="])
def test_a_body_whose_type_is_null_is_an_error_for_the_reference_whichever_event_decides(bench, scored, field, text):
    encoding = {"encoding": "base64"} if text.endswith("==") else {}
    bad, good = posted(bench, field, {"mimeType": None, "text": text} | encoding), posted(bench, field, GOOD[field])
    alone = "error" if text == "a=1" else "success"
    assert statuses(scored(WANTED[field], bad)) == ["error", alone, alone]
    for events in ([bad, good], [good, bad]):
        assert statuses(scored(WANTED[field], *events)) == ["error", "success", "success"]
    assert statuses(scored(WANTED[field], bad, should_not_exist=True)) == ["error", "failure", "failure"]
    assert statuses(scored(PLACE, good, bad)) == ["success"] * 3  # nobody asks for it


def test_a_multipart_type_in_a_list_is_an_error(bench, scored):
    listed = posted(bench, "post_data", {"mimeType": ["multipart/form-data"], "text": "a=1"})
    assert statuses(scored(WANTED["post_data"], listed)) == ["error"] * 3


@pytest.mark.parametrize(("method", "shown"), [(["GET"], "['GET']"), (5, "5"), (None, "None")])
def test_a_method_that_is_not_a_text_is_a_miss_where_the_last_page_is_asked_for(bench, scored, method, shown):
    page = bench.entry("http://shop.test:7770/p", method, headers={"accept": "text/html"})
    results = scored({"url": "__SHOPPING__/p"}, page, kind="NAVIGATE")
    assert statuses(results) == ["failure"] * 3
    assert results[0][0].actual["http_method"] == shown
    assert f"event 1 of 1: {shown} __SHOPPING__/p (200)" in results[0][0].assertions[0].assertion_msgs[1]


def test_damaged_cookies_are_an_error_whichever_event_decides(bench, scored):
    good = bench.entry("http://shop.test:7770/p", "POST", cookies={"a": "1"})
    bad = bench.entry("http://shop.test:7770/p", "POST", cookies={"a": 5})
    assert statuses(scored({**PLACE, "response_cookies": {"a": "1"}}, good, bad)) == ["error"] * 3


@pytest.mark.parametrize(
    ("cookies", "expected", "status"),
    [
        ([{"name": "a"}], "", "success"),
        ([{"name": None, "value": "1"}, {"name": "a", "value": "1"}], "1", "success"),
        ([{"name": 5, "value": "1"}], "1", "failure"),
        ({}, "1", "failure"),
        ("", "1", "failure"),
        ([{"name": "a", "value": None}], "1", "error"),
        ([{"name": [], "value": "1"}], "1", "error"),
        ({"a": "1"}, "1", "error"),
        (None, "1", "error"),
    ],
)
def test_cookies_are_read_as_the_reference_reads_them(bench, scored, cookies, expected, status):
    entry = bench.entry("http://shop.test:7770/p", "POST")
    entry["response"]["cookies"] = cookies
    assert statuses(scored({**PLACE, "response_cookies": {"a": expected}}, entry)) == [status] * 3


@pytest.mark.parametrize(("headers", "status"), [({}, "success"), ("", "success"), ({"a": "b"}, "error"), (0, "error")])
def test_headers_in_an_empty_object_or_text_are_none(bench, scored, headers, status):
    assert statuses(scored(PLACE, posted(bench, headers=headers))) == [status] * 3


NULL = {"name": "x-a", "value": None}
MADE = (
    "Q55 (null_headers) changed this verdict to {}: such a header is ignored @ event {}; NetworkEventEvaluator, eval[1]"
)


@pytest.mark.parametrize(
    ("statuses_of", "config", "decided"),
    [
        ((200,), {}, 0),
        ((200, 200), {}, 1),
        ((200, 404), {}, 1),
        ((None, 200), {"last_event_only": True}, 0),
    ],
    ids=["alone", "after the one that decides", "of another status", "before the last one"],
)
def test_a_header_that_is_null_is_an_error_for_the_reference_alone(bench, scored, statuses_of, config, decided):
    events = [bench.entry("http://shop.test:7770/p", "POST", status or 200) for status in statuses_of]
    events[decided]["request"]["headers"] = [NULL]
    results = scored(PLACE, *events, **config)
    assert statuses(results) == ["error", "success", "success"]
    assert results[0][0].error_msg == (
        f"event {decided + 1} of the trace is damaged: no readable headers; re-record the run"
    )
    assert [warnings for _, warnings in results] == [[], *[[MADE.format("success", decided + 1)]] * 2]


def test_a_header_that_is_null_is_not_there(bench, scored):
    results = scored({**PLACE, "headers": {"x-a": "1"}}, posted(bench, headers=[NULL]))
    assert statuses(results) == ["error", "failure", "failure"]
    assert [one.assertion_name for one in results[1][0].assertions][-1] == "network_event.headers.x-a_none_mismatch"


@pytest.mark.parametrize("url", ["http://shop.test:7770/elsewhere", "http://shop.test:7770/p.js"])
def test_a_header_that_is_null_matters_only_where_the_reference_comes_to_the_event(bench, scored, url):
    other = posted(bench, headers=[NULL], url=url)
    assert statuses(scored(PLACE, posted(bench), other)) == ["success"] * 3


@pytest.mark.parametrize(("method", "reference"), [("GET", "error"), ("POST", "success")])
def test_where_the_last_page_is_asked_for_the_headers_of_every_get_are_looked_at(bench, scored, method, reference):
    page = bench.entry("http://shop.test:7770/p", headers={"accept": "text/html"})
    other = bench.entry("http://shop.test:7770/elsewhere", method)
    other["request"]["headers"] = [NULL]
    results = scored({"url": "__SHOPPING__/p"}, page, other, kind="NAVIGATE")
    assert statuses(results) == [reference, "success", "success"]


def test_other_damage_in_headers_is_an_error_under_all_rules(bench, scored):
    bad = posted(bench, headers=[{"name": "x-a", "value": 5}])
    assert statuses(scored(PLACE, bad, posted(bench), last_event_only=True)) == ["error"] * 3


def test_a_damaged_entry_tells_of_a_header_that_is_null_as_well(bench, scored):
    bad = {**posted(bench, headers=[NULL]), "pageref": 5}
    assert statuses(scored(PLACE, bad)) == ["error", "success", "success"]


LACKING = "cannot read the side file of a body: missing file: {}; add it, or remove the run"


def aside(bench, status=200, **stored):
    entry = bench.entry("http://shop.test:7770/p", "POST", status)
    entry["request"]["postData"] = {"mimeType": FORM, **(stored or {"_file": "gone.txt"})}
    return entry


@pytest.mark.parametrize("order", [1, -1])
def test_an_event_whose_side_file_is_missing_does_not_match(bench, scored, order):
    events = [aside(bench), posted(bench, "post_data", GOOD["post_data"])][::order]
    results = scored(WANTED["post_data"], *events)
    assert statuses(results) == ["success"] * 3


def test_a_missing_side_file_is_an_error_where_nothing_else_matches(bench, scored):
    other = posted(bench, "post_data", {"mimeType": FORM, "text": "a=2"})
    results = scored(WANTED["post_data"], aside(bench), other)
    assert statuses(results) == ["failure", "error", "error"]
    assert results[1][0].error_msg == LACKING.format("7/gone.txt")


def test_a_missing_side_file_does_not_matter_where_the_status_rules_its_event_out(bench, scored):
    results = scored(WANTED["post_data"], aside(bench, status=404))
    assert statuses(results) == ["failure"] * 3
    result = results[1][0]
    wrong = [one for one in result.assertions if one.status != "success"]
    assert [(one.assertion_name, one.assertion_msgs) for one in wrong[1:]] == [
        (
            "network_event.response_status_mismatch",
            ["expected 200 (the default: the task names no response_status)", "got 404"],
        ),
        ("network_event.post_data_unavailable", [LACKING.format(bench.directory / "7/gone.txt")]),
    ]
    assert (result.actual["post_data"], result.actual["response_status"]) == ({}, 404)


def test_what_a_body_that_can_be_read_rules_out_is_no_error(bench, scored):
    entry = aside(bench)
    entry["response"]["content"] = {"mimeType": JSON, "text": '{"b": "2"}'}
    wanted = {**WANTED["post_data"], "response_content": {"b": "1"}}
    assert statuses(scored(wanted, entry)) == ["failure"] * 3
    entry["response"]["content"] = {"mimeType": JSON, "text": '{"b": "1"}'}
    assert statuses(scored(wanted, entry)) == ["failure", "error", "error"]


def test_an_explanation_names_a_body_that_is_unavailable(bench, scored):
    bench.record({"task_type": "MUTATE", "status": "SUCCESS"})
    (bench.directory / "7/network.har").write_text(json.dumps({"log": {"entries": [aside(bench, status=404)]}}))
    evaluator = {"evaluator": "NetworkEventEvaluator", "expected": WANTED["post_data"]}
    result = bench.score(bench.task(bench.expecting("MUTATE", schema={"type": "null"}), evaluator))
    differences = result.to_json()["webeval"]["explanations"][1]["differences"]
    assert [(one["path"], one["kind"]) for one in differences] == [
        ("response_status", "different"),
        ("post_data", "unreadable"),
    ]


def test_an_event_that_must_not_exist_is_found_without_its_body(bench, scored):
    assert statuses(scored(WANTED["post_data"], aside(bench), should_not_exist=True)) == ["failure"] * 3


@pytest.mark.parametrize("rules", ["default", "strict"])
def test_base64_that_cannot_be_decoded_is_a_body_that_is_unavailable(bench, scored, rules):
    bad = posted(bench, "content", {"mimeType": JSON, "text": "a", "encoding": "base64"})
    good = posted(bench, "content", GOOD["content"])
    assert statuses(scored(WANTED["content"], bad, good, rules=[rules])) == ["success"]
    assert statuses(scored(WANTED["content"], bad, rules=[rules])) == ["error"]


def test_a_body_that_is_not_utf8_is_unavailable_and_costs_no_other_event(bench, scored):
    directory = bench.record({"task_type": "MUTATE", "status": "SUCCESS"})
    bad, good = (posted(bench, "post_data", {"mimeType": FORM, "text": text}) for text in ("a=1&b=XX", "a=1"))
    content = json.dumps({"log": {"entries": [bad, good]}}).encode()
    (directory / "network.har").write_bytes(content.replace(b"XX", b"\xe9"))
    evaluator = {"evaluator": "NetworkEventEvaluator", "expected": WANTED["post_data"], "last_event_only": False}
    assert bench.score(bench.task(bench.expecting("MUTATE", schema={"type": "null"}), evaluator)).status == "success"


def test_the_rule_sets_differ_on_null_headers():
    assert {name: rules.null_headers for name, rules in RULES.items()} == {
        "reference": False,
        "default": True,
        "strict": True,
    }
