"""The arithmetic of the pipeline: images, conditions, votes, medians, edges, and the forms of replies."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction

import pytest

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.judges.methods.replies import LONGEST_FORM, build_schema, parse_object, parse_reply
from pytest_webeval.judges.methods.rubric_pipeline.case import format_task
from pytest_webeval.judges.methods.rubric_pipeline.requirements import add_points, outcome_rules
from pytest_webeval.judges.methods.rubric_pipeline.scoring import Rescoring, is_similar, verify_conditions
from pytest_webeval.judges.methods.rubric_pipeline.screenshots import drop_irrelevant, group_images, list_images
from pytest_webeval.judges.methods.rubric_pipeline.votes import (
    OutcomeReply,
    SideEffects,
    build_instances,
    count_votes,
    settle_edge,
)
from pytest_webeval.judges.methods.scored_rubrics import find_median
from tests.unit.judges.scripted import evidence

EIGHTY = Decimal("0.8")


@pytest.mark.parametrize(
    ("scores", "group"),
    [
        ([], []),
        ([3], [0]),
        ([1, 2, 3], [2, 1, 0]),
        ([5, 5, 5], [2, 1, 0]),
        ([9, 1, 9, 1, 9, 1, 9], [6, 4, 2, 0, 5]),
        ([0] * 8, [7, 6, 5, 4, 3]),
    ],
)
def test_the_most_relevant_and_latest_images_are_grouped(scores, group):
    groups = group_images([[score] for score in scores])
    assert groups.get(0, []) == group


@pytest.mark.parametrize(
    ("scores", "rest"),
    [
        ([10], [10]),
        ([0], [0]),
        ([5, 4, 0], [5, 4, 0]),  # none is relevant, so all remain
        ([6, 4, 3], [6, 4]),  # 3 is below 5 and more than 2 below 6
        ([8, 6, 4, 3], [8, 6, 4]),
        ([10, 5, 4], [10, 5]),
        ([7, 5, 4], [7, 5]),
        ([9, 8, 7, 4, 0], [9, 8, 7]),
    ],
)
def test_images_far_less_relevant_than_the_relevant_ones_are_dropped(scores, rest):
    relevance = [[score] for score in scores]
    kept = drop_irrelevant({0: list(range(len(scores)))}, relevance)
    assert [scores[image] for image in kept[0]] == rest


def test_criteria_are_grouped_apart_and_their_images_asked_about_once():
    relevance = [[9, 0], [8, 9], [0, 1]]
    groups = drop_irrelevant(group_images(relevance), relevance)
    assert groups == {0: [0, 1], 1: [1]}
    assert list_images(groups) == {0: [0], 1: [0, 1]}


@pytest.mark.parametrize(
    ("verifications", "decision"),
    [
        ([], None),
        ([None], None),
        ([False], False),
        ([False, True], True),
        ([None, True], True),
        ([None, False], False),
    ],
)
def test_a_condition_holds_if_any_image_shows_it(verifications, decision):
    analyses = [{} if shows is None else {"condition_verification": shows} for shows in verifications]
    decisions = verify_conditions([{"criterion": "a"}, {"criterion": "b", "condition": "c"}], {1: analyses})
    assert decisions == ({} if decision is None else {1: {"is_condition_met": decision}})


def vote(success):
    reasoning = str(success)
    return None if success is None else OutcomeReply(primary_intent="i", reasoning=reasoning, output_success=success)


@pytest.mark.parametrize(
    ("votes", "success"),
    [
        ((True,), True),
        ((False,), False),
        ((True, False, True), True),
        ((None, False, False), False),
        ((True, True, None, None, False), True),
        ((None,), None),
        ((None, None, True), None),
        ((True, None, False), None),  # rule 8 of §6.3 stores a failure for a tie; the pipeline stores none
    ],
)
def test_the_outcome_is_what_most_votes_say(votes, success):
    replies = [vote(choice) for choice in votes]
    if success is None:
        with pytest.raises(JudgeFailed, match=r"uncertain.*; because") as caught:
            count_votes(replies, "because")
        assert caught.value.outcome == "uncertain"
    else:
        outcome = count_votes(replies)
        assert (outcome.success, outcome.reasoning, outcome.votes) == (success, str(success), votes)


def scored(maximum, *points):
    return tuple({"criterion": "c", "max_points": maximum, "post_image_earned_points": earned} for earned in points)


@pytest.mark.parametrize(
    ("shares", "median"),
    [((3,), 0), ((1, 2, 3), 1), ((3, 1, 2), 2), ((2, 2, 1), 0), ((1, 1, 1), 1), ((5, 1, 4, 2, 3), 4)],
)
def test_the_median_is_the_earlier_of_equals(shares, median):
    rescorings = [Rescoring(scored(5, points)) for points in shares]
    instances = build_instances(rescorings, [SideEffects()] * len(shares), EIGHTY)
    assert find_median(instances) == median


@pytest.mark.parametrize(("maximum", "points"), [(3, 2.4), (6, 4.8), (0.3, 0.24), (1.1, 0.88)])
def test_an_edge_is_settled_by_a_trillionth_of_the_points(maximum, points):
    items = scored(maximum, points)
    settled = settle_edge(items, EIGHTY)
    shifted = add_points(settled)
    assert add_points(items).reaches(EIGHTY)
    assert shifted.reaches(EIGHTY)
    assert shifted.float_reaches(EIGHTY)
    assert abs(shifted.share - Fraction(4, 5)) < Fraction(1, 10**11)


def test_points_that_are_no_edge_remain_and_a_full_criterion_is_not_raised():
    items = scored(5, 4, 3)
    assert settle_edge(items, EIGHTY) is items
    full = (*scored(2.4, 2.4), {**scored(0.6, 0)[0], "penalty": True})
    assert settle_edge(full, EIGHTY) == full


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not one JSON object"),
        ("no", "not one JSON object"),
        ("[]", "reply with one JSON object"),
        ("3", "reply with one JSON object"),
        ('{"a": 1} {"a": 1}', "not one JSON object"),
        ('{"a": 1, "a": 2}', "duplicate key"),
        ('{"a": NaN}', "invalid number NaN"),
        ('{"a": -Infinity}', "invalid number -Infinity"),
        ('{"a": 1e999}', "out of range"),
        ('{"a": 1' + "0" * 5000 + "}", "out of range"),
        ('{"a": ' + "[" * 50 + "]" * 50 + "}", "nests too deep"),
        ('{"a": ' + "[" * 100_000, "too deep|not one JSON"),
        (" " * (LONGEST_FORM + 1), "characters; use at most"),
        ("{'a': True}", "not one JSON object"),
    ],
)
def test_a_reply_that_is_not_one_object_is_refused(text, problem):
    with pytest.raises(InvalidReply, match=problem):
        parse_object(text)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"reasoning": " "}, "reasoning"),
        ({"output_success": 1}, "output_success"),
        ({"output_success": "true"}, "output_success"),
        ({"output_success": None}, "output_success"),
        ({"more": 1}, "more"),
        ({"primary_intent": "x" * 30_000}, "primary_intent"),
    ],
)
def test_a_reply_of_another_form_is_refused_with_the_place(fields, problem):
    reply = {"primary_intent": "i", "reasoning": "r", "output_success": True}
    assert parse_reply(json.dumps(reply), OutcomeReply).output_success is True
    with pytest.raises(InvalidReply, match=problem):
        parse_reply(json.dumps(reply | fields), OutcomeReply)


def test_half_a_character_in_a_reply_is_escaped():
    assert parse_object('{"a": "\\ud800"}') == {"a": "\\ud800"}


def test_a_schema_has_an_object_at_its_root():
    schema = build_schema(OutcomeReply)
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    assert schema["required"] == ["primary_intent", "reasoning", "output_success"]


@pytest.mark.parametrize(
    ("first", "second", "similar"),
    [
        ("Find the atlas", "find the ATLAS ", True),
        ("Find the atlas", "Find an atlas", True),
        ("Find it", "Buy one", False),
    ],
)
def test_a_copied_criterion_is_recognized(first, second, similar):
    assert is_similar(first, second) is similar


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("NO_CRITICAL_POINT", "no critical point"),
        ("NO_PERMISSION_MISSING_INFO_TASK_SPECIFIED", "does not permit"),
        ("PERMISSION_GRANTED_MISSING_INFO_TASK_SPECIFIED", "permits the final step"),
        (None, "may have a critical point"),
    ],
)
def test_each_kind_of_critical_point_has_its_rules(kind, words):
    assert words in outcome_rules({"critical_point_type": kind}).replace("\n", " ")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (None, False),
        ("https://www.bing.com/", False),
        ("https://bing.com", False),
        ("http://[", True),
        ("https://a.test", True),
    ],
)
def test_the_start_address_is_named_unless_it_is_a_search_page(url, shown):
    assert ("start address" in format_task(evidence(start_url=url))) is shown
