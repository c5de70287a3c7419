"""What a session may ask of stored verdicts."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pytest_webeval import VerdictPolicy
from pytest_webeval.errors import SettingsError


@pytest.mark.parametrize("written", [0.8, "0.8", Decimal("0.8")], ids=repr)
def test_a_threshold_is_what_was_written(written):
    assert VerdictPolicy(threshold=written).threshold == Decimal("0.8")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"criterion": "luck"}, "'luck' is no criterion; choose one of outcome, process, both, safe_outcome"),
        ({"over_budget": "judge"}, "over_budget 'judge' is unknown; choose one of stored, zero"),
        ({"threshold": 80}, "the threshold 80 is no share; write a number from 0 to 1, such as 0.8"),
        ({"threshold": -0.1}, "the threshold -0.1 is no share; write a number from 0 to 1, such as 0.8"),
        ({"threshold": "much"}, "the threshold 'much' is no share; write a number from 0 to 1, such as 0.8"),
        ({"threshold": "nan"}, "the threshold 'nan' is no share; write a number from 0 to 1, such as 0.8"),
    ],
)
def test_a_policy_that_cannot_be_is_refused(asked, told):
    with pytest.raises(SettingsError) as caught:
        VerdictPolicy(**asked)
    assert str(caught.value) == told
