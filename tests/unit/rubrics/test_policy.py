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
        ({"criterion": "luck"}, "unknown criterion 'luck'; use one of outcome, process, both, safe_outcome"),
        ({"over_budget": "judge"}, "unknown over_budget 'judge'; use one of stored, zero"),
        ({"threshold": 80}, "rubric threshold must be between 0 and 1, got 80"),
        ({"threshold": -0.1}, "rubric threshold must be between 0 and 1, got -0.1"),
        ({"threshold": "much"}, "rubric threshold must be between 0 and 1, got much"),
        ({"threshold": "nan"}, "rubric threshold must be between 0 and 1, got nan"),
    ],
)
def test_a_policy_that_cannot_be_is_refused(asked, told):
    with pytest.raises(SettingsError) as caught:
        VerdictPolicy(**asked)
    assert str(caught.value) == told
