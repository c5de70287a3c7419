"""A body or a cookie that a recorder wrote in another place, or under another type, is one all the same."""

from __future__ import annotations

import json
import sys
from urllib.parse import quote_plus

import pytest

from pytest_webeval.errors import EvaluationError
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.recordings.network.bodies import Body, Param
from pytest_webeval.recordings.network.form_fields import content_type, is_json_type, parse_recorded
from pytest_webeval.safety.limits import USUAL, Limits
from pytest_webeval.scoring.score import score

pytestmark = pytest.mark.usefixtures("published")  # so that warnings name the rules that decided

FORM, JSON, MULTIPART = "application/x-www-form-urlencoded", "application/json", "multipart/form-data"
POST = {"url": "__SHOPPING__/cart", "http_method": "POST"}
QTY = {**POST, "post_data": {"qty": "5"}}
OBJECT, BATCH = '{"qty": "5"}', '[{"qty": "4"}, 7, {"qty": "5"}]'
PARTS = '--X\r\nContent-Disposition: form-data; name="qty"\r\n\r\n5\r\n--X--\r\n'


@pytest.fixture
def judge(bench):
    """Statuses and reasons of the network evaluator under each rule set for one POST."""

    def found(expected, post=None, sent_type=None, response=None, **config):
        headers = {"Accept": "*/*"} | ({} if sent_type is None else {"Content-Type": sent_type})
        entry = bench.entry("http://shop.test:7770/cart", "POST", headers=headers)
        entry["request"]["postData"] = post
        entry["response"] |= response or {}
        directory = bench.record({"task_type": "MUTATE", "status": "SUCCESS"})
        (directory / "network.har").write_text(json.dumps({"log": {"entries": [entry]}}))
        evaluator = {"evaluator": "NetworkEventEvaluator", "expected": expected, **config}
        task = bench.task(bench.expecting("MUTATE", schema={"type": "null"}), evaluator)
        cases = [bench.case(task, rules) for rules in ("reference", "default", "strict")]
        results = [score(case, default_evaluators()).evaluators_results[1] for case in cases]
        return [str(result.status) for result in results], results[-1].error_msg, cases[1].warnings

    return found


def params(*pairs, mime=FORM, **more):
    return {"mimeType": mime, "params": [{"name": name, "value": value} for name, value in pairs], **more}


