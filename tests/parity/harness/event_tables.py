"""Requests and the event that is expected, with the verdict (spec §4.3 to §4.8)."""

from __future__ import annotations

import json

from tests.parity.harness.synthetic import FORM
from tests.parity.harness.verdicts import ERROR, FAILURE, SUCCESS

JSON = "application/json"


def schema(**properties):
    """The configuration that gives fields a type."""
    return {"post_data_schema": {"type": "object", "properties": properties}}


def written(value):
    """MIME type and text of a body: a text is a form, anything else JSON."""
    return (FORM, value) if isinstance(value, str) else (JSON, json.dumps(value))


AMOUNT = schema(n={"type": "number", "format": "currency"})
LIST = schema(n={"type": "array", "items": {"type": "string"}})
POINT = schema(n={"type": "string", "format": "coordinates"})
DEEP = {"a": json.dumps({"b": json.dumps({"c": 1})})}
HITS = "$.a[?(@.k==1)].v"

# Wanted fields, body, further configuration, and verdict. §4.4 has most of them.
FIELDS = [
    ({"x": "1"}, "x=1&y=2", {}, SUCCESS),
    ({"x": "1"}, "x=1&x=2", {}, SUCCESS),
    ({"x": "1"}, "x=2&x=1", {}, FAILURE),
    ({"x": "1"}, "y=2", {}, FAILURE),
    ({"n": 5}, "n=5", {}, SUCCESS),
    ({"n": 5}, {"n": 5}, {}, SUCCESS),
    ({"n": 0}, "n=0", {}, FAILURE),
    ({"n": 0}, "n=", {}, SUCCESS),
    ({"n": "0"}, {"n": 0}, {}, FAILURE),
    ({"n": 47.0}, "n=47", {}, FAILURE),
    ({"n": 47.0}, "n=47.00", AMOUNT, SUCCESS),
    ({"n": True}, "n=true", {}, SUCCESS),
    ({"n": False}, "n=false", {}, FAILURE),
    ({"n": "Hello"}, "n=hello!", {}, SUCCESS),
    ({"n": ["a", "b"]}, "n=b", {}, SUCCESS),
    ({"n": ["a", "b"]}, {"n": ["b", "z"]}, {}, SUCCESS),
    ({"n": "a"}, {"n": ["a", "z"]}, {}, SUCCESS),
    ({"n": ["a"]}, "n=a", {}, ERROR),
    ({"n": ["a"]}, {"n": ["A"]}, LIST, SUCCESS),
    ({"n": ["a", "b"]}, {"n": '["b", "a"]'}, LIST, SUCCESS),
    ({"n": ["a", "b"]}, {"n": ["a"]}, LIST, FAILURE),
    ({"n": [[1, 2], [3, 4]]}, {"n": [3, 4]}, POINT, FAILURE),
    ({"n": [[1, 2], [3, 4]]}, {"n": [1, 2]}, POINT, SUCCESS),
    ({"n": {"a": 1, "b": 2}}, {"n": {"b": 2, "a": 1}}, {}, FAILURE),
    ({"n": {"a": 1, "b": 2}}, {"n": {"a": 1, "b": 2}}, {}, SUCCESS),
    ({"$.a.b": "x"}, {"a": {"b": "X"}}, {}, SUCCESS),
    ({"$.a.b": "x"}, 'a={"b":"x"}', {}, SUCCESS),
    ({"$.a.b.c": "1"}, DEEP, {}, FAILURE),
    ({"$.a[*]": "x"}, {"a": ["x", "y"]}, {}, SUCCESS),
    ({"$.a[*]": "z"}, {"a": ["x", "y"]}, {}, FAILURE),
    ({HITS: "x"}, {"a": [{"k": 1, "v": "x"}]}, {}, FAILURE),
    ({HITS: "x"}, {"a": [{"k": 1, "v": "y"}, {"k": 1, "v": "x"}]}, {}, SUCCESS),
    ({"$.a[": "x"}, {"a": ["x"]}, {}, FAILURE),
    ({"$.a[": None}, {"a": ["x"]}, {}, SUCCESS),
    ({"$.^k_\\d+$": "x"}, "k_12=x", {}, SUCCESS),
    ({"$.^k_\\d+$": "x"}, "k_1=x&k_2=y", {}, SUCCESS),
    ({"^k_\\d+$": "x"}, "K_1=x", {}, FAILURE),
    ({"$.^file_path|file_name$": "L"}, "file_pathology=L", {}, SUCCESS),
    ({"n": "1", "form_key": "q"}, "n=1&form_key=z", {"ignored_post_data_params_patterns": ["^form_key$"]}, SUCCESS),
    ({"form_key": "q"}, "form_key=q", {"ignored_post_data_params_patterns": ["^form_key$"]}, ERROR),
    ({"c": "__SHOPPING__/x"}, "c=http://shop.test:7770/x", {}, SUCCESS),
    ({"c": "__SHOPPING__/x __GITLAB__/y"}, "c=http://shop.test:7770/x http://git.test:8023/y", {}, FAILURE),
    ({" n ": "1"}, "n=1", {}, FAILURE),
    ({"x": None}, "y=1", {}, SUCCESS),
    ({"x": None}, {"x": None}, {}, SUCCESS),
    ({"x": None}, "x=", {}, FAILURE),
    ({"x": None}, "", {}, FAILURE),
    ({"n": "^a.*$"}, "n=Abc", {}, SUCCESS),
    ({"n": "abc"}, "n=^a.*$", {}, SUCCESS),
]

