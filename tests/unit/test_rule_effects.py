"""What each switch of the rule table changes: a verdict on both sides of it, and the warning that says so."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from pytest_webeval.commands.rules import format_rule_table
from pytest_webeval.errors import RecordingError
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.rules import QUIRKS, RULES
from pytest_webeval.scoring.score import score
from pytest_webeval.scoring.task_result import merge_results

pytestmark = pytest.mark.usefixtures("published")  # whose results say what the rules changed

FORM = "application/x-www-form-urlencoded"
MUGS = {"type": "array", "items": {"type": "string"}}
PRICES = {"type": "array", "items": {"type": "currency"}}
DATES = {"type": "array", "items": {"type": "date"}}
NUMBERS = {"type": "array", "items": {"type": "number"}}
TAGS = {"type": "array", "items": {"type": "object", "properties": {"tags": {"type": "array"}}}}
PAGE = {"url": "http://shop.test:7770/p", "headers": {"accept": "text/html"}}
FRAME = {"url": "http://shop.test:7770/frame", "headers": {"accept": "text/html"}}


def answer(*data):
    return {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": list(data)}


def expecting(data, items="string", **more):
    return {"data": data, "schema": {"type": "array", "items": {"type": items, **more}}}


@pytest.fixture
def verdicts(bench):
    """Status and warnings of the first evaluator under each rule set, for a response and what was expected."""

    def found(response, data, schema=MUGS, names=tuple(RULES)):
        bench.record(response)
        task = bench.task(bench.expecting(data=data, schema=schema))
        return {name: outcome(bench.case(task, name)) for name in names}

    return found


def outcome(case):
    result = score(case, default_evaluators())
    return result.evaluators_results[-1].status, [warning.split(")")[0] + ")" for warning in case.warnings]


def text(response):
    return json.dumps(response)


@pytest.mark.parametrize(
    ("switch", "response", "data", "schema"),
    [
        ("Q1 (no_recorded_patterns)", answer("^.*$"), ["Mug"], MUGS),
        ("Q1 (no_recorded_patterns)", {**answer("Mug"), "status": "^.*$"}, ["Mug"], MUGS),
        ("Q2 (no_recorded_alternatives)", answer(["Mug", "Cup"]), ["Mug"], MUGS),
        ("§5.7 (finite_quantities)", answer("inf km"), ["5 km"], {"type": "array", "items": {"type": "distance"}}),
        ("Q57 (exact_money)", answer(12345678901234567891), [12345678901234567890], PRICES),
    ],
)
def test_a_trick_in_an_answer_passes_the_reference_alone(verdicts, switch, response, data, schema):
    refused = ("failure", [switch])
    assert verdicts(response, data, schema) == {"reference": ("success", []), "default": refused, "strict": refused}


@pytest.mark.parametrize(
    ("data", "answered", "schema", "status"),
    [
        ([["Mug", "Cup"]], [["Cup", "mug"]], MUGS, "success"),
        ([["Mug", "Cup"]], [["Mug", "Cup", "Jar"]], MUGS, "failure"),
        ([["Mug", "Cup", "Jar"]], [["Mug", "Cup"]], MUGS, "failure"),
        ([["Mug", "Cup"]], [["Mug", "Mug"]], MUGS, "failure"),
        ([["Mug", "Cup"]], [["Mug", ["Cup", "Jar"]]], MUGS, "failure"),
        ([["^M.*$", "Cup"]], [["Mug", "^.*$"]], MUGS, "failure"),
        ([[True, False]], [[True, False]], {"type": "array", "items": {"type": "boolean"}}, "success"),
        ([True], [[True, False]], {"type": "array", "items": {"type": "boolean"}}, "failure"),
        ([[10, 20]], [["$20", 10.05]], PRICES, "success"),
        (["Jar", ["Mug", "Cup"]], [["Mug", "Cup"], "Jar"], MUGS, "success"),
    ],
)
def test_a_list_is_no_list_of_guesses_if_it_is_the_whole_expected_one(verdicts, data, answered, schema, status):
    found = verdicts(answer(*answered), data, schema, ("default", "strict"))
    assert {name: each for name, (each, _) in found.items()} == {"default": status, "strict": status}


def test_the_documented_dialect_fails_the_reference_alone(verdicts):
    response = {"action": "retrieve", "status": "SUCCESS", "results": ["Mug"]}
    read = ("success", ["Q11 (documented_dialect)"])
    assert verdicts(response, ["Mug"]) == {"reference": ("failure", []), "default": read, "strict": read}


@pytest.mark.parametrize(
    ("switch", "response", "data", "schema", "usual", "repairs"),
    [
        ("Q12 (json_before_fence)", text(answer("a ```b``` c")), ["a ```b``` c"], MUGS, "failure", "success"),
        ("Q13 (tolerant_decoding)", "\ufeff" + text(answer("Mug")), ["Mug"], MUGS, "failure", "success"),
        ("Q13 (tolerant_decoding)", f"```json5\n{text(answer('Mug'))}\n```", ["Mug"], MUGS, "failure", "success"),
        ("Q13 (tolerant_decoding)", f"```JSON\n{text(answer('Mug'))}\n```", ["Mug"], MUGS, "failure", "success"),
        ("Q13 (tolerant_decoding)", f"```\nx\n``` ```{text(answer('Mug'))}```", ["Mug"], MUGS, "failure", "success"),
        ("Q14 (maximum_matching)", answer("a", "b"), [["a", "b"], "a"], MUGS, "failure", "success"),
        ("Q22 (signed_currency)", answer("$1,234"), [1234], PRICES, "failure", "success"),
        ("Q22 (signed_currency)", answer("$-50"), [-50], PRICES, "failure", "success"),
        ("Q22 (signed_currency)", answer("(50.00)"), [50], PRICES, "success", "failure"),
        ("Q22 (signed_currency)", answer("($1,050.00)"), [-1050], PRICES, "failure", "success"),
        ("Q5 (one_value)", answer("$10 - $20"), [10], PRICES, "success", "failure"),
        ("Q5 (one_value)", answer("2024-01-02 and 2024-02-01"), ["2024-01-02"], DATES, "success", "failure"),
        ("Q66 (exact_numbers)", answer(5e-05), [5], PRICES, "success", "failure"),
        ("Q66 (exact_numbers)", answer("1E+5"), [100_000], PRICES, "failure", "success"),
        ("Q66 (exact_numbers)", answer(2**53 + 1), [2**53], NUMBERS, "success", "failure"),
        ("Q66 (exact_numbers)", answer(str(2**53)), [str(2**53 + 1)], NUMBERS, "success", "failure"),
        ("Q32 (null_schema_fails)", answer("Mug"), None, {"type": "null"}, "error", "failure"),
        ("Q34 (separate_lists)", answer({"tags": []}, {"tags": []}), [{"tags": []}] * 2, TAGS, "error", "success"),
    ],
)
def test_an_accident_with_answers_is_mended_by_strict_alone(verdicts, switch, response, data, schema, usual, repairs):
    kept = (usual, [])
    assert verdicts(response, data, schema) == {"reference": kept, "default": kept, "strict": (repairs, [switch])}


def test_a_matching_that_does_not_exist_is_not_found(verdicts):
    assert verdicts(answer("a", "c"), [["a", "b"], "a"])["strict"] == ("failure", [])
    assert (
        verdicts(answer("a", "b", "c", "d"), [["a", "b", "c", "d"], ["a", "b"], ["b", "c"], "a"])["strict"][0]
        == "success"
    )


@pytest.fixture
def network(bench):
    """Status and warnings of the network evaluator under each rule set."""

    def found(wanted, *events, kind="MUTATE", entries=None, files=(), **config):
        directory = bench.record({"task_type": kind, "status": "SUCCESS"}, events)
        if entries is not None:
            (directory / "network.har").write_text(json.dumps({"log": {"entries": entries}}))
        for name, content in files:
            (directory / name).write_text(content)
        evaluator = {"evaluator": "NetworkEventEvaluator", "expected": wanted, **config}
        task = bench.task(bench.expecting(kind, schema={"type": "null"}), evaluator)
        return {name: outcome(bench.case(task, name)) for name in RULES}

    return found


@pytest.mark.parametrize(
    ("switch", "wanted", "event"),
    [
        ("Q1 (no_recorded_patterns)", {"post_data": {"a": "x"}}, {"post": (FORM, "a=^.*$")}),
        ("Q1 (no_recorded_patterns)", {"response_cookies": {"a": "x"}}, {"cookies": {"a": "^.*$"}}),
        ("Q1 (no_recorded_patterns)", {"headers": {"x-a": "x"}}, {"headers": {"x-a": "^.*$"}}),
        (
            "Q2 (no_recorded_alternatives)",
            {"post_data": {"a": "x"}},
            {"post": ("application/json", '{"a": ["x", "y"]}')},
        ),
        ("§5.14 (unresolved_paths)", {}, {"url": "http://shop.test:7770/x%2F..%2Fp"}),
        ("§5.14 (unresolved_paths)", {}, {"url": "http://shop.test:7770/x/../p"}),
        ("§4.8 (escaped_hosts)", {"url": "^__SHOPPING__/p$"}, {"url": "http://shopxtest:7770/p"}),
    ],
)
def test_a_trick_on_the_wire_passes_the_reference_alone(network, switch, wanted, event):
    recorded = {"url": "http://shop.test:7770/p", "method": "POST", **event}
    found = network({"url": "__SHOPPING__/p", "http_method": "POST", **wanted}, recorded)
    assert found == {"reference": ("success", []), "default": ("failure", [switch]), "strict": ("failure", [switch])}


@pytest.mark.parametrize(
    ("posted", "status"), [(["2", "1"], "success"), (["1"], "failure"), (["1", "2", "3"], "failure")]
)
def test_a_posted_list_may_be_the_whole_expected_one(network, posted, status):
    recorded = {"url": "http://shop.test:7770/p", "method": "POST", "post": ("application/json", text({"a": posted}))}
    wanted = {"url": "__SHOPPING__/p", "http_method": "POST", "post_data": {"a": ["1", "2"]}}
    assert network(wanted, recorded) == {
        "reference": ("success" if len(posted) > 1 else "failure", []),
        "default": (status, ["Q2 (no_recorded_alternatives)"] if len(posted) > 2 else []),
        "strict": (status, ["Q2 (no_recorded_alternatives)"] if len(posted) > 2 else []),
    }


def stored(entry, **post):
    entry["request"]["postData"] = {"mimeType": FORM, **post}
    return entry


def test_a_body_in_a_side_file_is_read_by_all_rules_but_the_references(network, bench):
    entry = stored(bench.entry("http://shop.test:7770/p", "POST"), _file="body.txt")
    wanted = {"url": "__SHOPPING__/p", "http_method": "POST", "post_data": {"a": "1"}}
    read = ("success", ["Q19 (external_bodies)"])
    found = network(wanted, entries=[entry], files=[("body.txt", "a=1")])
    assert found == {"reference": ("failure", []), "default": read, "strict": read}


@pytest.mark.parametrize(
    ("form", "expected", "schema", "status"),
    [
        ("a=1&a=2", "1", None, "failure"),
        ("a=1&a=1", "1", None, "success"),
        ("a=2&a=1", ["1", "2"], {"type": "array"}, "success"),
        ("a=1&a=1", ["1", "1"], {"type": "array"}, "success"),
    ],
)
def test_every_value_of_a_repeated_field_counts_when_strict(network, form, expected, schema, status):
    wanted = {"url": "__SHOPPING__/p", "http_method": "POST", "post_data": {"a": expected}}
    post = {"url": "http://shop.test:7770/p", "method": "POST", "post": (FORM, form)}
    types = {"post_data_schema": {"type": "object", "properties": {"a": schema}}} if schema else {}
    assert network(wanted, post, **types)["strict"][0] == status


@pytest.mark.parametrize(
    ("name", "expected", "sent", "usual", "strict"),
    [
        ("x-a", 5, "5", "failure", "success"),
        ("x-a", 5, "6", "failure", "failure"),
        ("x-a", ["5"], "5", "failure", "error"),
        ("x-a", [5, 6], "6", "failure", "success"),
        ("x-a", ["5", "6"], "6", "success", "success"),
        ("x-a", None, "", "failure", "success"),
        ("redirect_url", "", "", "success", "error"),
        ("referer", {}, "http://shop.test:7770/a", "error", "error"),
    ],
)
def test_an_expected_header_that_is_no_text_is_compared_when_strict(network, name, expected, sent, usual, strict):
    found = network(
        {"url": "__SHOPPING__/p", "http_method": "POST", "headers": {name: expected}},
        {"url": "http://shop.test:7770/p", "method": "POST", "headers": {name: sent}},
    )
    assert {rules: status for rules, (status, _) in found.items()} == {
        "reference": usual,
        "default": usual,
        "strict": strict,
    }


DIGITS = "9" * 5_000


@pytest.mark.parametrize("response", [DIGITS, f"[{DIGITS}]", text(answer("Mug"))[:-1] + f', "x": -{DIGITS}}}'])
def test_an_integer_of_very_many_digits_in_an_answer_is_an_error_of_all_rules(verdicts, response):
    assert {status for status, _ in verdicts(response, ["Mug"]).values()} == {"error"}


@pytest.mark.parametrize("body", [f'{{"a": {DIGITS}}}', f'{{"a": "1", "b": {DIGITS}}}'])
def test_an_integer_of_very_many_digits_in_a_body_is_an_error_of_all_rules(network, body):
    recorded = {"url": "http://shop.test:7770/p", "method": "POST", "post": ("application/json", body)}
    found = network({"url": "__SHOPPING__/p", "http_method": "POST", "post_data": {"a": "1"}}, recorded)
    assert {status for status, _ in found.values()} == {"error"}


CYRILLIC_A, GREEK_O = "\u0430", "\u03bf"


@pytest.mark.parametrize(
    ("expected", "sent", "status"),
    [
        ("paypal", f"p{CYRILLIC_A}yp{CYRILLIC_A}l", "failure"),
        ("google", f"g{GREEK_O}ogle", "failure"),
        ("Moskva", "\u041c\u043e\u0441\u043a\u0432\u0430", "failure"),
        ("\u041c\u043e\u0441\u043a\u0432\u0430", "\u043c\u043e\u0441\u043a\u0432\u0430", "success"),
        ("\u6771\u4eac", "\u6771\u4eac", "success"),
        ("\u6771\u4eac", "\u6771\u5317", "failure"),
        ("Caf\u00e9", "cafe", "success"),
        ("Cafe\u0301", "Caf\u00e9", "success"),
        ("\uff41bc", "abc", "success"),
        ("Stra\u00dfe", "strasse", "success"),
        ("it\u2019s", "it's", "success"),
    ],
)
@pytest.mark.parametrize("place", ["post", "header", "cookie"])
def test_a_letter_of_another_script_that_was_sent_is_no_latin_one_when_strict(network, place, expected, sent, status):
    wanted, recorded = {
        "post": ({"post_data": {"a": expected}}, {"post": ("application/json", text({"a": sent}))}),
        "header": ({"headers": {"x-a": expected}}, {"headers": {"x-a": sent}}),
        "cookie": ({"response_cookies": {"a": expected}}, {"cookies": {"a": sent}}),
    }[place]
    found = network(
        {"url": "__SHOPPING__/p", "http_method": "POST", **wanted},
        {"url": "http://shop.test:7770/p", "method": "POST", **recorded},
    )
    as_reference = "failure" if sent == "\u6771\u5317" else "success"
    decided = ["Q67 (foreign_letters)"] if status != as_reference else []
    assert found == {"reference": (as_reference, []), "default": (as_reference, []), "strict": (status, decided)}


def test_an_answer_is_read_as_tolerantly_as_before_when_strict(verdicts):
    assert verdicts(answer(f"p{CYRILLIC_A}yp{CYRILLIC_A}l"), ["paypal"])["strict"] == ("success", [])


ARRAY = {"type": "array", "items": {"type": "string"}}
MULTIPART = "multipart/form-data; boundary=b"


def multipart(*fields):
    parts = [f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields]
    return MULTIPART, "".join(parts) + "--b--\r\n"


@pytest.mark.parametrize(
    ("key", "post", "expected", "status"),
    [
        ("ids[]", (FORM, "ids%5B%5D=7"), ["7"], "success"),
        ("ids[]", (FORM, "ids[]=7&ids[]=8"), ["8", "7"], "success"),
        ("ids[]", (FORM, "ids[]=7&ids[]=7"), ["7"], "failure"),
        ("ids[]", (FORM, "ids[]=7"), ["7", "8"], "failure"),
        ("ids[0]", (FORM, "ids[0]=7"), ["7"], "success"),
        ("ids", (FORM, "ids=7"), ["7"], "success"),
        ("ids", (FORM, 'ids=["7", "8"]'), ["7", "8"], "success"),
        ("$['ids[]']", (FORM, "ids[]=7"), ["7"], "success"),
        ("^ids.*$", (FORM, "ids[0]=7&ids[1]=8"), ["7", "8"], "success"),
        ("^ids.*$", (FORM, "ids[0]=7&x=8"), ["7"], "success"),
        ("ids[]", multipart(("ids[]", "7")), ["7"], "success"),
        ("ids[]", multipart(("ids[]", "7"), ("ids[]", "8")), ["7", "8"], "success"),
        ("ids[]", (FORM, "x=1"), [], "success"),
        ("ids[]", (FORM, "ids[]=&x=1"), [], "success"),
        ("ids[]", multipart(("ids[]", ""), ("x", "1")), [], "success"),
        ("ids[]", (FORM, "ids[]=7"), [], "failure"),
        ("ids[]", (FORM, "x=1"), ["7"], "failure"),
        ("ids[]", (FORM, "ids[]="), ["7"], "failure"),
        ("ids[]", (FORM, "ids[]="), [""], "success"),
        ("ids", ("application/json", '{"ids": "7"}'), ["7"], "failure"),
        ("ids", ("application/json", '{"x": "7"}'), [], "failure"),
        ("ids", ("application/json", '{"ids": ["7"]}'), ["7"], "success"),
    ],
)
def test_a_form_has_an_array_where_the_schema_says_so_whatever_the_count_when_strict(
    network, key, post, expected, status
):
    wanted = {"url": "__SHOPPING__/p", "http_method": "POST", "post_data": {key: expected}}
    recorded = {"url": "http://shop.test:7770/p", "method": "POST", "post": post}
    types = {"post_data_schema": {"type": "object", "properties": {key: ARRAY}}}
    assert network(wanted, recorded, **types)["strict"][0] == status


def test_one_value_is_an_array_of_strict_alone(network):
    wanted = {"url": "__SHOPPING__/p", "http_method": "POST", "post_data": {"ids[]": ["7"]}}
    recorded = {"url": "http://shop.test:7770/p", "method": "POST", "post": (FORM, "ids[]=7")}
    types = {"post_data_schema": {"type": "object", "properties": {"ids[]": ARRAY}}}
    kept = ("failure", [])
    assert network(wanted, recorded, **types) == {
        "reference": kept,
        "default": kept,
        "strict": ("success", ["Q6 (repeated_fields)"]),
    }


@pytest.mark.parametrize(
    ("query", "expected", "status"),
    [
        ("ids[]=7", ["7"], "success"),
        ("ids[]=8&ids[]=7", ["7", "8"], "success"),
        ("ids[]=7&ids[]=8", ["7"], "failure"),
        ("ids[]=7", ["7", "8"], "failure"),
    ],
)
def test_every_value_of_a_parameter_with_a_schema_counts_when_strict(network, query, expected, status):
    wanted = {"url": "__SHOPPING__/p", "query_params": {"ids[]": expected}}
    types = {"query_params_schema": {"type": "object", "properties": {"ids[]": ARRAY}}}
    found = network(wanted, {"url": f"http://shop.test:7770/p?{query}"}, **types)
    warnings = ["Q6 (repeated_fields)"] if status == "failure" else []
    assert found == {"reference": ("success", []), "default": ("success", []), "strict": (status, warnings)}


def typed(entry, kind, page="p1", frame="f1"):
    return {**entry, "_resourceType": kind, "pageref": page, "_frameref": frame}


@pytest.mark.parametrize(
    ("last", "reference", "strict"),
    [
        (None, "success", "success"),
        (("frame", "document", "p1", "f2"), "failure", "success"),
        (("part", "xhr", "p1", "f1"), "failure", "success"),
        (("elsewhere", "document", "p1", "f1"), "failure", "failure"),
        (("popup", "document", "p2", "f9"), "failure", "failure"),
    ],
)
def test_the_last_page_is_known_from_resource_types_when_strict(network, bench, last, reference, strict):
    entries = [typed(bench.entry(PAGE["url"], headers=PAGE["headers"]), "document")]
    if last is not None:
        name, *kinds = last
        entries.append(typed(bench.entry(f"http://shop.test:7770/{name}", headers=PAGE["headers"]), *kinds))
    found = network({"url": "__SHOPPING__/p"}, kind="NAVIGATE", entries=entries)
    assert (found["reference"][0], found["default"][0], found["strict"][0]) == (reference, reference, strict)
    assert found["strict"][1] == ([] if strict == reference else ["Q24 (resource_types)"])


def test_a_frame_that_the_request_tells_is_no_page_when_strict(network, bench):
    page = bench.entry(PAGE["url"], headers={**PAGE["headers"], "sec-fetch-dest": "document"})
    frame = bench.entry(FRAME["url"], headers={**FRAME["headers"], "sec-fetch-dest": "iframe"})
    entries = [{**entry, "_resourceType": "document"} for entry in (page, frame)]  # as browsers' own tools write them
    found = network({"url": "__SHOPPING__/p"}, kind="NAVIGATE", entries=entries)
    assert [status for status, _ in found.values()] == ["failure", "failure", "success"]


def test_a_page_from_the_cache_is_a_page_when_strict(network, bench):
    entries = [typed(bench.entry(PAGE["url"], headers=PAGE["headers"], status=304), "document")]
    found = network({"url": "__SHOPPING__/p"}, kind="NAVIGATE", entries=entries)
    assert [status for status, _ in found.values()] == ["failure", "failure", "success"]
    untyped = network({"url": "__SHOPPING__/p"}, {**PAGE, "status": 304}, kind="NAVIGATE")
    assert [status for status, _ in untyped.values()] == ["failure", "failure", "success"]


@pytest.mark.parametrize("kind", ["xhr", None])
def test_what_is_no_page_is_not_from_the_cache(network, bench, kind):
    headers = PAGE["headers"] if kind else {"accept": "application/json"}
    entries = [{**bench.entry(PAGE["url"], headers=headers, status=304), "_resourceType": kind}]
    found = network({"url": "__SHOPPING__/p"}, kind="MUTATE", entries=entries)
    assert {status for status, _ in found.values()} == {"failure"}


@pytest.mark.parametrize("status", [302, 303, 305])
def test_a_page_of_another_status_is_not_from_the_cache(network, bench, status):
    entries = [typed(bench.entry(PAGE["url"], headers=PAGE["headers"], status=status), "document")]
    found = network({"url": "__SHOPPING__/p"}, kind="NAVIGATE", entries=entries)
    assert {status for status, _ in found.values()} == {"failure"}


def test_a_trick_that_changes_nothing_is_not_warned_of(verdicts):
    assert verdicts(answer(["Pen", "Cup"]), ["Mug"])["default"] == ("failure", [])
    assert verdicts(answer("Mug", "inf km"), ["Mug"])["default"] == ("failure", [])


def test_a_pattern_of_an_agent_is_told_of_and_never_run(verdicts):
    endless = "^" + ".*" * 60 + "Q$"
    assert verdicts_by_default(verdicts, answer(endless)) == ("failure", ["Q1 (no_recorded_patterns)"])


def verdicts_by_default(verdicts, response):
    return verdicts(response, ["Blue Mug"], names=("default",))["default"]


def test_rules_that_only_together_decide_are_both_told_of(network):
    recorded = {"url": "http://shopxtest:7770/x/../p", "method": "POST"}
    found = network({"url": "^__SHOPPING__/p$", "http_method": "POST"}, recorded)
    assert found["reference"] == ("success", [])
    assert found["default"] == ("failure", ["§5.14 (unresolved_paths)", "§4.8 (escaped_hosts)"])


def test_what_one_expectation_noticed_is_not_told_of_another(bench):
    bench.record(answer(["Mug", "Cup"]))
    case = bench.case(bench.task(bench.expecting(data=["Mug"]), bench.expecting(data=["Pen"])))
    score(case, default_evaluators())
    assert [warning.rpartition(", ")[2] for warning in case.warnings] == ["eval[0]"]


def test_results_that_are_joined_keep_all_their_warnings(bench):
    bench.record(answer("^.*$"))
    one = bench.score(bench.task(bench.expecting(data=["Mug"])))
    other = one.with_changes(webeval=one.webeval | {"warnings": ["another"]})
    assert merge_results([one, other]).webeval["warnings"] == [*one.webeval["warnings"], "another"]


def test_a_mended_trace_is_told_of(bench):
    bench.record(
        answer("Mug"), events=b'{"type": "resource-snapshot", "snapshot": %s}\n\n' % json.dumps(bench.entry()).encode()
    )
    case = bench.case(bench.task(bench.expecting(data=["Mug"])))
    score(case, default_evaluators())
    assert list(case.warnings) == [
        "Q43 (repaired_traces) changed this verdict to success: readable data are read @ the trace"
    ]


def test_a_trace_of_static_assets_is_as_good_as_none(bench):
    bench.record(answer("Mug"), events=[{"url": "http://shop.test:7770/favicon.ico"}])
    with pytest.raises(RecordingError, match="no usable events: 1 entry of a static file; re-record"):
        bench.score(bench.task(bench.expecting(data=["Mug"])))


def test_a_warning_names_the_rule_the_field_and_the_evaluator(bench):
    bench.record(answer("Mug", "^.*$"))
    case = bench.case(bench.task(bench.expecting(data=["Mug", "Cup"])))
    score(case, default_evaluators())
    reason = "text from an agent or a site is never a pattern @ retrieved_data[1]"
    told = f"Q1 (no_recorded_patterns) changed this verdict to failure: {reason}"
    assert list(case.warnings) == [f"{told}; AgentResponseEvaluator, eval[0]"]


def test_every_switch_is_a_row_and_every_quirk_of_the_specification_is_found():
    assert sorted(quirk.switch for quirk in QUIRKS if quirk.switch) == sorted(asdict(RULES["strict"]).keys() - {"name"})
    assert {f"Q{number}" for number in range(1, 53)} <= {quirk.number for quirk in QUIRKS}
    assert len({quirk.number for quirk in QUIRKS}) == len(QUIRKS)


def test_the_printed_table_has_each_row_with_its_columns():
    lines = format_rule_table().splitlines()
    assert (
        "Q1      no_recorded_patterns      kept        repaired    repaired    102 of the 297 retrieve tasks with data"
        in lines
    )
    assert sum(line.startswith(("Q", "§", "F")) for line in lines) == len(QUIRKS)


def test_a_field_that_no_event_has_is_told_of(bench):
    bench.record({"task_type": "MUTATE", "status": "SUCCESS"}, [{"url": "http://shop.test:7770/p", "method": "POST"}])
    wanted = {"url": "__SHOPPING__/p", "http_method": "POST", "post_daat": {"a": "1"}}
    evaluator = {"evaluator": "NetworkEventEvaluator", "expected": wanted}
    case = bench.case(bench.task(bench.expecting("MUTATE", schema={"type": "null"}), evaluator), "reference")
    assert score(case, default_evaluators()).status == "success"
    (warning,) = case.warnings
    assert warning.startswith(
        "eval[1].expected.post_daat is not a field of an event and is ignored; known: url, http_method"
    )


def test_a_request_that_is_no_page_load_is_told_to_be_none(network, bench):
    entry = bench.entry("http://shop.test:7770/p", headers={"accept": "*/*"})
    found = network({"url": "__SHOPPING__/p"}, kind="NAVIGATE", entries=[entry])
    assert {status for status, _ in found.values()} == {"failure"}
    task = bench.task(
        bench.expecting("NAVIGATE", schema={"type": "null"}),
        {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__SHOPPING__/p"}},
    )
    told = bench.score(task).evaluators_results[1].assertions[0].assertion_msgs[0]
    assert told.endswith("(0 candidates): no request has an Accept header that starts with text/html, as pages have")


def test_a_pattern_that_is_taken_as_a_text_and_passes_is_not_told_of(verdicts):
    assert verdicts(answer("^x$"), ["^.*$"])["default"] == ("success", [])


def test_a_pattern_in_the_answer_is_not_told_of_the_network(bench):
    bench.record(answer("^.*$"))
    wanted = {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__SHOPPING__/nowhere"}}
    case = bench.case(bench.task(bench.expecting(data=["Mug"]), wanted))
    assert [one.status for one in score(case, default_evaluators()).evaluators_results] == ["failure", "failure"]
    assert [warning.rpartition(", ")[2] for warning in case.warnings] == ["eval[0]"]


def test_two_empty_lists_in_a_response_are_no_error(network):
    content = ("application/json", '{"a": [], "b": []}')
    recorded = {"url": "http://shop.test:7770/p", "method": "POST", "content": content}
    wanted = {"url": "__SHOPPING__/p", "http_method": "POST", "response_content": {"a": [], "b": []}}
    assert {status for status, _ in network(wanted, recorded).values()} == {"success"}


@pytest.mark.parametrize("wanted", [199, 302])
def test_a_page_from_the_cache_is_no_other_status_than_it_had(network, bench, wanted):
    entries = [typed(bench.entry(PAGE["url"], headers=PAGE["headers"], status=304), "document")]
    found = network({"url": "__SHOPPING__/p", "response_status": wanted}, kind="NAVIGATE", entries=entries)
    assert found["strict"][0] == "failure"


URLS = {"type": "object", "properties": {"u": {"type": "array", "items": {"type": "string", "format": "url"}}}}


@pytest.mark.parametrize(
    ("query", "status"),
    [("u=http://elsewhere.test/a", "success"), ("u=http://elsewhere.test/b", "failure"), ("x=1&x=2", "error")],
)
def test_typed_parameters_may_name_any_place_and_others_come_once(network, query, status):
    wanted = {"url": "__SHOPPING__/p", "query_params": {"u": ["http://elsewhere.test/a"]}}
    found = network(wanted, {"url": f"http://shop.test:7770/p?{query}"}, query_params_schema=URLS)
    assert {verdict for verdict, _ in found.values()} == {status}


@pytest.mark.parametrize("empty", [[], "", 0, False])
def test_an_empty_body_of_any_kind_is_none(network, bench, empty):
    entry = bench.entry("http://shop.test:7770/p", "POST")
    entry["request"]["postData"] = empty
    wanted = {"url": "__SHOPPING__/p", "http_method": "POST", "post_data": {"a": "1"}}
    assert {status for status, _ in network(wanted, entries=[entry]).values()} == {"failure"}
