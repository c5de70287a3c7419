"""The cheap default: rubric, points and outcome in one question (`fara_webeval.md` §6.9)."""

from __future__ import annotations

from typing import ClassVar

from pytest_webeval.judges.calls import JudgeCalls, Prompt, Request, build_messages
from pytest_webeval.judges.echoes import find_echoes
from pytest_webeval.judges.evidence import Evidence, fence
from pytest_webeval.judges.prompt_parts import attach_last, build_system, fence_task
from pytest_webeval.judges.replies import parse_json_object
from pytest_webeval.judges.rubric_payloads import build_payload, decide_outcome, list_votes
from pytest_webeval.judges.rubric_replies import RubricReply, build_schema, read_rubric_reply
from pytest_webeval.judges.task_rubrics import InvalidRubric, TaskRubric, parse_rubric
from pytest_webeval.judges.verdicts import JudgedVerdict, JudgeSettings, JudgingMethod
from pytest_webeval.judges.votes import ask_votes

MOST_SCREENSHOTS = 30

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


class FusedRubricMethod(JudgingMethod):
    """One question with pictures; with votes, the median of the points and the majority of the outcomes."""

    name: ClassVar[str] = "rubric"
    version: ClassVar[str] = "1"

    def judge(self, evidence: Evidence, calls: JudgeCalls, settings: JudgeSettings) -> JudgedVerdict:
        """The verdict on the outcome, with the points. A rubric of the task that is damaged is noted."""
        replies = ask_votes(calls, build_request(evidence, _find_rubric(evidence, calls)), settings.votes)
        success = decide_outcome(replies)
        return JudgedVerdict(
            file_name=f"mmrubric_{settings.threshold.normalize():f}-{MOST_SCREENSHOTS}-3.json",
            score=int(success),
            response=build_payload(replies, success=success, threshold=settings.threshold),
            votes=list_votes(replies),
        )


def build_request(evidence: Evidence, rubric: TaskRubric | None) -> Request[RubricReply]:
    """The question, and how its reply is read. Without a rubric of the task, the judge writes one."""
    echoes = find_echoes(evidence)

    def parse(reply: str) -> RubricReply:
        fields = parse_json_object(reply)
        echoes.refuse_object(fields.source)
        return read_rubric_reply(fields, rubric)

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
    digest = None if rubric is None else rubric.sha256
    return Request(Prompt(step="rubric", messages=messages, schema=build_schema(rubric), rubric=digest), parse)


def _find_rubric(evidence: Evidence, calls: JudgeCalls) -> TaskRubric | None:
    if evidence.rubric is None:
        return None
    try:
        return parse_rubric(evidence.rubric)
    except InvalidRubric as error:
        calls.note("rubric", f"{error}; the judge wrote its own")  # an agent can damage one, so it excludes no run
        return None