# Wanted content, content of the response, and verdict (§4.3, §4.4).
CONTENTS = [
    ({"a": 1}, {"a": 1, "b": 2}, SUCCESS),
    ({"a": 1}, {"a": "1"}, FAILURE),
    ({"a": 1}, {"a": 1.0}, SUCCESS),
    ({"a": True}, {"a": 1}, SUCCESS),
    ({"a": "x"}, {"a": "X"}, FAILURE),
    ({"a": "^x$"}, {"a": "x"}, FAILURE),
    ({"a": None}, {}, FAILURE),
    ({"a": None}, {"a": None}, SUCCESS),
    ({"a": None}, {"b": 1}, FAILURE),
    ({"a": [1, 2]}, {"a": [2, 1]}, SUCCESS),
    ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, SUCCESS),
    ({"$.a.b": 1}, {"a": {"b": 1}}, SUCCESS),
    ({"$.a.b": 1}, {"a": {"b": 2}}, FAILURE),
]

# Wanted address, recorded address, further configuration, and verdict (§4.5, §4.6, §4.8).
ADDRESSES = [
    ("/a?s=x", "/a?s=X", {}, SUCCESS),
    ("/a?s=", "/a", {}, SUCCESS),
    ("/a", "/a?s=", {}, SUCCESS),
    ("/a", "/a?s=1", {}, FAILURE),
    ("/a?page=2", "/a?page=2&homepage=1", {"ignored_query_params_patterns": ["page", "sort"]}, SUCCESS),
    ("/a", "/a?PAGE=1", {"ignored_query_params_patterns": ["page"]}, SUCCESS),
    ("/a", "/a?page=1", {"ignored_query_params_patterns": ["("]}, FAILURE),
    ("/a", "/a?serializer=1", {"ignored_query_params": ["serializer"]}, SUCCESS),
    ("/a", "/a?Serializer=1", {"ignored_query_params": ["serializer"]}, FAILURE),
    ("/a/c?from=1&to=2", "/a/ZnJvbT0xJnRvPTI/c", {"decode_base64_query": True}, SUCCESS),
    ("/a/c?from=1&to=2", "/a/ZnJvbT0xJnRvPTI/c", {}, FAILURE),
    ("/a/x?foo=", "/a/Zm9vPQ/x", {"decode_base64_query": True}, SUCCESS),
    ("/a/", "/A", {}, SUCCESS),
    ("/a?x=%2526", "/a?x=&", {}, FAILURE),
]

# Wanted `query_params`, query of the request, and verdict (§4.5).
QUERIES = [
    ({"x": ["1"]}, "x=1", SUCCESS),
    ({"x": ["1"]}, "x=1&y=2", FAILURE),
    ({}, "", SUCCESS),
    ({}, "x=1", FAILURE),
    ({"x": ["2", "1"]}, "x=1", SUCCESS),
    ({"x": ["B"]}, "x=%20b", SUCCESS),
    ({"x": ["^a.*$"]}, "x=Abc", SUCCESS),
    ({"x": ["^a|b$"]}, "x=abc", SUCCESS),
    ({"x": ["^\\D+$"]}, "x=abc", FAILURE),
    ({"X": ["1"]}, "x=1", FAILURE),
]

# A header that is wanted, the recorded one, and verdict. Only texts equal a text; an empty redirect_url is one.
HEADERS = [
    ("x-a", "5", "5", SUCCESS),
    ("x-a", ["5", "6"], "5", SUCCESS),
    ("x-a", "", "", SUCCESS),
    ("x-a", {"a": 1}, "5", FAILURE),
    *(("x-a", wanted, "5", FAILURE) for wanted in (5, ["5"], [5], [5, 6], ["5", 6], ["5", None], [["5"]], [], None)),
    *(("x-a", wanted, "True", FAILURE) for wanted in (True, [True])),
    *(("x-a", wanted, "", FAILURE) for wanted in (False, 0, None, {}, [None])),
    ("cookie", 5, "5", FAILURE),
    ("cookie", ["5"], "6", FAILURE),
    ("redirect_url", "", "", SUCCESS),
    *(("redirect_url", wanted, "5", FAILURE) for wanted in ("", False, 0, None, [])),
    *(("redirect_url", wanted, "5", ERROR) for wanted in (5, True, ["5"])),
    *(("referer", wanted, "5", ERROR) for wanted in (5, True, ["5"], "", False, None, [], {}, {"a": 1})),
]

# Bodies with an integer that Python does not read, and the wanted fields: an error wherever it stands.
DIGITS = "9" * 5000
HUGE = [
    (f'{{"n": {DIGITS}}}', {"n": 1}),
    (f'{{"n": "1", "x": -{DIGITS}}}', {"n": "1"}),
    (f'n={{"a": {DIGITS}}}', {"$.n.a": 1}),
]

# Method and status that are wanted, those recorded, and verdict (§4.2, §4.3).
METHODS = [
    ("POST", 302, "POST", 302, SUCCESS),
    ("POST", 302, "POST", 200, FAILURE),
    ("POST", 200, "post", 200, FAILURE),
    ("post", 200, "POST", 200, FAILURE),
    ("", 200, "POST", 200, FAILURE),
    ("POST", -1, "POST", -1, SUCCESS),
    ("PUT", 200, "POST", 200, FAILURE),
]
