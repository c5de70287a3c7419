"""JSONPath filters with an array type, and bodies nested deeper than any path."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonpath_ng.ext.parser import ExtendedJsonPathLexer

from pytest_webeval.evaluators.network.body_matcher import (
    KEYWORDS,
    _choose_item,
    _find_hits,
    find_by_parser,
    select_fields,
)
from pytest_webeval.recordings.network.form_fields import FormFields
from pytest_webeval.values.base import Alternatives, ParseContext
from pytest_webeval.values.comparison import Comparison
from pytest_webeval.values.schema import ValueParser
from tests.support.imports import list_loading

FILTER = "$.rules[?(@.kind=='label')].ids"
ARRAY = {"type": "array", "items": {"type": "string"}}


@pytest.mark.parametrize("strict", [True, False])
def test_hits_of_a_filter_are_an_array_for_an_array_type(strict):
    found = select_fields([FILTER], {"rules": [{"kind": "label", "ids": "7"}]})
    assert found == {FILTER: Alternatives(["7"])}
    tree = ValueParser(ParseContext(), strict=strict, where="post_data").member(found[FILTER], ARRAY, "post_data")
    assert [value.to_json() for value in tree] == ["7"]


def test_a_body_nested_too_deeply_has_no_hits():
    body = json.loads('{"a":' * 900 + "1" + "}" * 900)
    assert select_fields(["$..missing"], body) == {"$..missing": None}


NAMES = st.sampled_from(
    ["a", "b", "_c", "where", "wherenot", "parent", "len", "str", "this", "a1", "null", "true", "falsely"]
)
STEPS = st.one_of(NAMES.map(".{}".format), st.integers(0, 2).map("[{}]".format))
PATHS = st.lists(STEPS, min_size=1, max_size=4).map(lambda steps: "$" + "".join(steps))
BODIES = st.recursive(
    st.sampled_from([None, 1, "text", True]),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=8,
)


@given(PATHS, st.dictionaries(NAMES, BODIES, min_size=1))
def test_names_and_indices_lead_where_the_parser_goes(path, body):
    found = []
    for find in (_find_hits, find_by_parser):
        try:
            found.append(find(path, body))
        except Exception as error:  # noqa: BLE001  (what one of them raises, the other has to raise)
            found.append(type(error))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "path", ["$.a.b", "$.a[0].b", "$['a']", "$.where", "$.true", "$.falsely", "$..a", "$.a[?(@.b==1)]", "$", "$.a[00]"]
)
def test_every_path_leads_where_the_parser_goes(path):
    body = {"a": [{"b": 1}, {"b": 2}], "where": 3, "true": 4, "falsely": 5}
    assert _find_hits(path, body) == find_by_parser(path, body)


def test_keywords_are_those_of_the_parser():
    assert set(ExtendedJsonPathLexer.reserved_words) == KEYWORDS


def test_plain_paths_do_not_load_the_parser():
    start = "from pytest_webeval.evaluators.network.body_matcher import select_fields as s"
    plain = "s(['$.a.b[0]'], {'a': {'b': [1]}})"
    assert list_loading("jsonpath_ng", start, plain, "s(['$..a'], {})") == [False, False, True]


@pytest.mark.parametrize(
    ("numbers", "chosen"), [(("x", "y"), "x"), (("x", "7"), "7"), (("7", "x"), "7"), (("x",), "x")]
)
def test_the_item_that_equals_or_the_first_that_differs_least_is_compared(numbers, chosen):
    items = [FormFields({"name": "lamp", "number": number}) for number in numbers]
    item = _choose_item(items, {"name": "lamp", "number": "7"}, lambda fields, _: fields.first, Comparison())
    assert item["number"] == chosen