@pytest.mark.parametrize(
    ("post", "sent_type"),
    [
        (params(("qty", "5")), None),
        (params(("qty", "5"), text=None), None),
        (params(("qty", "5"), text=""), None),
        (params(("qty", "5"), mime=""), None),
        (params(("qty", "5"), mime=None), None),
        (params(("qty", "5"), mime=FORM.upper()), None),
        (params(("qty", "5"), mime=MULTIPART), None),
        (params(("qty", "5"), ("qty", "5"), mime=MULTIPART), None),
        ({"params": [{"name": "qty", "value": "5"}]}, None),
        ({"mimeType": MULTIPART, "params": [{"name": "f", "fileName": "a.png"}, {"name": "qty", "value": "5"}]}, None),
        ({"mimeType": MULTIPART, "params": [{"name": "qty", "value": "5", "contentType": "text/plain"}]}, None),
        ({"mimeType": MULTIPART, "params": [{"name": "qty", "value": "5", "fileName": "qty.txt"}]}, None),
        (params(("qty", "5"), mime="text/plain", text="a file"), None),
        ({"text": "qty=5"}, FORM),
        ({"mimeType": "", "text": "qty=5"}, FORM),
        ({"mimeType": None, "text": "qty=5"}, f"{FORM}; charset=UTF-8"),
        ({"mimeType": "application/octet-stream", "text": "qty=5"}, FORM),
        ({"mimeType": "x-unknown", "text": "qty=5"}, FORM.upper()),
        ({"mimeType": "text/plain", "text": "qty=5"}, FORM),
        ({"mimeType": FORM.upper(), "text": "qty=5"}, None),
        ({"mimeType": f"{FORM.title()} ; charset=UTF-8", "text": "qty=5"}, None),
        ({"mimeType": MULTIPART, "text": PARTS}, f"{MULTIPART}; boundary=X"),
        ({"mimeType": "", "text": PARTS}, f'{MULTIPART}; boundary="X"'),
        ({"mimeType": MULTIPART.upper(), "text": PARTS}, f"{MULTIPART}; Boundary=X"),
        ({"mimeType": "Multipart/Form-Data; Boundary=X", "text": PARTS}, None),
        ({"mimeType": "text/plain;charset=UTF-8", "text": OBJECT}, None),
        ({"mimeType": "text/plain;charset=UTF-8", "text": f"\ufeff{OBJECT}"}, None),
        ({"mimeType": JSON.upper(), "text": OBJECT}, None),
        ({"mimeType": "application/graphql+json", "text": OBJECT}, None),
        ({"mimeType": "application/vnd.api+json", "text": OBJECT}, None),
        ({"mimeType": "text/json", "text": OBJECT}, None),
        ({"mimeType": "application/octet-stream", "text": OBJECT}, None),
        ({"mimeType": "", "text": OBJECT}, None),
        ({"mimeType": None, "text": OBJECT}, None),
        ({"text": OBJECT}, None),
        ({"mimeType": JSON, "text": BATCH}, None),
        ({"mimeType": "text/plain", "text": BATCH}, None),
        ({"mimeType": FORM, "text": "cXR5PTU=", "encoding": "base64"}, None),
        ({"mimeType": FORM, "text": "cXR5PTU=", "_encoding": "base64"}, None),
        ({"mimeType": None, "text": "eyJxdHkiOiAiNSJ9", "encoding": "base64"}, None),
        ({"mimeType": "text/plain", "text": "eyJxdHkiOiAiNSJ9", "encoding": "base64"}, None),
        (params(("qty", "5"), _file="missing.txt", text=""), None),
    ],
    ids=str,
)
def test_a_body_is_read_wherever_it_is(judge, post, sent_type):
    statuses, _, warnings = judge(QTY, post, sent_type)
    assert statuses[1:] == ["success", "success"]
    assert statuses[0] == ("error" if post.get("mimeType", "") is None and post.get("text") else "failure")
    assert {warning.split(")")[0] for warning in warnings} <= {"§3.3 (recorded_bodies", "Q19 (external_bodies"}
    assert warnings


@pytest.mark.parametrize(
    ("post", "sent_type"),
    [
        (params(("qty", "4")), None),
        (params(), None),
        (params(("other", "5")), None),
        ({"mimeType": FORM, "text": "qty=4", "params": [{"name": "qty", "value": "5"}]}, None),
        ({"mimeType": JSON, "text": "qty=5"}, None),
        ({"mimeType": JSON, "text": "5"}, None),
        ({"mimeType": JSON, "text": "[]"}, None),
        ({"mimeType": JSON, "text": '[{"qty": "4"}, {"other": "5"}]'}, None),
        ({"mimeType": "application/vnd.api+json", "text": "qty=5"}, None),
        ({"mimeType": FORM, "text": OBJECT}, JSON),
        ({"mimeType": JSON, "text": OBJECT.replace("5", "4")}, FORM),
        ({"mimeType": FORM, "params": [{"name": "qty", "value": 5}]}, None),
        ({"mimeType": FORM, "params": "qty"}, None),
        (None, None),
    ],
    ids=str,
)
def test_what_is_read_may_differ(judge, post, sent_type):
    assert judge(QTY, post, sent_type)[0] == ["failure"] * 3


@pytest.mark.parametrize(
    ("post", "sent_type", "name"),
    [
        ({"mimeType": "text/plain;charset=UTF-8", "text": "qty=5"}, None, "text/plain"),
        ({"mimeType": "Application/XML", "text": "<qty>5</qty>"}, None, "application/xml"),
        ({"mimeType": "application/graphql", "text": "{ qty }"}, None, "application/graphql"),
        ({"mimeType": "", "text": "qty=5"}, None, "unknown"),
        ({"mimeType": "", "text": "qty=5"}, "text/csv", "text/csv"),
        ({"text": "qty=5"}, None, "unknown"),
        ({"mimeType": MULTIPART, "text": PARTS}, None, MULTIPART),
        ({"mimeType": MULTIPART, "text": PARTS}, "text/plain", MULTIPART),
    ],
    ids=str,
)
def test_a_body_that_is_not_read_is_an_error_that_names_its_type(judge, post, sent_type, name):
    statuses, reason, warnings = judge(QTY, post, sent_type)
    assert statuses == ["failure", "error", "error"]
    assert reason.startswith(f"a body of type {name} is not read: that of event 1; ")
    assert [warning.split(")")[0] for warning in warnings] == ["§4.3 (recording_gaps"]


