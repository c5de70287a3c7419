"""The relevance of screenshots, of which equal ones are one question."""

from __future__ import annotations

import json

from pytest_webeval.judges.methods.rubric_pipeline.case import Case
from pytest_webeval.judges.methods.rubric_pipeline.screenshots import rate_screenshots
from tests.unit.judges.scripted import ScriptedJudge, calls_of, evidence, image

ITEM = {"criterion": "Find it", "description": "d", "max_points": 1}


def test_equal_screenshots_are_rated_once_and_each_has_its_row():
    def reply(question):
        (shown,) = question.images
        return "" if shown.sha256 == image(2).sha256 else json.dumps({"scores": {"criterion_0": int(shown.name[10])}})

    judge = ScriptedJudge(reply)
    shots = (image(3), image(1), image(3), image(2), image(1), image(2))
    case = Case(evidence=evidence(), calls=calls_of(judge), screenshots=shots)
    assert rate_screenshots(case, [ITEM]) == [[3], [1], [3], [0], [1], [0]]
    first = [question for question in judge.questions if len(question.messages) == 2]
    assert [question.messages[1].text.splitlines()[-1] for question in first] == [
        "Screenshot 1:",
        "Screenshot 2:",
        "Screenshot 4:",
    ]
    assert case.calls.fallbacks == ["relevance"]
