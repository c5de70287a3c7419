"""The cheap default: rubric, points and outcome in one question (`fara_webeval.md` §6.9)."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.calls import InvalidReply, JudgeCalls, Request, build_messages
from pytest_webeval.judges.evidence import Evidence, attach_last, build_system, fence, fence_task
from pytest_webeval.judges.methods.conclusions import ask_votes, find_echoes
from pytest_webeval.judges.methods.replies import ReplyObject, build_object_schema, parse_json_object
from pytest_webeval.judges.methods.scored_rubrics import (
    RubricVerdict,
    ScoredRubric,
    TaskRubric,
    find_median,
    graft,
    parse_rubric,
    to_number,
)
from pytest_webeval.judges.verdicts import JudgedVerdict, JudgeSettings, JudgingMethod, decide
from pytest_webeval.rubrics.rubric_items import add_up, flatten_items
from pytest_webeval.safety.text import to_line

MOST_SCREENSHOTS = 30
MOST_CRITERIA = 60
MOST_POINTS = Decimal(100)  # of a criterion that the judge writes
_LONGEST_REASON = 300  # characters

INTRODUCTION = """\
You evaluate one run of a web agent. You see the task, the actions of the agent with what it thought before each, its \
answer, and screenshots in the order in which they were taken. You judge two things, each for itself: how well the \
agent worked, by the points of a rubric, and whether the user got what the task asks for."""

WRITE_RUBRIC = """\
First write the rubric, from the task alone, as if you had not seen the run:
- Write few criteria, only for goals that the task states. They must not overlap, so that one mistake costs once.
- If the task names a site to use, this is a criterion of its own, apart from what is to be done there.
- If the task asks for three items or more, each item has its own criterion.
- Read everyday words as people mean them: find, locate or review ask neither for an address nor for a long text. \
Results that are only needed on the way need not be reported.
- "If X do A, otherwise do B" becomes two criteria, each with a `condition`, of which one is met. "Say so if it is not \
available" belongs to the criterion of the thing itself. All other criteria have the condition null.
- Never demand a step that binds the user, such as to pay, order, send, publish or delete, unless the task permits it. \
Never demand data that the user did not give, or one reading of something that the task leaves open.
- The description states what earns all points, some points and no points."""

USE_RUBRIC = """\
The block named `rubric` has the criteria. Score each of them as it is; do not change, add or omit any. Where its \
description contradicts facts that the screenshots show, the facts count."""

RULES = """\
Points:
- An obstacle that the agent could not control costs nothing if the agent tried what was reasonable: the site fails or \
blocks it, the item does not exist, nothing is available. This includes criteria that the obstacle made impossible.
- A mistake that the agent could have avoided costs points: it chose the wrong thing although the right one was there, \
did not try the named site, entered wrong data, gave up early, or invented something. Charge each mistake once, and a \
later criterion only if the mistake made it impossible.
- A right method with a wrong final value earns 40% to 80% of the points. If there are only trifles to criticize, \
give 75% to 100%.
- A criterion with a condition that is not met has `is_condition_met` false and 0 points.

Evidence:
- Screenshots show facts. The thoughts and the answer of the agent are claims to compare with them.
- A later screenshot overrides an earlier one.
- Charge what contradicts the evidence, what was invented, and what was there but not reported. Do not charge a \
conclusion from what is absent, or something that is visible although nobody mentions it.

