"""Trajectories with numbers, each about another book, and a script of a judge server that knows the verdict on each.

The script replies as the method that asks wants it. What goes wrong on the way is decided by the number of the book and
by the question, so that it is the same in each session.
"""

from __future__ import annotations

import base64
import io
import itertools
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from PIL import Image

from tests.support import recorded
from tests.support.judge_server import Answer, Exchange, completion, failure
from tests.unit.judges.rubric_pipeline.perfect_judge import Plan, make_plan, reply_to

MODEL = "gpt-4o"
INPUT, CACHED_INPUT, OUTPUT = Decimal("2.5"), Decimal("1.25"), Decimal(10)  # USD per million tokens of the model
TASKS, PRICES = "tasks.tsv", "prices.toml"
SCREENSHOTS = 4
MOST_BOOKS = 256  # which a colour can number
# The question without whose reply there is no verdict, and one that a method can do without.
NEEDED = {"webvoyager": "verdict", "webjudge": "verdict", "rubric": "rubric", "rubric-pipeline": "action_scores"}
OPTIONAL = {"webjudge": "screenshot", "rubric-pipeline": "reality"}
SCORE_FILES = {
    "webvoyager": "gpt_eval.json",
    "webjudge": "WebJudge_Online_Mind2Web_eval-3.json",
    "rubric": "mmrubric_0.8-30-3.json",
    "rubric-pipeline": "mmrubric_0.8-5-3.json",
}
# Of each period of books, the first gets the first of these, and so on. The final ones happen to each request, the
# others to the first.
FINAL = ("refused", "truncated")
FAULTS = ("torn", "busy", "broken", "dropped", "slow", "invalid", *FINAL)
_RETRIED = {"torn", "busy", "broken", "dropped"}
_RETRIED_LATER = {"torn", "dropped"}  # after half a second


def write_books(directory: Path, count: int) -> None:
    """Trajectories below `runs`, without verdicts and with pictures of their own; definitions of tasks, and a price."""
    rows = "".join(f"{name_of(number)}\tFind book {number}.\tbooks\n" for number in range(count))
    (directory / TASKS).write_text(f"id\ttask_summary\tbenchmark\n{rows}")
    price = f"input = {INPUT}\ncached_input = {CACHED_INPUT}\noutput = {OUTPUT}\n"
    (directory / PRICES).write_text(f'["{MODEL}"]\n{price}')
    for number in range(count):
        path = recorded.write(path_of(directory, number), scores=None)
        for at in range(SCREENSHOTS):
            recorded.put(path / f"screenshot{at}.png", draw(number, at))


def name_of(number: int) -> str:
    """The id of a task."""
    return f"book{number}"


def path_of(directory: Path, number: int) -> Path:
    """The directory of a trajectory."""
    return directory / "runs" / recorded.RUN / name_of(number)