def test_a_body_that_is_not_read_matters_only_where_its_fields_are_expected(judge):
    assert judge(POST, {"mimeType": "application/xml", "text": "<a/>"})[0] == ["success"] * 3


@pytest.mark.parametrize(
    ("value", "expected", "status"),
    [
        ("a%20b", "a b", "success"),
        ("a+b%21", "a b!", "success"),
        ("caf%C3%A9", "café", "success"),
        ("a b", "a b", "success"),
        ("50% of it", "50% of it", "success"),
        ("50%20 of it", "50%20 of it", "success"),
        ("C++", "C++", "success"),
        ("50%", "50%", "success"),
        ("%zz%20", "%zz%20", "success"),
    ],
)
def test_params_are_decoded_if_they_are_as_a_form_sends_them(judge, value, expected, status):
    assert judge({**POST, "post_data": {"name": expected}}, params(("name", value)))[0][2] == status
    sent = params(("name", value), mime=MULTIPART)
    assert judge({**POST, "post_data": {"name": value}}, sent)[0][2] == "success"


def test_params_are_the_fields_that_were_sent(judge):
    sent = params(*((name, quote_plus(value)) for name, value in (("a", "1 & 2"), ("b[]", "x"), ("b[]", "y"))))
    types = {"post_data_schema": {"type": "object", "properties": {"b[]": {"type": "array"}}}}
    assert judge({**POST, "post_data": {"a": "1 & 2", "b[]": ["x", "y"]}}, sent, **types)[0][2] == "success"


def test_a_file_whose_content_was_not_recorded_is_an_error_where_it_is_expected(judge):
    sent = {"mimeType": MULTIPART, "params": [{"name": "f", "fileName": "a.txt", "contentType": "text/plain"}]}
    statuses, reason, _ = judge({**POST, "post_data": {"f": "hello"}}, sent)
    assert (statuses, reason) == (["failure", "error", "error"], "event 1 has no recorded content of the file in 'f'")


GRAPHQL = [{"operationName": "A", "variables": {"qty": 4}}, {"operationName": "B", "variables": {"qty": 5, "id": 7}}]


@pytest.mark.parametrize(
    ("expected", "status"),
    [
        ({"operationName": "B", "$.variables.qty": "5"}, "success"),
        ({"operationName": "A", "$.variables.qty": "5"}, "failure"),
        ({"$.variables.qty": "5", "$.variables.id": "7"}, "success"),
        ({"$.variables.qty": "4", "$.variables.id": "7"}, "failure"),
        ({"$[0].variables.qty": "4", "$[1].variables.qty": "5"}, "success"),
        ({"$[1].operationName": "B", "operationName": "A"}, "success"),
        ({"$[0].variables.qty": "5"}, "failure"),
        ({"$[*].variables.qty": ["4", "5"]}, "success"),
        ({"$['operationName']": "B"}, "success"),
        ({"^operation.*$": "B"}, "success"),
        ({"operationName": "A", "$.variables.id": None}, "success"),
        ({"operationName": "B", "$.variables.id": None}, "failure"),
    ],
)
def test_one_item_of_an_array_has_all_expected_fields(judge, expected, status):
    sent = {"mimeType": JSON, "text": json.dumps(GRAPHQL)}
    assert judge({**POST, "post_data": expected}, sent)[0] == ["failure", status, status]


def test_an_array_of_scalars_has_indices_alone(judge):
    sent = {"mimeType": JSON, "text": '["a", "b"]'}
    assert judge({**POST, "post_data": {"$[1]": "b"}}, sent)[0][2] == "success"
    assert judge({**POST, "post_data": {"b": "b"}}, sent)[0][2] == "failure"


DIGITS = "1" * 5000  # more than Python reads as an integer
NESTED = json.dumps({"q": "5"})


