"""What each step of the pipeline works on, the material that it shows, and how it asks.

What a run or a reply wrote is in a fence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct, field

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.calls import JudgeCalls, Request, build_messages
from pytest_webeval.judges.evidence import Evidence, build_system, fence, fence_task
from pytest_webeval.judges.methods.replies import ReplyForm, build_schema, parse_reply
from pytest_webeval.judges.questions import Image, Role
from pytest_webeval.safety.text import truncate

Value = TypeVar("Value")
Form = TypeVar("Form", bound=ReplyForm)
Item = Mapping[str, Any]  # a criterion of a rubric
Analyses = Mapping[int, Sequence[Mapping[str, Any]]]
# After these a step goes on with its fallback. Others, such as a server that does not reply, end the pipeline.
_REPLY_PROBLEMS = frozenset({"unparseable", "refused", "filtered", "truncated"})
_EVALUATOR = (
    "You evaluate a recorded run of a web agent, one step of the evaluation at a time. Be exact and fair: rely on what"
    " the material shows, and do not guess what it does not show."
)
_REPLY_RULE = "Reply with exactly one JSON object and no other text. It must conform to this JSON Schema:\n"
_LONGEST_TEXT = 4_000  # characters of a text of an earlier reply
_RUBRIC_KEYS = ("criterion", "description", "condition", "max_points")
_DECISION_KEYS = ("penalty", "is_condition_met", "max_points", "earned_points", "post_image_earned_points")
_NOTE_KEYS = ("criterion", "justification", "reality_notes", "post_image_justification")


class Step(Struct, Generic[Form], frozen=True):
    """A question of the pipeline: what the judge has to do, and the form of its reply."""

    name: str
    guidance: str
    form: type[Form]
    role: Role = Role.VISION


class Case(Struct, frozen=True, kw_only=True):
    """One run that is judged.

    `screenshots` are those before each action. `critical_point` is the record of the classification, and `rubric` the
    digest of the criteria, as soon as there is one.
    """

    evidence: Evidence
    calls: JudgeCalls
    screenshots: tuple[Image, ...] = ()
    votes: int = 1
    critical_point: dict[str, Any] = field(default_factory=dict)
    rubric: str | None = None

    @property
    def run(self) -> str:
        actions, answer = self.evidence.history_with_states, self.evidence.fenced_answer
        return f"Actions of the agent:\n{actions}\n\nFinal answer:\n{answer}"

    def describe(self, items: Sequence[Item], analyses: Analyses) -> tuple[str, str, str]:
        """What was decided about the criteria up to now, what the screenshots show, and what the agent did."""
        return format_scores(items), format_evidence(analyses), self.run

    def build_request(
        self, step: Step[Form], read: Callable[[Form], Value], *parts: str | Image, sample: int = 0
    ) -> Request[Value]:
        """The question of a step about the task and further parts. `read` makes a value of a reply."""
        schema = build_schema(step.form)
        system = build_system(f"{_EVALUATOR}\n\n{step.guidance}", _REPLY_RULE + json.dumps(schema))
        return Request(
            step=step.name,
            messages=build_messages(system, format_task(self.evidence), *parts),
            parse=lambda text: read(parse_reply(text, step.form)),
            schema=schema,
            rubric=self.rubric,
            role=step.role,
            sample=sample,
        )

    def ask_or(self, request: Request[Value], fallback: str) -> Value | None:
        """The value of one reply, or None with a note."""
        return self.ask_each([request], fallback)[0]

    def ask_each(
        self, requests: Sequence[Request[Value]], fallback: str, *, are_votes: bool = False
    ) -> list[Value | None]:
        """The value of each reply, None where no reply was valid, which is noted with the name of the fallback.

        Raises `JudgeFailed` where it is not the reply that is the problem. Of votes some may be missing: that is no
        fallback, but the first `JudgeFailed` is raised where no more than half of them are valid.
        """
        values: list[Value | JudgeFailed] = self.calls.ask_all(requests)
        failures = [value for value in values if isinstance(value, JudgeFailed)]
        for failure in failures:
            if failure.outcome not in _REPLY_PROBLEMS:
                raise failure
        if are_votes and failures and len(failures) * 2 >= len(values):
            raise failures[0]
        if failures:
            share = f"{len(failures)} of {len(values)} replies, the first: " if len(values) > 1 else ""
            note = self.calls.note if are_votes else self.calls.degrade
            note(requests[0].step, f"{fallback}: {share}{failures[0].reason}")
        return [None if isinstance(value, JudgeFailed) else value for value in values]


def format_task(evidence: Evidence) -> str:
    """The task, where it starts, and when it was recorded."""
    lines = [f"Task of the agent:\n{fence_task(evidence)}"]
    if evidence.start_url and not _is_search_page(evidence.start_url):
        lines.append(f"The browser was opened at this address:\n{fence('start address', evidence.start_url)}")
    if isinstance(recorded := evidence.task_data.get("start_timestamp"), str):
        lines.append(f"The run was recorded at:\n{fence('time', truncate(recorded, 40))}")
    return "\n\n".join(lines)


def _is_search_page(url: str) -> bool:
    """Whether a run started nowhere in particular: on the home page of Bing."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.netloc.removeprefix("www.") == "bing.com" and parts.path.strip("/") == ""


def format_rubric(items: Sequence[Item]) -> str:
    """The criteria, a line of JSON each."""
    return f"Criteria:\n{_number_lines(items, _RUBRIC_KEYS)}"


def format_scores(items: Sequence[Item]) -> str:
    """What was decided about each criterion up to now; the reasons in a fence, as they may quote the run."""
    return (
        f"Decisions of earlier steps of this evaluation:\n{_number_lines(items, _DECISION_KEYS)}\n"
        "Their reasons, which may quote the run:\n" + fence("reasons", _number_lines(items, _NOTE_KEYS))
    )


def _number_lines(items: Sequence[Item], keys: Iterable[str]) -> str:
    return "\n".join(f"criterion_idx {index}: {_to_json(item, keys)}" for index, item in enumerate(items))


def format_evidence(analyses: Analyses, indices: Iterable[int] | None = None) -> str:
    """What the screenshots show for each criterion, the later ones last."""
    chosen = sorted(analyses) if indices is None else indices
    lines = [
        f"criterion_idx {index}, screenshot {analysis['screenshot_idx'] + 1}: "
        f"{_to_json(analysis, [key for key in analysis if key != 'screenshot_idx'])}"
        for index in chosen
        for analysis in sorted(analyses.get(index, ()), key=lambda analysis: int(analysis["screenshot_idx"]))
    ]
    heading = "What earlier steps of this evaluation saw in the screenshots, which may quote the run:"
    return f"{heading}\n" + fence("evidence", "\n".join(lines) or "none")


def _to_json(fields: Mapping[str, Any], keys: Iterable[str]) -> str:
    texts = {key: truncate(value, _LONGEST_TEXT) for key, value in fields.items() if isinstance(value, str)}
    values = {key: texts.get(key, fields[key]) for key in keys if key in fields and fields[key] != ""}
    return json.dumps(values, ensure_ascii=False)


def format_request(indices: Iterable[int], subject: str = "Requested criteria") -> str:
    return f"{subject}, in this order: {', '.join(map(str, indices))}"
