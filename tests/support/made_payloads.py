"""Small payloads of rubric judges, and what is derived from them."""

from __future__ import annotations

import json
from decimal import Decimal

from pytest_webeval.recordings.trajectory.layout import ScoreFileName
from pytest_webeval.rubrics.derivation import derive
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rubrics.stored_verdict import RunFacts, StoredVerdict

RUBRIC_FILE = ScoreFileName("mmrubric", Decimal("0.8"), 5, 3)
OTHER_FILE = ScoreFileName("other")
OUTCOME_FALSE = {"rubric_outcome_verification": {"output_success": False, "reasoning": "nested"}}


def verdict(written, score=None, name=RUBRIC_FILE, text=None, **policy):
    """What is derived from a payload or a text in a score file, by a policy with these fields."""
    read = None if written is None else json.loads(json.dumps(written), parse_float=Decimal)
    return derive(StoredVerdict("scores/x.json", name, score, read, text), VerdictPolicy(**policy), RunFacts())


def item(maximum, post=None, **more):
    """A criterion, with points after the screenshots if any are named."""
    seen = {} if post is None else {"post_image_earned_points": post}
    return {"criterion": "c", "max_points": maximum, **seen, **more}


def payload(*items, outcome, **more):
    """What a writer of verdicts stores, without the keys that a rule looks at when they are there."""
    found = {"rubric_items": list(items) or [item(4, 4)], "outcome_success": outcome}
    return {**found, **more}


def rules(found):
    return [check.rule for check in found.checks]
