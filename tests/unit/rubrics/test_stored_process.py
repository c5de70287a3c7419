"""Where the stored process counts: where rounding decides it, or nothing else tells (`fara_webeval.md` §6.2, Q26)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.support.made_payloads import OTHER_FILE, item, payload, verdict

D = Decimal
# 5.2 of 6.5 points, or 5.199999999999999 for a writer who adds up the group first
NESTED = [item(2, 1.6), {"criterion": "g", "items": [item(1, 1), item(2, 1.4), item(1.5, 1.2)]}]
R14 = "5.2 of 6.5 points reach the threshold 0.8 exactly but not as the judge's program added them up"


@pytest.mark.parametrize(
    ("items", "bit", "flags", "checks"),
    [
        (NESTED, 0, ("threshold_edge",), [R14]),
        (NESTED, False, ("threshold_edge",), [R14]),
        (NESTED, 1, (), []),
        ([item(5, 4)], 1, (), []),
        (
            [item(3, 2.4)],
            1,
            ("threshold_edge",),
            ["2.4 of 3 points reach the threshold 0.8 exactly but not as binary fractions"],
        ),
        (
            [item(10, 7.999999999)],
            1,
            ("threshold_edge",),
            ["7.999999999 of 10 points reach the threshold 0.8 as the judge's program added them up but not exactly"],
        ),
    ],
)
def test_where_the_last_bit_of_a_sum_decides_the_stored_process_stands(items, bit, flags, checks):
    found = verdict(payload(*items, outcome=False, success_criterion="process", rubric_is_success=bit), int(bit))
    assert (found.score, found.process, found.flags) == (int(bit), bool(bit), flags)
    assert [check.message for check in found.checks] == checks
    asked = verdict(payload(*items, outcome=False, rubric_is_success=bit), int(bit), threshold=D("0.79"))
    assert asked.process is True  # another threshold, another comparison


def test_a_share_that_no_rounding_explains_contradicts_the_stored_process():
    found = verdict(payload(item(10, 7.99999998), outcome=False, rubric_is_success=1), 0)
    assert (found.process, [check.rule for check in found.checks]) == (False, ["R2"])
    found = verdict(payload(*NESTED, outcome=False, rubric_is_success="no"), 0)
    assert (found.process, [check.rule for check in found.checks]) == (True, ["R2"])


@pytest.mark.parametrize(
    ("bit", "asked", "wanted"),
    [
        (1, {"criterion": "process"}, ("judged", 1, True)),
        (0, {"criterion": "process"}, ("judged", 0, False)),
        (True, {"criterion": "both"}, ("judged", 1, True)),
        (False, {}, ("judged", 1, False)),
        (1, {"criterion": "process", "threshold": D("0.80")}, ("judged", 1, True)),
        (1, {"criterion": "process", "threshold": D("0.5")}, ("unscored", None, None)),
        (None, {"criterion": "process"}, ("unscored", None, None)),
        ("yes", {"criterion": "process"}, ("unscored", None, None)),
    ],
)
def test_without_a_rubric_the_stored_process_counts_at_its_own_threshold(bit, asked, wanted):
    written = {"outcome_success": True, "success_criterion": "outcome", "rubric_is_success": bit}
    found = verdict(written, 1, OTHER_FILE, **asked)
    assert (found.status, found.score, found.process) == wanted
    assert [check.rule for check in found.checks] == ["R19"]
    if "threshold" in asked and found.score is None:
        assert found.reason == "there are no points to compare with the threshold 0.5; judge the run"


def test_a_rubric_without_points_is_not_judged_by_a_stored_process():
    written = payload(item(4), outcome=True, rubric_is_success=1)
    assert verdict(written, 1, criterion="process").status == "unscored"