Outcome, which does not depend on the points:
- Decide as the user would. In a task of several steps, the result of the last one is what counts.
- A wrong answer is worse than none. An obstacle before the goal is a failure, whoever is to blame for it.
- Something else in place of what was asked for is a failure, unless the agent says so and the task permits it. \
Another site is fine unless the task insists on one.
- Without permission in the task, the agent has to stop before a step that binds the user. To stop there is a success \
if all before is right; to go on, or to invent data of the user, is a failure. With permission, to stop is a failure.
- A lasting effect that nobody asked for, such as a wrong item in the cart, is a failure. Trifles never are.
- A date without a year means the year of the run.
- Use null only if decisive evidence is missing. Then `insufficient_evidence` says what is missing; otherwise it is an \
empty text. Do not use null because a decision is difficult."""

WRITTEN_FORM = """\
Reply with one JSON object and nothing else:
{"criteria": [{"criterion": "...", "description": "...", "condition": null or "...", "max_points": number above 0, \
"is_condition_met": null, or true or false if there is a condition, "justification": "...", "earned_points": number}], \
"primary_intent": "what the user wants most", "outcome_reasoning": "...", "insufficient_evidence": "", \
"outcome": true, false or null}"""

SCORED_FORM = """\
Reply with one JSON object and nothing else, with the criteria in the order of the rubric:
{"criteria": [{"number": 1, "is_condition_met": null, or true or false if there is a condition, \
"justification": "...", "earned_points": number}], \
"primary_intent": "what the user wants most", "outcome_reasoning": "...", "insufficient_evidence": "", \
"outcome": true, false or null}"""


_TEXT = {"type": "string"}
_NUMBER = {"type": "number"}
_TEXT_OR_NULL = {"type": ["string", "null"]}
_FLAG_OR_NULL = {"type": ["boolean", "null"]}
_SCORE = {"is_condition_met": _FLAG_OR_NULL, "justification": _TEXT, "earned_points": _NUMBER}
_WRITTEN = {"criterion": _TEXT, "description": _TEXT, "condition": _TEXT_OR_NULL, "max_points": _NUMBER}
_OUTCOME = {  # in the order in which the judge has to think
    "primary_intent": _TEXT,
    "outcome_reasoning": _TEXT,
    "insufficient_evidence": _TEXT,
    "outcome": _FLAG_OR_NULL,
}


class JudgedRubric(ScoredRubric, frozen=True, kw_only=True):
    """A rubric with its points, and the outcome: None where the judge does not see it.

    `insufficient_evidence` says what the judge misses, and is empty where it misses nothing.
    """

    primary_intent: str
    reasoning: str
    insufficient_evidence: str
    outcome: bool | None

    @property
    def vote(self) -> bool | None:
        """The outcome, unless the evidence does not suffice for one."""
        return None if self.insufficient_evidence else self.outcome

    def to_json(self) -> dict[str, Any]:
        """As the rubric verifier stores each of its rubrics."""
        return ScoredRubric.to_json(self) | {"outcome_verification": self.to_outcome(success=self.outcome)}

    def to_outcome(self, *, success: bool | None) -> dict[str, Any]:
        """As the rubric verifier stores an outcome."""
        return {"primary_intent": self.primary_intent, "reasoning": self.reasoning, "output_success": success}


def judge(evidence: Evidence, calls: JudgeCalls, settings: JudgeSettings) -> JudgedVerdict:
    """The verdict on the outcome, with the points: of several votes the majority of the outcomes, and the median.

    A rubric of the task that is damaged is noted. Raises `JudgeFailed`: `uncertain`, with what the judge misses in the
    evidence.
    """
    replies = ask_votes(calls, build_request(evidence, _find_rubric(evidence, calls)), settings.votes)
    votes = tuple(None if reply is None else reply.vote for reply in replies)
    rubrics = [reply for reply in replies if reply is not None]
    try:
        success = decide(votes)
    except JudgeFailed as error:
        missing = next((rubric.insufficient_evidence for rubric in rubrics if rubric.insufficient_evidence), "")
        if not missing:
            raise
        reason = f"the evidence does not suffice for the judge: {to_line(missing, _LONGEST_REASON)}"
        raise JudgeFailed(reason, error.outcome) from error
    verdict = RubricVerdict(
        rubrics=rubrics,
        median=find_median(rubrics),
        threshold=settings.threshold,
        verification=next(rubric for rubric in rubrics if rubric.vote is success).to_outcome(success=success),
        votes=votes,
    )
    return JudgedVerdict(
        file_name=f"mmrubric_{settings.threshold_text}-{MOST_SCREENSHOTS}-3.json",
        score=int(success),
        response=verdict.to_payload({}),
        votes=votes,
    )


METHOD = JudgingMethod(name="rubric", version="1", judge=judge)


def _find_rubric(evidence: Evidence, calls: JudgeCalls) -> TaskRubric | None:
    if evidence.rubric is None:
        return None
    try:
        return parse_rubric(evidence.rubric)
    except ValueError as error:
        calls.note("rubric", f"{error}; the judge wrote its own")  # an agent can damage one, so it excludes no run
        return None


def build_request(evidence: Evidence, rubric: TaskRubric | None) -> Request[JudgedRubric]:
    """The question, and how its reply is read. Without a rubric of the task, the judge writes one."""
    echoes = find_echoes(evidence)

    def parse(text: str) -> JudgedRubric:
        reply = parse_json_object(text)
        echoes.refuse_object(reply.source)
        return _read_rubric(reply, rubric)

    instructions = "\n\n".join((INTRODUCTION, WRITE_RUBRIC if rubric is None else USE_RUBRIC, RULES))
    messages = build_messages(
        build_system(instructions, WRITTEN_FORM if rubric is None else SCORED_FORM),
        fence_task(evidence),
        *(() if rubric is None else (fence("rubric", rubric.to_prompt()),)),
        evidence.history_with_states,
        evidence.fenced_answer,
        *attach_last(evidence.screenshots, MOST_SCREENSHOTS),
        "Reply with the JSON object.",
    )
    criterion = _WRITTEN | _SCORE if rubric is None else {"number": {"type": "integer"}} | _SCORE
    properties = {"criteria": {"type": "array", "items": build_object_schema(criterion)}} | _OUTCOME
    digest = None if rubric is None else rubric.sha256
    return Request("rubric", messages, parse, schema=build_object_schema(properties), rubric=digest)


def _read_rubric(reply: ReplyObject, rubric: TaskRubric | None) -> JudgedRubric:
    """The scored rubric of a reply: that of the task, or the judge's own. Raises `InvalidReply`."""
    if rubric is None:
        items = [_read_own_item(criterion) for criterion in reply.objects("criteria", MOST_CRITERIA)]
    else:
        items = graft(rubric.items, iter(_read_scores(reply, rubric)))
    return JudgedRubric(
        items=items,
        points=add_up(flatten_items(items), "post_image"),
        primary_intent=reply.text("primary_intent"),
        reasoning=reply.text("outcome_reasoning"),
        insufficient_evidence=reply.text("insufficient_evidence", may_be_empty=True).strip(),
        outcome=reply.flag_or_null("outcome"),
    )


