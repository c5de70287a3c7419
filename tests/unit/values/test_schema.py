"""Trees of values as reports show them."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.safety.text import ELLIPSIS
from pytest_webeval.values.schema import MAX_REPORT_DEPTH, to_plain_json


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a": ', "}"), ('[{"a": ', "}]")])
def test_what_is_nested_deeper_than_reports_show_is_cut(opening, closing):
    levels = MAX_REPORT_DEPTH // len(closing)
    fitting, too_deep = (json.loads(opening * count + "1" + closing * count) for count in (levels - 1, levels + 1))
    assert to_plain_json(fitting) == fitting
    assert ELLIPSIS in json.dumps(to_plain_json(too_deep), ensure_ascii=False)
