"""JSONPath filters with an array type, and bodies nested deeper than any path."""

import json

import pytest

from pytest_webeval.evaluators.network.body_matcher import select_fields
from pytest_webeval.values.base import Alternatives
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.schema import ValueParser

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