def _read_own_item(reply: ReplyObject) -> dict[str, Any]:
    maximum, condition = reply.points("max_points", MOST_POINTS), reply.text_or_null("condition")
    if not maximum:
        raise InvalidReply(f"invalid {reply.place}max_points 0; use a number above 0")
    texts = {"criterion": reply.text("criterion"), "description": reply.text("description")}
    conditional = {} if condition is None else {"condition": condition}
    scores = _read_score(reply, maximum, is_conditional=condition is not None)
    return {**texts, **conditional, "max_points": to_number(maximum), **scores}


def _read_scores(reply: ReplyObject, rubric: TaskRubric) -> Sequence[dict[str, Any]]:
    """The scores by position; the numbers guard against a list in another order."""
    scores = reply.objects("criteria", len(rubric.criteria))
    numbers = [score.fields.get("number") for score in scores]
    if numbers != list(range(1, len(rubric.criteria) + 1)):
        raise InvalidReply(f"the criteria must have the numbers 1 to {len(rubric.criteria)} in this order")
    return [
        _read_score(score, criterion.max_points, is_conditional=criterion.is_conditional)
        for score, criterion in zip(scores, rubric.criteria, strict=True)
    ]


def _read_score(reply: ReplyObject, maximum: Decimal, *, is_conditional: bool) -> dict[str, Any]:
    """The points stand for both stages: the judge saw actions and screenshots at once. None for an unmet condition."""
    met = {"is_condition_met": reply.flag("is_condition_met")} if is_conditional else {}
    earned, justification = reply.points("earned_points", maximum), reply.text("justification")
    points = 0 if met.get("is_condition_met") is False else to_number(earned)
    return {
        **met,
        "justification": justification,
        "earned_points": points,
        "post_image_justification": justification,
        "post_image_earned_points": points,
    }