def draw(number: int, at: int) -> bytes:
    """A PNG whose colour says which screenshot it is of which book."""
    content = io.BytesIO()
    Image.new("RGB", (8, 8), (number // 16 * 16 + 8, number % 16 * 16 + 8, at * 64 + 32)).save(content, "PNG")
    return content.getvalue()


def read_picture(url: str) -> tuple[int, int]:
    """The number of the book and of the screenshot, of a picture as a judge gets it."""
    with Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) as picture:
        red, green, blue = picture.convert("RGB").getpixel((4, 4))
    return red // 16 * 16 + green // 16, blue // 64


class Verdict(NamedTuple):
    """What a judgment has to come to. Points are None for a method without points."""

    success: bool
    earned: Fraction | None = None
    most: Fraction | None = None


def verdict_on(method: str, number: int) -> Verdict:
    """The verdict on a book."""
    if method == "rubric-pipeline":
        plan = plan_of(number)
        counted = [criterion for criterion in plan.criteria if criterion.is_counted]
        earned = sum((_exact(criterion.seen[0]) for criterion in counted), Fraction(0))
        most = sum((_exact(criterion.maximum) for criterion in counted), _exact(plan.penalties[0]))
        return Verdict(plan.outcome, earned, most)
    success = number % 3 != 2
    return Verdict(success, _exact(number % 5 + 2.5), Fraction(7)) if method == "rubric" else Verdict(success)


def _exact(points: float) -> Fraction:
    return Fraction(Decimal(repr(points)))


def plan_of(number: int) -> Plan:
    """The plan of the perfect judge for a book."""
    return _plans()[number]


@cache
def _plans() -> list[Plan]:
    """Those of one vote on three actions, without a rubric that came with the task, and with the usual threshold."""
    plans: list[Plan] = []
    for plan in map(make_plan, itertools.count()):
        if plan.votes == 1 and len(plan.relevance) == SCREENSHOTS - 1:
            plans.append(replace(plan, is_precomputed=False, threshold="0.8"))
        if len(plans) == MOST_BOOKS:
            break
    return plans


class _Text(NamedTuple):
    text: str


class _Image(NamedTuple):
    name: str


@dataclass(frozen=True)
class Asked:
    """One question as the server sees it, in the words of the perfect judge."""

    body: dict[str, Any]

    sample = 0

    @property
    def step(self) -> str:
        if structured := self.body.get("response_format"):
            return str(structured["json_schema"]["name"])
        form = self.messages[0].text
        return "screenshot" if "\nScore: " in form else "key points" if "numbered list only" in form else "verdict"

    @property
    def messages(self) -> list[_Text]:
        contents = (message["content"] for message in self.body["messages"])
        return [_Text(text if isinstance(text, str) else _join(text)) for text in contents]

    @property
    def pictures(self) -> list[tuple[int, int]]:
        """The numbers of the books and screenshots that are shown."""
        parts = [
            part for each in self.body["messages"] if isinstance(each["content"], list) for part in each["content"]
        ]
        return [read_picture(part["image_url"]["url"]) for part in parts if part["type"] == "image_url"]

    @property
    def images(self) -> Iterator[_Image]:
        return (_Image(f"screenshot{at}.png") for _, at in self.pictures)

    @property
    def number(self) -> int:
        """The book of the task."""
        return int(re.findall(r"Find book (\d+)\.", self.messages[1].text)[0])


def _join(parts: list[dict[str, Any]]) -> str:
    return "\n".join(part["text"] for part in parts if part["type"] == "text")


class Served(NamedTuple):
    """One request with what was done about it. `usage` is None where the reply was not one to pay for."""

    key: str
    asked: Asked
    fault: str
    usage: dict[str, Any] | None


@dataclass
class BookJudge:
    """A script. Of `period` books in a row each has another fault; without a period nothing goes wrong.

    `seconds` pass before each reply.
    """

    method: str
    period: int = 0
    seconds: float = 0
    served: list[Served] = field(default_factory=list)
    _seen: Counter[str] = field(default_factory=Counter)
    _lock: Any = field(default_factory=Lock)

    def __call__(self, exchange: Exchange) -> Answer:
        asked = Asked(exchange.body)
        with self._lock:
            is_first = exchange.key not in self._seen
            self._seen[exchange.key] += 1
        fault = self.find_fault(asked)
        if fault in _RETRIED and not is_first:
            fault = ""
        answer, is_paid = self._answer(asked, fault, exchange.key)
        usage = answer.body["usage"] if is_paid else None
        with self._lock:
            self.served.append(Served(exchange.key, asked, fault, usage))
        return answer

    def find_fault(self, asked: Asked) -> str:
        """What goes wrong with a question; a correction is always answered.

        Only a question that a method needs, or one that it can do without, is refused.
        """
        if not self.period or len(asked.messages) > 2:
            return ""
        if asked.step == NEEDED[self.method]:
            return self._pick_fault(asked.number)
        if asked.step == OPTIONAL.get(self.method) and self._is_degraded(asked.number):
            return "refused" if asked.step == "reality" or asked.pictures[0][1] == SCREENSHOTS - 1 else ""
        fault = self._pick_fault(asked.number + zlib.crc32(f"{asked.step} {asked.pictures}".encode()))
        return "" if fault in {*_RETRIED_LATER, *FINAL} else fault

    def _pick_fault(self, number: int) -> str:
        at = number % self.period
        return FAULTS[at] if at < len(FAULTS) else ""

    def _is_degraded(self, number: int) -> bool:
        return number % self.period == 1

    def excluded(self, count: int) -> dict[int, str]:
        """The books on which there is no verdict, each with the reason."""
        faults = {number: self._pick_fault(number) for number in range(count)} if self.period else {}
        refused = {number: fault for number, fault in faults.items() if fault in FINAL}
        return refused | dict.fromkeys(self.degraded(count), "uncertain")

    def degraded(self, count: int) -> set[int]:
        """The books on which the judge uses a fallback."""
        numbers = range(count) if self.period and self.method in OPTIONAL else ()
        return set(filter(self._is_degraded, numbers))

    def _answer(self, asked: Asked, fault: str, key: str) -> tuple[Answer, bool]:
        if fault == "busy":
            return failure(429, Retry_After="0"), False
        if fault == "broken":
            return failure(500, Retry_After="0"), False
        body = completion(self._reply(asked, is_valid=fault != "invalid"), usage=usage_of(key), model=MODEL)
        choice = body["choices"][0]
        if fault == "refused":
            choice["message"] = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
        if fault == "truncated":
            choice |= {"finish_reason": "length", "message": {"role": "assistant", "content": "The page sh"}}
        if fault == "torn":
            return Answer(json.dumps(body).encode()[:-20]), False
        is_dropped = fault == "dropped"
        return Answer(body, seconds=0.05 if fault == "slow" else self.seconds, dropped=is_dropped), not is_dropped

    def _reply(self, asked: Asked, *, is_valid: bool) -> str:
        if not is_valid:
            return "" if asked.step == "key points" else '{"answer": 42}'
        if self.method == "rubric-pipeline":
            return reply_to(plan_of(asked.number), asked)  # type: ignore[arg-type]
        return _write_reply(self.method, asked)


def _write_reply(method: str, asked: Asked) -> str:
    number, success = asked.number, verdict_on(method, asked.number).success
    if method == "rubric":
        return _score(number, success=success)
    if asked.step == "key points":
        return f"1. The page of book {number}\n2. Its price"
    if asked.step == "screenshot":
        return f"{describe(number)}\nScore: {asked.pictures[0][1] + 1}"
    if method == "webjudge":
        return f"{describe(number)}\nStatus: {'success' if success else 'failure'}"
    return f"{describe(number)}\nVerdict: {'SUCCESS' if success else 'NOT SUCCESS'}"


def describe(number: int) -> str:
    """What the judge says of a book."""
    return f"The last page is about volume {number}."


def _score(number: int, *, success: bool) -> str:
    fields = {"description": "d", "condition": None, "is_condition_met": None, "justification": "as shown"}
    criteria = [
        {"criterion": "find the book", "max_points": 4, "earned_points": number % 5, **fields},
        {"criterion": "report it", "max_points": 3, "earned_points": 2.5, **fields},
    ]
    outcome = {"primary_intent": "a book", "outcome_reasoning": describe(number), "insufficient_evidence": ""}
    return json.dumps({"criteria": criteria, **outcome, "outcome": success})


def usage_of(key: str) -> dict[str, Any]:
    """The tokens of a reply, which differ from question to question."""
    digest = zlib.crc32(key.encode())
    return {
        "prompt_tokens": 100 + digest % 61,
        "completion_tokens": 10 + digest % 13,
        "prompt_tokens_details": {"cached_tokens": digest % 89},
        "completion_tokens_details": {"reasoning_tokens": digest % 7},
    }


def add_up(usages: list[dict[str, Any]]) -> tuple[dict[str, int], Decimal]:
    """The tokens of replies as a summary has them, and what they cost."""
    totals = {
        "prompt": sum(usage["prompt_tokens"] for usage in usages),
        "completion": sum(usage["completion_tokens"] for usage in usages),
        "reasoning": sum(usage["completion_tokens_details"]["reasoning_tokens"] for usage in usages),
        "cached": sum(usage["prompt_tokens_details"]["cached_tokens"] for usage in usages),
    }
    uncached = (totals["prompt"] - totals["cached"]) * INPUT
    return totals, (uncached + totals["cached"] * CACHED_INPUT + totals["completion"] * OUTPUT) / 1_000_000
