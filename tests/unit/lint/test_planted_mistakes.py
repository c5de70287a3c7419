"""Each mistake that is planted into a sound task is reported in one line, and nothing else is."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.lint.checks import CHECKS
from pytest_webeval.lint.findings import Finding
from pytest_webeval.lint.linter import lint_row
from pytest_webeval.lint.task_rows import read_rows
from pytest_webeval.tasks.sites import Environment, Sites
from tests.unit.lint.planted import answer, post, request, task

pytestmark = pytest.mark.filterwarnings("ignore:Transitional processing:DeprecationWarning")
NAMES = ("shopping", "bookshop", "gitlab")
SITES = Sites({name: Environment((f"http://{name.removesuffix('ping')}.test",)) for name in NAMES})


def lint(*definitions, sites=None) -> list[Finding]:
    """The findings in these tasks."""
    ids = {}
    rows = read_rows(json.dumps(definitions).encode(), "tasks.json")
    return [finding for row in rows for finding in lint_row(row, "tasks.json", sites, ids)]


MISTAKES = [
    (
        "lax-value",
        task(answer([[{"n": 1}, {"n": True}]], {"type": "object", "properties": {"n": {"type": "boolean"}}})),
        [
            (
                ".eval[0].expected.retrieved_data[0][0].n: 1 as boolean is true, as are other numbers and words; "
                "write true or false"
            )
        ],
    ),
    (
        "literal-pattern",
        task(answer(["^.*$"], {"type": "string", "format": "location-name"})),
        [
            (
                ".eval[0].expected.retrieved_data[0]: '^.*$' is not a pattern here, it is compared as location-name; "
                "write the value"
            )
        ],
    ),
    (
        "open-alternation",
        task(request(ignored_query_params_patterns=["^page$|sort$"])),
        [
            (
                ".eval[1].ignored_query_params_patterns[0]: '^page$|sort$' matches more than its parts, for ^ and $ "
                "belong to one each; use '^(page$|sort)$'"
            )
        ],
    ),
    (
        "filter",
        task(request({"response_content": {"$.a[?(@.k==1)].v": "x"}})),
        [
            (
                '.eval[1].expected.response_content["$.a[?(@.k==1)].v"]: a filter with one hit equals nothing but a '
                "list; expect a list, with the type array"
            )
        ],
    ),
    (
        "posted-property",
        task(post({"quantity": 5}, {"quantityy": {"type": "number"}})),
        [".eval[1].post_data_schema.properties.quantityy: no posted field is 'quantityy'; use 'quantity'"],
    ),
    (
        "unknown-key",
        task(request({"querry_params": {"q": ["a"]}})),
        [".eval[1].expected.querry_params: unknown key 'querry_params'; use query_params"],
    ),
    (
        "unknown-key",
        task(
            answer(["a"])
            | {"expected": {"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": ["a"], "retrieve_data": 1}}
        ),
        [".eval[0].expected.retrieve_data: unknown key 'retrieve_data'; use retrieved_data"],
    ),
    ("unknown-key", task(answer(["a"]), intents="x"), [".intents: unknown key 'intents'; use intent"]),
    (
        "unknown-key",
        task(answer(["a"], {"typ": "string"})),
        [".eval[0].results_schema.items.typ: unknown key 'typ'; use type"],
    ),
    (
        "unknown-key",
        task(request({"last_event_only": False})),
        [(".eval[1].expected.last_event_only: unknown key 'last_event_only'; move it out of expected, next to it")],
    ),
    (
        "unknown-key",
        task(request(post_data={"a": 1})),
        [".eval[1].post_data: unknown key 'post_data'; move it into expected"],
    ),
    (
        "unknown-key",
        task(request(zzz=1)),
        [
            (
                ".eval[1].zzz: unknown key 'zzz'; use one of evaluator, expected, last_event_only, "
                "ignored_query_params, ignored_query_params_patterns, decode_base64_query, "
                "query_params_schema, post_data_schema, ignored_post_data_params_patterns, should_not_exist"
            )
        ],
    ),
    (
        "evaluator",
        task(answer(["a"]), {"evaluator": "NetworkEventEvalutor", "expected": {}}),
        [".eval[1].evaluator: unknown evaluator 'NetworkEventEvalutor'; use NetworkEventEvaluator"],
    ),
    (
        "unreadable",
        task(answer(["a"]), revision=0),
        [".revision: Input should be greater than or equal to 1; fix the definition"],
    ),
    (
        "unreadable",
        task(request({"response_status": "x"})),
        [
            (
                ".eval[1].expected.response_status: Input should be a valid integer, unable to parse string "
                "as an integer; fix the definition"
            )
        ],
    ),
    (
        "unreadable-value",
        task(answer(["soon"], {"type": "string", "format": "date"})),
        [".eval[0].expected.retrieved_data[0]: 'soon' is not a date; write it as 2023-01-31"],
    ),
    (
        "unreadable-value",
        task(
            request(
                {"query_params": {"a": ["1"]}},
                query_params_schema={"type": "object", "properties": {"a": {"type": "number"}}},
            )
        ),
        [
            (
                ".eval[1].expected.query_params: query_params_schema has no array for a parameter; give each the "
                "type array, and its own type as items"
            )
        ],
    ),
    (
        "unreadable-value",
        task(post({"ids": [1]})),
        [
            (
                ".eval[1].expected.post_data.ids: a list of 1 item is not a string; write one value, or at "
                "least two alternatives"
            )
        ],
    ),
    (
        "invalid-pattern",
        task(request({"url": "^__SHOPPING__/(a$"})),
        [
            (
                ".eval[1].expected.url: invalid regular expression '^__SHOPPING__/(a$': missing ), "
                "unterminated subpattern at position 14; fix the pattern"
            )
        ],
    ),
    (
        "invalid-pattern",
        task(answer(["^(a$"])),
        [
            (
                ".eval[0].expected.retrieved_data[0]: invalid regular expression '^(a$': missing ), "
                "unterminated subpattern at position 1; fix the pattern"
            )
        ],
    ),
    (
        "invalid-pattern",
        task(request(ignored_query_params_patterns=["("])),
        [
            (
                ".eval[1].ignored_query_params_patterns[0]: invalid regular expression '(': missing ), "
                "unterminated subpattern at position 0; fix the pattern"
            )
        ],
    ),
    (
        "broad-pattern",
        task(request({"url": "^__SHOPPING__/.*$"})),
        [".eval[1].expected.url: '^__SHOPPING__/.*$' matches every page of a site; name the page"],
    ),
    (
        "broad-pattern",
        task(post({"name": "^.*$"})),
        [".eval[1].expected.post_data.name: '^.*$' matches every text; write what it must have"],
    ),
    (
        "broad-pattern",
        task(post({"name": "^.*(?!delete$).*$"})),
        [(".eval[1].expected.post_data.name: '^.*(?!delete$).*$' matches every text; write what it must have")],
    ),
    (
        "broad-pattern",
        task(request({"query_params": {"q": ["^.*$"]}})),
        [".eval[1].expected.query_params.q[0]: '^.*$' matches every text; write what it must have"],
    ),
    (
        "broad-pattern",
        task(post({"^.*$": "x"})),
        [".eval[1].expected.post_data[\"^.*$\"]: '^.*$' matches every text; write what it must have"],
    ),
    (
        "open-alternation",
        task(request({"url": "^__SHOPPING__/a|__SHOPPING__/b$"})),
        [
            (
                ".eval[1].expected.url: '^__SHOPPING__/a|__SHOPPING__/b$' matches more than its parts, "
                "for ^ and $ belong to one each; use '^(__SHOPPING__/a|__SHOPPING__/b)$'"
            )
        ],
    ),
    (
        "open-alternation",
        task(request({"query_params": {"q": ["^a|b$"]}})),
        [
            (
                ".eval[1].expected.query_params.q[0]: '^a|b$' matches more than its parts, for ^ and $ belong to one "
                "each; use '^(a|b)$'"
            )
        ],
    ),
    (
        "unmatchable-pattern",
        task(request({"url": "^__SHOPPING__/cart/$"})),
        [
            (
                ".eval[1].expected.url: '^__SHOPPING__/cart/$' never matches: a recorded URL has no slash at "
                "its end; end it with '/?$' or without"
            )
        ],
    ),
    (
        "unmatchable-pattern",
        task(request({"url": r"^__SHOPPING__/search\?q=a$"})),
        [
            (
                ".eval[1].expected.url: '^__SHOPPING__/search\\\\?q=a$' never matches: it is compared without "
                "the query; write the parameters in query_params"
            )
        ],
    ),
    (
        "unmatchable-pattern",
        task(request({"headers": {"referer": "^__SHOPPING__/Cart$"}})),
        [
            (
                ".eval[1].expected.headers.referer: '^__SHOPPING__/Cart$' never matches: a recorded referer "
                "is in lower case; write it so"
            )
        ],
    ),
    (
        "unmatchable-pattern",
        task(request({"query_params": {"q": [r"^\D+$"]}})),
        [
            (
                ".eval[1].expected.query_params.q[0]: '^\\\\D+$' never matches: query patterns are "
                "lower-cased, so \\D means \\d; write a class"
            )
        ],
    ),
    (
        "unmatchable-pattern",
        task(answer(["^café.*$"])),
        [
            (
                ".eval[0].expected.retrieved_data[0]: '^café.*$' never matches: texts are compared in ASCII, "
                "without 'é'; write its plain form"
            )
        ],
    ),
    (
        "unmatchable-pattern",
        task(answer(["^wh-1000.*$"])),
        [
            (
                ".eval[0].expected.retrieved_data[0]: '^wh-1000.*$' never matches: a hyphen at a letter is "
                "compared as a blank; write a blank"
            )
        ],
    ),
    (
        "literal-pattern",
        task(answer(["lamp.*"])),
        [(".eval[0].expected.retrieved_data[0]: 'lamp.*' looks like a pattern but is compared as a text; write '^…$'")],
    ),
    (
        "literal-url",
        task(request({"url": "__SHOPPING__/product/.*"})),
        [
            (
                ".eval[1].expected.url: '__SHOPPING__/product/.*' looks like a pattern but is compared as a "
                "text; write '^…$'"
            )
        ],
    ),
    (
        "literal-url",
        task(request({"url": "__SHOPPING__/items/*"})),
        [
            (
                ".eval[1].expected.url: '__SHOPPING__/items/*' has a * that is compared as a text; write '^…$' with "
                ".* for it, or %2A for a star"
            )
        ],
    ),
    (
        "literal-pattern",
        task(request({"query_params": {"q": ["^lamp"]}})),
        [(".eval[1].expected.query_params.q[0]: '^lamp' looks like a pattern but is compared as a text; write '^…$'")],
    ),
    (
        "literal-pattern",
        task(answer([" ^lamp$"])),
        [(".eval[0].expected.retrieved_data[0]: ' ^lamp$' is not a pattern, for blanks are around it; remove them")],
    ),
    (
        "literal-pattern",
        task(answer(["^Giant.*$"], {"type": "string", "format": "location-name"})),
        [
            (
                ".eval[0].expected.retrieved_data[0]: '^Giant.*$' is not a pattern here, it is compared as "
                "location-name; write the value"
            )
        ],
    ),
    (
        "literal-pattern",
        task(request({"response_content": {"a": "^x$"}})),
        [
            (
                ".eval[1].expected.response_content.a: '^x$' is not a pattern here, it is compared exactly; "
                "write the value"
            )
        ],
    ),
    (
        "ignored-parameter",
        task(request({"query_params": {"q": ["a"]}}, ignored_query_params_patterns=[".*"])),
        [
            (
                ".eval[1].expected.query_params.q: 'q' is ignored by this expectation, so nothing compares "
                "it; ignore less, or remove it"
            )
        ],
    ),
    (
        "ignored-parameter",
        task(post({"a": "1", "b": "2"}, ignored_post_data_params_patterns=["^a$"])),
        [
            (
                ".eval[1].expected.post_data.a: 'a' is ignored by this expectation, so nothing compares it; "
                "ignore less, or remove it"
            )
        ],
    ),
    (
        "placeholder",
        task(request({"url": "^__GITLAB__/a$"})),
        [(".eval[1].expected.url: __GITLAB__ is a site that the task does not name; add 'gitlab' to sites")],
    ),
    (
        "placeholder",
        task(request({"url": "__GITLAB__/a"})),
        [(".eval[1].expected.url: __GITLAB__ is a site that the task does not name; add 'gitlab' to sites")],
    ),
    (
        "placeholder",
        task(request({"url": "__SHOPING__/a"})),
        [".eval[1].expected.url: unknown placeholder __SHOPING__; use __SHOPPING__"],
    ),
    (
        "placeholder",
        task(post({"a": "__shopping__/x"})),
        [".eval[1].expected.post_data.a: unknown placeholder __shopping__; use __SHOPPING__"],
    ),
    (
        "placeholder",
        task(request({"url": "__BOOKSHOPS__/a"}), sites=["shopping", "bookshop"]),
        [".eval[1].expected.url: unknown placeholder __BOOKSHOPS__; use __BOOKSHOP__"],
    ),
    (
        "placeholder",
        task(request({"url": "__GITLABB__/a"})),
        [".eval[1].expected.url: unknown placeholder __GITLABB__; use __GITLAB__, and add 'gitlab' to sites"],
    ),
    (
        "placeholder",
        task(request(), start_urls=["__SHOPPNG__"]),
        [".start_urls[0]: unknown placeholder __SHOPPNG__; use __SHOPPING__"],
    ),
    (
        "placeholder-position",
        task(request({"url": "^.*__SHOPPING__/a$"})),
        [(".eval[1].expected.url: __SHOPPING__ is replaced only at the beginning of a URL; begin with it")],
    ),
    (
        "literal-placeholder",
        task(request({"response_cookies": {"a": "__SHOPPING__/x"}})),
        [
            (
                ".eval[1].expected.response_cookies.a: __SHOPPING__ never matches here, for recorded "
                "addresses are not replaced; expect a text without it"
            )
        ],
    ),
    (
        "literal-placeholder",
        task(post({"a": "see __SHOPPING__/x"}, {"a": {"type": "string", "format": "markdown"}})),
        [
            (
                ".eval[1].expected.post_data.a: __SHOPPING__ never matches here, for recorded addresses are "
                "not replaced; expect a text without it"
            )
        ],
    ),
    (
        "several-sites",
        task(post({"a": "__SHOPPING__/x __GITLAB__/y"}), sites=["shopping", "gitlab"]),
        [
            (
                ".eval[1].expected.post_data.a: __SHOPPING__ and __GITLAB__ in one text: only one of them is "
                "replaced in a recorded text; split it"
            )
        ],
    ),
    (
        "schema-type",
        task(answer(["2023-01-01"], {"type": "string", "format": "date-time"})),
        [".eval[0].results_schema.items.format: unknown format 'date-time'; use date"],
    ),
    (
        "schema-type",
        task(post({"a": 1}, {"a": {"type": "kurrency"}})),
        [".eval[1].post_data_schema.properties.a.type: unknown type 'kurrency'; use currency"],
    ),
    (
        "schema-container",
        task(answer(["a"]) | {"results_schema": {"type": "array"}}),
        [
            (
                ".eval[0].results_schema: an array without items: its data are compared as strings; write "
                "the type of its items"
            )
        ],
    ),
    (
        "schema-container",
        task(answer([{"a": "x"}], {"properties": {"a": {"type": "string"}}})),
        [
            (
                ".eval[0].results_schema.items.properties: properties count only with the type object; write "
                '"type": "object"'
            )
        ],
    ),
    (
        "schema-container",
        task(answer(["a"]) | {"results_schema": {"type": "object"}}),
        [
            (
                ".eval[0].results_schema.type: the answer of a task is a list, not 'object'; use array, or "
                "null for no data"
            )
        ],
    ),
    (
        "schema-format",
        task(
            answer([5], {"type": "number"})
            | {"results_schema": {"type": "array", "format": "currency", "items": {"type": "number"}}}
        ),
        [(".eval[0].results_schema.format: the format of an array is not used; write it at the items or a property")],
    ),
    (
        "schema-format",
        task(answer([5], {"type": "boolean", "format": "currency"})),
        [
            (
                ".eval[0].results_schema.items.format: the format currency contradicts the type boolean, and the "
                "format wins; keep one of them"
            )
        ],
    ),
    (
        "schema-keyword",
        task(answer(["a"], {"type": "string", "minLength": 2})),
        [
            (
                ".eval[0].results_schema.items.minLength: the keyword 'minLength' is not checked; the "
                "expected values decide"
            )
        ],
    ),
    (
        "schema-property",
        task(answer([{"a": "x"}], {"type": "object", "properties": {"b": {"type": "string"}}})),
        [
            (
                ".eval[0].expected.retrieved_data[0].a: the schema lacks the property 'a', so it is compared "
                "as a string; add its type"
            ),
            (
                ".eval[0].results_schema.items.properties.b: no expected object has 'b', so an answer that "
                "follows the schema fails; remove it"
            ),
        ],
    ),
    (
        "lax-value",
        task(answer([0])),
        [
            (
                ".eval[0].expected.retrieved_data[0]: 0 as a string is the empty text, which null and false "
                'are too; write "0", or its type'
            )
        ],
    ),
    (
        "lax-value",
        task(post({"n": 0})),
        [
            (
                ".eval[1].expected.post_data.n: 0 as a string is the empty text, which null and false are "
                'too; write "0", or its type'
            )
        ],
    ),
    (
        "lax-value",
        task(post({"n": False})),
        [
            (
                ".eval[1].expected.post_data.n: False as a string is the empty text, which null and false "
                'are too; write "false", or its type'
            )
        ],
    ),
    (
        "lax-value",
        task(post({"n": 47.0})),
        [
            (
                ".eval[1].expected.post_data.n: 47.0 as a string is the text '47.0', which 47 does not equal; "
                "write its type, or a text"
            )
        ],
    ),
    (
        "lax-value",
        task(answer([""])),
        [
            (
                ".eval[0].expected.retrieved_data[0]: '' as a string equals null, 0, false and an empty "
                "text; write null, or a pattern for it"
            )
        ],
    ),
    (
        "lax-value",
        task(post({"n": "..."})),
        [
            (
                ".eval[1].expected.post_data.n: '...' as a string equals null, 0, false and an empty text; "
                "write null, or a pattern for it"
            )
        ],
    ),
    (
        "lax-value",
        task(post({"n": {"a": 1}})),
        [
            (
                ".eval[1].expected.post_data.n: an object as a string is compared as a text; write its type, "
                "or a path for each member"
            )
        ],
    ),
    (
        "lax-value",
        task(answer([0.05], {"type": "number", "format": "currency"})),
        [(".eval[0].expected.retrieved_data[0]: 0.05 equals 0 within the tolerance of currency; use number")],
    ),
    (
        "lax-value",
        task(answer(["$10 - $20"], {"type": "string", "format": "currency"})),
        [(".eval[0].expected.retrieved_data[0]: '$10 - $20' is read as 10, its first number; write one amount")],
    ),
    (
        "lax-value",
        task(answer(["five apples"], {"type": "number"})),
        [".eval[0].expected.retrieved_data[0]: 'five apples' is read as 5; write the number"],
    ),
    (
        "lax-value",
        task(answer([1], {"type": "boolean"})),
        [
            (
                ".eval[0].expected.retrieved_data[0]: 1 as boolean is true, as are other numbers and words; "
                "write true or false"
            )
        ],
    ),
    (
        "lax-value",
        task(answer(["yes"], {"type": "boolean"})),
        [
            (
                ".eval[0].expected.retrieved_data[0]: 'yes' as boolean is true, as are other numbers and "
                "words; write true or false"
            )
        ],
    ),
    (
        "partial-date",
        task(answer(["March 2022"], {"type": "string", "format": "date"})),
        [
            (
                ".eval[0].expected.retrieved_data[0]: 'March 2022' depends on the day of the evaluation; "
                "write the full date"
            )
        ],
    ),
    (
        "alternatives",
        task(answer([["Lamp", "lamp!"]])),
        [
            (
                ".eval[0].expected.retrieved_data[0][1]: the alternatives 'Lamp' and 'lamp!' are equal as "
                "string; write one of them"
            )
        ],
    ),
    (
        "alternatives",
        task(answer([[10, 20]], {"type": "number", "format": "currency"})),
        [
            (
                ".eval[0].expected.retrieved_data[0]: of alternatives of the type currency only the first "
                "counts; write one value"
            )
        ],
    ),
    (
        "equal-answers",
        task(answer(["Terminal 1", "Terminal 2"], {"type": "string", "format": "location-name"})),
        [
            (
                ".eval[0].expected.retrieved_data[1]: the answers 'Terminal 1' and 'Terminal 2' are equal as "
                "location-name; write one of them"
            )
        ],
    ),
    (
        "order",
        task(answer(["a,b", "c"], {"type": "string", "format": "string_list"}, ordered=True)),
        [(".eval[0].ordered: ordered does not reach into a string_list, which is sorted; use an array of strings")],
    ),
    (
        "order",
        task(answer(["a"], ordered=True)),
        [".eval[0].ordered: ordered has no effect on fewer than two answers; remove it"],
    ),
    (
        "filter",
        task(post({"$.a[?(@.k==1)].v": "x"})),
        [
            (
                '.eval[1].expected.post_data["$.a[?(@.k==1)].v"]: a filter with one hit equals nothing but a '
                "list; expect a list, with the type array"
            )
        ],
    ),
    (
        "method",
        task(request({"http_method": "post"})),
        [".eval[1].expected.http_method: unknown method 'post'; use POST"],
    ),
    (
        "method",
        task(request({"http_method": "FETCH"})),
        [
            (
                ".eval[1].expected.http_method: unknown method 'FETCH'; use one of GET, POST, PUT, PATCH, "
                "DELETE, HEAD, OPTIONS"
            )
        ],
    ),
    (
        "posted-data",
        task(request({"http_method": "GET", "post_data": {"a": "1"}})),
        [".eval[1].expected.post_data: a GET has no post_data; use POST, or query_params"],
    ),
    (
        "posted-data",
        task(request({"post_data": {"a": "1"}})),
        [
            (
                ".eval[1].expected.post_data: post_data without http_method, which is GET then; write "
                '"http_method": "POST"'
            )
        ],
    ),
    (
        "status",
        task(request({"response_status": 2000})),
        [(".eval[1].expected.response_status: impossible status 2000; use 100 to 599, or -1 for an aborted request")],
    ),
    (
        "forbidden-request",
        task(
            request(
                {
                    "http_method": "POST",
                    "post_data": {"a": "1"},
                    "response_status": 302,
                    "headers": {"x-a": "1", "referer": "__SHOPPING__/a"},
                },
                should_not_exist=True,
            )
        ),
        [
            (
                ".eval[1].expected.response_status: response_status is never compared with should_not_exist: "
                "every such request fails; remove it"
            ),
            (
                ".eval[1].expected.post_data: post_data is never compared with should_not_exist: every such "
                "request fails; remove it"
            ),
            (".eval[1].expected.headers.x-a: the header 'x-a' is never compared with should_not_exist; remove it"),
        ],
    ),
    (
        "last-event-only",
        task(answer(kind="navigate"), request(last_event_only=False)),
        [
            (
                ".eval[1].last_event_only: last_event_only has no effect: of a navigate task the last page "
                "decides; remove it"
            )
        ],
    ),
    (
        "last-event-only",
        task(request({"http_method": "DELETE"}, should_not_exist=True, last_event_only=False)),
        [".eval[1].last_event_only: last_event_only has no effect with should_not_exist; remove it"],
    ),
    (
        "query-values",
        task(request({"query_params": {"q": ["b", "A"]}})),
        [(".eval[1].expected.query_params.q: of 2 values only 'a' is compared; write one, or a query_params_schema")],
    ),
    (
        "query-text",
        task(request({"query_params": {"q": "b"}})),
        [".eval[1].expected.query_params.q: 'b' is read letter by letter; write ['b']"],
    ),
    (
        "query-values",
        task(request({"url": "__SHOPPING__/a?q=1", "query_params": {"p": ["b"]}})),
        [(".eval[1].expected.url: the query of the URL is not compared, for there are query_params; move it there")],
    ),
    (
        "path",
        task(post({"$.a[": "x"})),
        [".eval[1].expected.post_data[\"$.a[\"]: invalid path '$.a['; write it as '$.order.items[0].id'"],
    ),
    (
        "path",
        task(post({" n ": "x"})),
        [(".eval[1].expected.post_data[\" n \"]: the name ' n ' has blanks around it and never matches; remove them")],
    ),
    (
        "path",
        task(post({"n_.*": "x"})),
        [
            (
                ".eval[1].expected.post_data[\"n_.*\"]: the name 'n_.*' looks like a pattern but is compared "
                "as a text; write '^…$'"
            )
        ],
    ),
    (
        "empty",
        task(request({"http_method": "POST", "post_data": {}})),
        [(".eval[1].expected.post_data: an empty post_data compares nothing; write a member, or remove it")],
    ),
    (
        "empty",
        task(request({"headers": {"Referer": "__SHOPPING__/a"}})),
        [
            (
                ".eval[1].expected.headers.Referer: the header 'Referer' is compared as a text; write "
                "'referer', which is compared as a URL"
            )
        ],
    ),
    (
        "empty-headers",
        task(request({"headers": {}})),
        [".eval[1].expected.headers: an empty headers never matches; write a member, or remove it"],
    ),
    (
        "boolean",
        task(answer(["a", "b"], ordered="yes")),
        [".eval[0].ordered: 'yes' is not a boolean; write true or false without quotes"],
    ),
    (
        "repeated-expectation",
        task(request(), request()),
        [".eval[2]: the same as eval[1]; remove one, or change what differs"],
    ),
    (
        "contradiction",
        task(request({"http_method": "POST"}), request({"http_method": "POST"}, should_not_exist=True)),
        [(".eval[2]: contradicts eval[1], which requires such a request; change the URL or method of one")],
    ),
    (
        "contradiction",
        task(answer(["a"]), answer(None, kind="mutate")),
        [".eval[1]: contradicts eval[0], which expects another task_type or status; keep one"],
    ),
    (
        "answer",
        task(answer(None)),
        [
            (
                ".eval[0].expected.retrieved_data: a retrieve task without data passes for every answer "
                "without data; write retrieved_data"
            )
        ],
    ),
    (
        "answer",
        task(answer(["a"], kind="mutate"), request()),
        [(".eval[0].expected.retrieved_data: retrieved_data of a mutate task is never compared; remove it")],
    ),
    (
        "answer",
        task(
            answer(["a"])
            | {
                "expected": {
                    "task_type": "retrieve",
                    "status": "SUCCESS",
                    "retrieved_data": ["a"],
                    "error_details": None,
                }
            }
        ),
        [".eval[0].expected.error_details: error_details fails every answer that has some; remove it"],
    ),
    (
        "no-request",
        task(answer(None, kind="mutate")),
        [".eval: a mutate task that checks no request believes the agent; add a NetworkEventEvaluator"],
    ),
    (
        "unpassable",
        task(post({"a": "1"}), post({"a": "2"})),
        [
            (
                ".eval: no recording can pass: two expectations of different posts both use the last request "
                "(Q15); change one of them"
            )
        ],
    ),
    (
        "unpassable",
        task(answer(kind="navigate"), request(), request({"url": "__SHOPPING__/b"})),
        [
            (
                ".eval: no recording can pass: two expectations of different pages both use the last page "
                "(Q17); change one of them"
            )
        ],
    ),
    (
        "template",
        task(answer(["a"]), intent="Buy a {{thing}}"),
        [".intent: the variable '{{thing}}' is not filled in; write its value"],
    ),
    (
        "template",
        task(answer(["a"]), intent="Buy a chair"),
        [(".instantiation_dict: intent_template gives 'Buy a lamp', not the intent; correct the values or a text")],
    ),
    (
        "template",
        task(answer(["a"]), instantiation_dict={}),
        [".instantiation_dict: no value for 'thing' of intent_template; add it"],
    ),
    (
        "placeholder",
        task(post({"a": "see __SHOPING__/x"})),
        [".eval[1].expected.post_data.a: unknown placeholder __SHOPING__; use __SHOPPING__"],
    ),
    (
        "literal-placeholder",
        task({"evaluator": "RequestPatternEvaluator", "expected": {"url_pattern": "__SHOPPING__/cart"}}),
        [
            (
                ".eval[1].expected.url_pattern: __SHOPPING__ never matches here, for recorded addresses are not "
                "replaced; expect a text without it"
            )
        ],
    ),
    (
        "method",
        task({"evaluator": "RequestPatternEvaluator", "expected": {"url_pattern": "/cart", "method": "PSOT"}}),
        [".eval[1].expected.method: unknown method 'PSOT'; use POST"],
    ),
    (
        "unmatchable-pattern",
        task(request({"url": "^__SHOPPING__/cart?id=1$"})),
        [
            (
                ".eval[1].expected.url: '^__SHOPPING__/cart?id=1$' never matches: its ? means that what is before it "
                "may be missing; use query_params"
            )
        ],
    ),
    (
        "literal-url",
        task(request({"url": "__SHOPPING__/items/{id}"})),
        [
            (
                ".eval[1].expected.url: '__SHOPPING__/items/{id}' has a {id} that is compared as a text; write '^…$' "
                "with [^/]+ for it"
            )
        ],
    ),
]
OF_PUBLISHED = [
    (
        "lax-value",
        task(answer(["$1,234"], {"type": "string", "format": "currency"})),
        [".eval[0].expected.retrieved_data[0]: '$1,234' is read as 1.234; write 1234"],
    ),
    (
        "forbidden-request",
        task(answer(kind="navigate"), request(), request({"url": "__SHOPPING__/b"}, should_not_exist=True)),
        [
            (
                ".eval[2].should_not_exist: should_not_exist of a GET fails a navigate task on any page; use "
                "another task type or method"
            )
        ],
    ),
    (
        "query-decoding",
        task(request({"query_params": {"q": ["C++"], "p": ["a%2Fb"], "r": ["plain"], "s": ["50%"], "t": ["^a+$"]}})),
        [
            (
                ".eval[1].expected.query_params.q[0]: 'C++' in a query is compared as 'C  ' unless rules are strict; "
                "use --webeval-rules=strict, or expect a value without + and %"
            ),
            (
                ".eval[1].expected.query_params.p[0]: 'a%2Fb' in a query is compared as 'a/b' unless rules are "
                "strict; use --webeval-rules=strict, or expect a value without + and %"
            ),
        ],
    ),
    (
        "query-decoding",
        task(request({"url": "__SHOPPING__/a?q=C%2B%2B&p=a%20b&r=c+d"})),
        [
            (
                ".eval[1].expected.url: 'C++' in a query is compared as 'C  ' unless rules are strict; "
                "use --webeval-rules=strict, or expect a value without + and %"
            )
        ],
    ),
    (
        "query-decoding",
        task(request({"query_params": {"a+b": ["1"]}})),
        [
            (
                ".eval[1].expected.query_params[\"a+b\"]: 'a+b' in a query is compared as 'a b' unless rules are "
                "strict; use --webeval-rules=strict, or expect a value without + and %"
            )
        ],
    ),
]
WITH_ADDRESSES = [
    (
        "unreadable-value",
        task(request({"url": "http://else.test/a"})),
        [
            (
                ".eval[1].expected.url: 'http://else.test/a' is not at an address of a site of the task; "
                "start it with __SHOPPING__, or add the site to the task"
            )
        ],
    ),
    (
        "real-address",
        task(request({"url": "http://shop.test/a"})),
        [".eval[1].expected.url: the address http://shop.test of shopping; use __SHOPPING__"],
    ),
    (
        "site",
        task(request(), sites=["shopping", "shoping", "tulips"]),
        [
            ".sites[1]: the site 'shoping' is not in the configuration; use 'shopping', or add it to environments",
            ".sites[2]: the site 'tulips' is not in the configuration; add it to environments",
        ],
    ),
    (
        "real-address",
        task(request(), start_urls=["http://shop.test"]),
        [".start_urls[0]: the address http://shop.test of shopping; use __SHOPPING__"],
    ),
]
SOUND = [
    task(request({"url": "__SHOPPING__/a(b|c"})),
    task(request({"url": "^__SHOPPING__/a$|^__SHOPPING__/b$"}, ignored_query_params_patterns=["^page$|^sort$", "a|b"])),
    task(post({"name": "^wh(\\d)?-1000$", "code": "^a-?\\d.*?-b?$", "either": "^a-b|c$"})),
    task(request({"response_content": {"$.a[?(@.k==1)].v": ["x"], "b": "^"}})),
    task(post({"price": 9.99, "count": 5, "code": "if __name__ == '__main__': pass", "note": "", "absent": None})),
    task(post({"name": "^.+$", "path": "app\\Models\\Wish", "ids": ["a", "b"]})),
    task(post({"$.items[0].id": "7", "^label_\\d+$": "x", "amount": 5.0}, {"amount": {"type": "number"}})),
    task(answer([["a", "b"], None, "c"], ordered=True)),
    task(answer([{"latitude": 1.5, "longitude": 2.5}, [3, 4]], {"type": "string", "format": "coordinates"})),
    task(
        answer(
            [{"day": "2023-01-31", "open": True}],
            {
                "type": "object",
                "properties": {"day": {"type": "string", "format": "date"}, "open": {"type": "boolean"}},
            },
        )
    ),
    task(answer(["git@__SSH_HOST__:a/b"], {"type": "string", "format": "url"})),
    task(answer(["lamp"]), intent="Buy a, b", intent_template="Buy {% for x in things %}{{ x }}{% endfor %}"),
    task(
        answer(["lamp"]), intent="Buy a, b", intent_template="Buy {{things}}", instantiation_dict={"things": ["a", "b"]}
    ),
    task(request({"url": ["__SHOPPING__/a/", "__GITLAB__/b?c=1"]}), sites=["shopping", "gitlab"]),
    task(request({"url": "^__SHOPPING__/(a|b)/?$", "query_params": {}, "response_status": -1})),
    task(
        request(
            {"query_params": {"d": ["1/2/2023"]}},
            query_params_schema={"properties": {"d": {"type": "array", "items": {"type": "string", "format": "date"}}}},
        )
    ),
    task(request({"query_params": {"q": ["a"]}}, ignored_query_params_patterns=["page", "^sort"])),
    task(post({"a": "1"}), request({"http_method": "DELETE"}, should_not_exist=True)),
    task(answer(kind="navigate"), request({"url": "^__SHOPPING__/lamps/.*$"})),
    task(answer(["a"]), {"evaluator": "PageBudgetEvaluator", "max": 1}),
    task(post({"name": "^(?!main$).+$"})),
    task(request({"url": r"^__SHOPPING__/search(\?.*)?$"})),
    task(request()),
    task(request({"url": "__SHOPPING__/a/__init__.py"}), request({"url": "__SHOPPING__/search?price=[0-100]&f=__b__"})),
    task(request({"url": "__SHOPPING__/wiki/Sagittarius_A*", "http_method": "QUERY"})),
    task(post({"note": "^привет.*$"}), request({"url": "^__SHOPPING__/.*?/items/?$"})),
    task(request(), request({"headers": {"referer": "__SHOPPING__/a"}}, should_not_exist=True)),
    task(request({"query_params": {"q": ["C++"]}})),
]


@pytest.mark.parametrize(("check", "definition", "lines"), MISTAKES)
def test_a_planted_mistake_is_reported_with_its_place(check, definition, lines):
    findings = lint(definition)
    assert [str(finding) for finding in findings] == [f"tasks.json @ [0]{line}" for line in lines]
    assert {finding.check for finding in findings} == {check}


@pytest.mark.parametrize(("check", "definition", "lines"), OF_PUBLISHED)
def test_a_mistake_under_the_rules_of_published_tasks_is_none_of_ones_own(check, definition, lines, request):
    assert not lint(definition)
    request.getfixturevalue("published")
    findings = lint(definition)
    assert [str(finding) for finding in findings] == [f"tasks.json @ [0]{line}" for line in lines]
    assert {finding.check for finding in findings} == {check}


@pytest.mark.parametrize(("check", "definition", "lines"), WITH_ADDRESSES)
def test_addresses_are_checked_with_a_configuration_alone(check, definition, lines):
    findings = lint(definition, sites=SITES)
    assert [str(finding) for finding in findings] == [f"tasks.json @ [0]{line}" for line in lines]
    assert {finding.check for finding in findings} == {check}
    assert not lint(definition)


def test_a_misspelt_placeholder_may_be_that_of_a_configured_site():
    (finding,) = lint(task(request({"url": "__BOOKSHOPS__/a"})), sites=SITES)
    assert finding.text == "unknown placeholder __BOOKSHOPS__; use __BOOKSHOP__, and add 'bookshop' to sites"


def test_without_a_configuration_addresses_are_no_mistake_but_other_headers_are():
    headers = {"referer": "http://shop.test/a", "accept": ["text/html"]}
    (finding,) = lint(task(request({"url": "http://shop.test/a", "headers": headers})))
    assert finding.place == "[0].eval[1].expected.headers.accept"
    assert finding.check == "unreadable-value"


@pytest.mark.parametrize("definition", SOUND)
def test_a_sound_task_has_no_findings(definition):
    assert not lint(definition)
    assert not lint(definition, sites=SITES)


def test_a_type_that_is_compared_as_a_string_is_a_hint():
    (finding,) = lint(task(post({"a": "x@y.z"}, {"a": {"type": "string", "format": "email"}})))
    assert finding.severity == "hint"
    assert finding.text.startswith("unknown format 'email': values are compared as strings; use one of ")


def test_each_check_has_a_planted_mistake():
    planted = {check for check, *_ in (*MISTAKES, *OF_PUBLISHED, *WITH_ADDRESSES)}
    of_rows = {"repeated-key", "ignored-field", "duplicate-id"}  # in `test_rows.py`: one task alone cannot have them
    assert {check.name for check in CHECKS} == planted | of_rows
    assert len({check.name for check in CHECKS}) == len(CHECKS)
