"""The verdict of a rubric that lies beside a recording as `rubric.json`, added up again without a judge."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated
from typing import Any
from typing import ClassVar

from pydantic import BaseModel
from pydantic import ConfigDict
from pydantic import Field
from pydantic import ValidationError

from pytest_webeval.comparison import failed
from pytest_webeval.comparison import passed
from pytest_webeval.errors import RecordingError
from pytest_webeval.evaluators.base import Case
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.results import Assertion
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.tasks import Expectation

RUBRIC = "rubric.json"


class RubricExpectation(BaseModel):
    """Configuration of a RubricEvaluator: the share of the points that a run needs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    evaluator: str
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.8


class Criterion(BaseModel):
    """One item of a rubric with the points that a judge gave it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    criterion: str
    max_points: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    earned_points: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Rubric(BaseModel):
    """The content of `rubric.json`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    items: Annotated[list[Criterion], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class RubricEvaluator(Evaluator):
    """Evaluator for points that were given to a run; checked for contradictions, never asked of a model."""

    name: ClassVar[str] = "RubricEvaluator"

    def evaluate(self, expectation: Expectation, case: Case) -> EvaluatorResult:
        """An assertion for each criterion and one for the share of points. Raises `WebEvalError`."""
        wanted = expectation.read_as(RubricExpectation)
        items = _read(case).items
        earned, most = sum(item.earned_points for item in items), sum(item.max_points for item in items)
        share = earned / most
        told = f"{earned:g} of {most:g} points ({share:.0%}); {wanted.threshold:.0%} wanted"
        reached = share >= wanted.threshold
        total = passed("rubric.points_match", told) if reached else failed("rubric.points_mismatch", told)
        notes = [_note(index, item) for index, item in enumerate(items)]
        actual: dict[str, Any] = {"earned_points": earned, "max_points": most, "score": share}
        return self.result([total, *notes], actual=actual, normalized=actual, expected={"threshold": wanted.threshold})


def _note(index: int, item: Criterion) -> Assertion:
    told = f"{item.criterion[:200]}: {item.earned_points:g} of {item.max_points:g} points"
    return passed(f"rubric.items[{index}]_noted", told)


def _read(case: Case) -> Rubric:
    where = case.run.path / RUBRIC
    try:
        rubric = Rubric.model_validate(json.loads(case.run.inputs.read(RUBRIC)))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(map(str, problem["loc"]))
        raise RecordingError(f"{where} is no rubric: {problem['msg']} @ {place}") from error
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{where} is no JSON: {error}; have the run judged again") from error
    for item in rubric.items:
        if item.earned_points > item.max_points:
            text = f"{item.criterion[:80]!r} earned {item.earned_points:g} of {item.max_points:g} points"
            raise RecordingError(f"{where} contradicts itself: {text}; have the run judged again")
    return rubric