@pytest.mark.parametrize(
    ("text", "expected", "status"),
    [
        (json.dumps({"a": DIGITS, "p": NESTED}), {"$.p.q": "5"}, "success"),
        (json.dumps({"a": DIGITS, "p": NESTED}), {"$.p.q": "6"}, "failure"),
        (json.dumps({"a": f"[{DIGITS}]", "p": NESTED}), {"$.p.q": "5"}, "success"),
        (json.dumps({"p": f'{{"q": "5", "a": -{DIGITS}}}'}), {"$.p.q": "5"}, "success"),
        (json.dumps({"p": f'{{"q": 5, "a": {DIGITS}}}'}), {"$.p.q": 5}, "success"),
        (json.dumps({"p": f'{{"q": 5, "a": {DIGITS}}}'}), {"$.p.a": 1}, "failure"),
        (json.dumps({"p": f'{{"q": 5, "a": {DIGITS}}}'}), {"$.p.a": DIGITS}, "success"),
        (json.dumps([{"a": DIGITS, "p": NESTED}]), {"$[*].p.q": "5"}, "success"),
    ],
)
def test_an_integer_of_very_many_digits_costs_no_other_field(judge, text, expected, status):
    is_array = text.startswith("[")
    statuses, reason, _ = judge({**POST, "post_data": expected}, {"mimeType": JSON, "text": text})
    assert statuses == ["failure" if is_array else "error", "error", status]
    assert "fix the path" not in (reason or "")


@pytest.mark.parametrize("expected", [{"$[*].variables.q": "5"}, {"$[*].variables.q": "5", "name": "b"}])
def test_work_for_an_array_grows_with_its_items(bench, expected):
    """A path about the array as a whole is looked up once, not for each item."""

    def count(items):
        entry = bench.entry("http://shop.test:7770/cart", "POST", headers={"Accept": "*/*"})
        sent = [{"name": "a", "variables": {"q": "5"}} for _ in range(items)]
        entry["request"]["postData"] = {"mimeType": JSON, "text": json.dumps(sent)}
        directory = bench.record({"task_type": "MUTATE", "status": "SUCCESS"})
        (directory / "network.har").write_text(json.dumps({"log": {"entries": [entry]}}))
        evaluator = {"evaluator": "NetworkEventEvaluator", "expected": {**POST, "post_data": expected}}
        case = bench.case(bench.task(bench.expecting("MUTATE", schema={"type": "null"}), evaluator), "strict")
        calls = 0

        def watch(_, event, __):
            nonlocal calls
            calls += event == "call"

        sys.setprofile(watch)
        try:
            score(case, default_evaluators())
        finally:
            sys.setprofile(None)
        return calls

    count(1)
    assert count(200) < 2.5 * count(100)


DATA = {**POST, "response_content": {"id": 5}}


@pytest.mark.parametrize(
    ("content", "headers", "statuses"),
    [
        ({"mimeType": "application/hal+json", "text": '{"id": 5}'}, [], "success"),
        ({"mimeType": JSON.upper(), "text": '{"id": 5}'}, [], "success"),
        ({"mimeType": "", "text": '{"id": 5}'}, [], "success"),
        ({"mimeType": None, "text": '{"id": 5}'}, [], "success"),
        ({"mimeType": "x-unknown", "text": "id=5"}, [{"name": "content-type", "value": FORM}], "failure"),
        ({"mimeType": JSON, "text": '[{"id": 4}, {"id": 5}]'}, [], "success"),
        ({"mimeType": JSON, "text": '[{"id": 4}]'}, [], "failure"),
        ({"mimeType": "text/html", "text": "<p>login</p>"}, [], "failure"),
        ({"mimeType": "application/xml", "text": "<id>5</id>"}, [], "error"),
        ({"mimeType": JSON, "text": "oops"}, [], "failure"),
    ],
    ids=str,
)
def test_content_is_read_by_its_text(judge, content, headers, statuses):
    found = judge(DATA, response={"content": content, "headers": headers})[0]
    assert found[1:] == [statuses] * 2
    assert found[0] == ("error" if content["mimeType"] is None else "failure")


@pytest.mark.parametrize("text", ['{"id": 5}', "eyJpZCI6IDV9"])
def test_only_a_post_has_an_encoding_of_its_own(judge, text):
    content = {"mimeType": JSON, "text": text, "_encoding": "base64"}
    assert judge(DATA, response={"content": content})[0] == ["success" if text[0] == "{" else "failure"] * 3


ADDED = {**POST, "response_cookies": {"msg": "^.*added.*$"}}


@pytest.mark.parametrize(
    ("response", "status"),
    [
        ({"headers": [{"name": "Set-Cookie", "value": "msg=item%20added; Path=/"}]}, "success"),
        ({"headers": [{"name": "set-cookie", "value": "a=1; Path=/\nmsg=added=yes"}]}, "success"),
        (
            {
                "headers": [{"name": "Set-Cookie", "value": "a=1\nmsg=added"}],
                "cookies": [{"name": "a", "value": "1"}],
            },
            "success",
        ),
        (
            {"headers": [{"name": "Set-Cookie", "value": "a=1"}, {"name": "SET-COOKIE", "value": " msg = added "}]},
            "success",
        ),
        ({"headers": [{"name": "Set-Cookie", "value": "a=1; Path=/, msg=added; Path=/"}]}, "success"),
        ({"headers": [{"name": "Set-Cookie", "value": "a=1,msg=added,b=2"}]}, "success"),
        (
            {"headers": [{"name": "Set-Cookie", "value": "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT, msg=added"}]},
            "success",
        ),
        (
            {"headers": [{"name": "Set-Cookie", "value": "msg=added; Expires=Wed, 21-Oct-2026 07:28:00 GMT, a=1"}]},
            "success",
        ),
        ({"headers": [{"name": "Set-Cookie", "value": "a=1; Path=/, msg=added, msg=removed"}]}, "failure"),
        ({"headers": [{"name": "Set-Cookie", "value": "msg=removed"}]}, "failure"),
        ({"headers": [{"name": "Set-Cookie", "value": "msg"}]}, "failure"),
        ({"headers": [{"name": "Set-Cookie", "value": "other=added; msg=added"}]}, "failure"),
        (
            {
                "headers": [{"name": "Set-Cookie", "value": "msg=added"}],
                "cookies": [{"name": "msg", "value": "removed"}],
            },
            "failure",
        ),
        ({"headers": 5}, "failure"),
    ],
    ids=str,
)
def test_cookies_of_headers_count_where_the_list_lacks_them(judge, response, status):
    statuses, _, warnings = judge(ADDED, response=response)
    assert statuses == ["failure", status, status]
    assert [warning.split(")")[0] for warning in warnings] == ["§3.2 (recorded_cookies"] * (status == "success")


def test_the_list_of_cookies_counts_before_the_headers(judge):
    headers = [{"name": "Set-Cookie", "value": "msg=added\nb=2"}]
    response = {"headers": headers, "cookies": [{"name": "msg", "value": "removed"}]}
    assert (
        judge({**POST, "response_cookies": {"msg": "removed", "b": "2"}}, response=response)[0][1:] == ["success"] * 2
    )


def test_a_side_file_that_is_lost_leaves_nothing_to_read(judge):
    statuses, reason, _ = judge(QTY, {"mimeType": FORM, "text": "", "params": [], "_file": "missing.txt"})
    assert (statuses, "cannot read the side file" in reason) == (["failure", "error", "error"], True)


@pytest.mark.parametrize(
    ("mimes", "name"),
    [
        (("Text/Plain; charset=UTF-8",), "text/plain"),
        (("", "application/JSON"), "application/json"),
        (("x-unknown", "application/octet-stream"), ""),
        ((), ""),
    ],
)
def test_a_type_has_no_parameters(mimes, name):
    assert content_type(*mimes) == name


@pytest.mark.parametrize(
    ("name", "is_json"),
    [
        ("application/json", True),
        ("text/json", True),
        ("application/ld+json", True),
        ("application/x-json", True),
        ("application/jsonp", False),
        ("text/plain", False),
        ("", False),
    ],
)
def test_types_of_json_end_alike(name, is_json):
    assert is_json_type(name) is is_json


def test_bodies_beyond_the_limits_are_refused():
    few = Limits(values=2)
    for body in (Body("", "[1, 2, 3, 4]"), Body(FORM.upper(), "a&b&c&d")):
        with pytest.raises(EvaluationError, match="the limit is 2"):
            parse_recorded(body, "", few)
    assert parse_recorded(Body("", "[1, 2, 3, 4]"), "", USUAL)[0].document == [1, 2, 3, 4]
    fields = parse_recorded(Body(FORM, "", params=(Param("a", "1"), Param("a", "2"))), "", USUAL)
    assert (fields[0].first, fields[0].repeated) == ({"a": "1"}, {"a": ["1", "2"]})
