"""The log of a trajectory, `web_surfer.log`, of which every line that is whole is kept (`fara_webeval.md` §2.1, §3).

A step is a text, a structured line and an observation. An action is logged in the units of the picture that the model
saw, which is resized. The observation after a click has the same point in pixels of the page (microsoft/fara 3f3f1fd,
`fara_agent.py`, `proc_coords` and `execute_action`), so one click shows the scale of a run. Where no click says it, the
points stay as they are: both sides differ by 14 pixels at most in the usual case, where they are rounded to multiples
of 28.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_webeval.recordings.trajectory.actions import (
    GPT_SOLVER,
    SOLVER,
    SUMMARY,
    Action,
    ObservationText,
    StepText,
    is_action,
    parse_event_action,
    parse_text_action,
    quotes_step,
    read_text,
)
from pytest_webeval.recordings.trajectory.layout import LOG
from pytest_webeval.recordings.trajectory.step import Step, find_target
from pytest_webeval.safety.json import InvalidJson, LenientJson, load_lenient, shorten_json
from pytest_webeval.safety.text import pluralize
from pytest_webeval.safety.warning_log import WarningLog

MAX_LINES = 250_000  # many times what the longest run writes
MAX_GLUED = 100  # objects of one line
_BLANKS = " \t\r"
_LEFTOVERS = "\0\ufeff"  # what a power failure leaves in a file, and what an editor puts before it


class Line(Struct, frozen=True):
    """An object of the log, with the number of its line (from 1)."""

    number: int
    event: dict[str, Any]


def read_lines(content: bytes, warnings: WarningLog) -> list[Line]:
    """All objects of a log, in order. Lines end at a line feed and nowhere else."""
    lines: list[Line] = []
    blank: list[int] = []
    for number, raw in _split_lines(content, warnings):
        text = _decode_text(raw, number, warnings)
        if text:
            lines.extend(Line(number, event) for event in _decode_events(text, number, warnings))
        else:
            blank.append(number)
    if blank:
        more = f", the first of {len(blank)}" if len(blank) > 1 else ""
        warnings.add(f"blank line skipped{more}", blank[0])
    return lines


def _split_lines(content: bytes, warnings: WarningLog) -> Iterator[tuple[int, bytes]]:
    start = 0
    for number in range(1, MAX_LINES + 1):
        if start >= len(content):
            return
        end = content.find(b"\n", start)
        end = len(content) if end < 0 else end
        yield number, content[start:end]
        start = end + 1
    if start < len(content):
        warnings.add(f"has more than {MAX_LINES:,} lines; the rest is ignored", MAX_LINES)


def _decode_text(raw: bytes, number: int, warnings: WarningLog) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode(errors="replace")
        warnings.add("is not UTF-8; invalid bytes are read as \\ufffd", number)
    text = text.strip(_BLANKS)
    if text.strip(_LEFTOVERS) != text:
        warnings.add("a byte order mark or NUL characters around the line are ignored", number)
    return text.strip(_BLANKS + _LEFTOVERS)


def _decode_events(text: str, number: int, warnings: WarningLog) -> Iterator[dict[str, Any]]:
    """The objects of one line: one, or several if their line feeds got lost."""
    start = 0
    for position in range(MAX_GLUED):
        decoded = _decode_object(text, start, number, warnings)
        if decoded is None:
            return
        yield decoded.value
        start = _skip_blanks(text, decoded.end)
        if start == len(text):
            return
        if position == 0:
            warnings.add("continues after its JSON object; a line feed may be missing", number)
    warnings.add(f"has more than {MAX_GLUED:,} JSON objects; the rest is ignored", number)


def _skip_blanks(text: str, start: int) -> int:
    while text[start : start + 1] in _BLANKS and start < len(text):
        start += 1
    return start


def _decode_object(text: str, start: int, number: int, warnings: WarningLog) -> LenientJson | None:
    try:
        decoded = load_lenient(text, start)
    except InvalidJson as error:
        warnings.add(f"is not valid JSON: {error}; skipped: {shorten_json(text[start : start + 60])}", number)
        return None
    if not isinstance(decoded.value, dict):
        warnings.add(f"is not a JSON object; skipped: {shorten_json(text[start : start + 60])}", number)
        return None
    for oddity in decoded.warnings:
        warnings.add(oddity, number)
    return decoded


class StepBuilder(Struct):
    """A step as far as its lines were met: `action` comes from its best line, `text` from its text.

    Its number is the one in its texts, or the one that was due.
    """

    number: int
    line: Line
    action: Action
    text: Action | None = None
    observation: str | None = None

    def awaits(self, action: Action) -> bool:
        """Whether a structured line is the one to this step's text: thought alike, or done alike.

        Only one of both may be a matter of how the text was written.
        """
        if self.action.is_structured:
            return False
        own_action = self.action
        has_same_thought = not action.thought or action.thought.strip() == own_action.thought
        has_same_action = not own_action.is_named or (own_action.name, own_action.arguments) == (
            action.name,
            action.arguments,
        )
        return has_same_thought or has_same_action

    def is_echoed(self, after: StepBuilder | None) -> bool:
        if self.action.is_structured or after is None:
            return False
        return (self.number, self.text) == (after.number, after.text)


class StepAssembler(Struct):
    """The steps of a log, put together line by line: a text, then a structured line, then an observation.

    Any of the three may be missing, and the structured line may come first.
    """

    warnings: WarningLog
    steps: list[StepBuilder] = field(default_factory=list)
    _by_number: dict[int, StepBuilder] = field(default_factory=dict)
    _last: int = 0

    def add_action(self, line: Line, action: Action) -> None:
        """A structured line: of the step whose text stands before it, or else a step of its own."""
        step = self._open()
        if step and step.awaits(action):
            step.action, step.line = action, line
        else:
            self._begin(StepBuilder(self._last + 1, line, action))

    def add_text(self, line: Line, text: StepText) -> None:
        """A thought with its action: a step of its own, unless it is that of the structured line before it."""
        step, action = self._open(), parse_text_action(text)
        if step and step.text is None and step.number == text.number:
            step.text = action
            return
        if text.number != self._last + 1:
            self.warnings.add(f"has step number {text.number}, expected {self._last + 1}", line.number)
        self._begin(StepBuilder(text.number, line, action, action))

    def add_observation(self, line: Line, observation: ObservationText) -> None:
        """What was seen after the step of that number, or after the last one if that has no number of its own."""
        step = self._by_number.get(observation.number)
        if step is None or step.observation is not None:
            last = self._open()
            step = last if last and last.text is None else None
            then = "assigned to the last step" if step else "ignored"
            self.warnings.add(f"Observation#{observation.number} does not match a step; {then}", line.number)
            if step:
                self._register(step, observation.number)
        if step:
            step.observation = observation.text

    def _open(self) -> StepBuilder | None:
        return self.steps[-1] if self.steps and self.steps[-1].observation is None else None

    def _begin(self, step: StepBuilder) -> None:
        self.steps.append(step)
        self._register(step, step.number)

    def _register(self, step: StepBuilder, number: int) -> None:
        step.number = self._last = number
        self._by_number[number] = step


def draft_steps(lines: Sequence[Line], warnings: WarningLog) -> list[StepBuilder]:
    """The steps in the lines of a log, in the order of the log."""
    drafts = StepAssembler(warnings)
    for line, action in zip(lines, _parse_actions(lines, warnings), strict=True):
        parsed = action or _parse_message(line, warnings)
        if isinstance(parsed, Action):
            drafts.add_action(line, parsed)
        elif isinstance(parsed, StepText):
            drafts.add_text(line, parsed)
        elif parsed:
            drafts.add_observation(line, parsed)
    return _remove_echoes(drafts.steps)


def _parse_actions(lines: Sequence[Line], warnings: WarningLog) -> list[Action | None]:
    """The action of each structured line. Where the gpt solver acts, others only report what they plan (§3.1)."""
    actions = [parse_event_action(line.event) if is_action(line.event) else None for line in lines]
    sources = [
        line.event.get("source") if action and action.dialect == GPT_SOLVER else None
        for line, action in zip(lines, actions, strict=True)
    ]
    for position, source in enumerate(sources if SOLVER in sources else ()):
        if isinstance(source, str) and source != SOLVER:
            actions[position] = None
            problem = f"is an action of {shorten_json(source)}, not of {SOLVER}; not counted as a step"
            warnings.add(problem, lines[position].number)
    return actions


def _parse_message(line: Line, warnings: WarningLog) -> StepText | ObservationText | None:
    message = line.event.get("message")
    if "message" not in line.event or line.event.get("source") == SUMMARY:
        return None
    if not isinstance(message, str):
        warnings.add(f"its message is {shorten_json(message)}, not a string; ignored", line.number)
        return None
    parsed = read_text(message)
    if parsed is None and quotes_step(message):
        warnings.add("its message only quotes a thought and an action; not counted as a step", line.number)
    return parsed


def _remove_echoes(steps: list[StepBuilder]) -> list[StepBuilder]:
    """In a structured log a text that is logged twice makes no second step; its structured line, logged twice, does."""
    if not any(step.action.is_structured for step in steps):
        return steps
    pairs = pairwise([*steps, None])
    return [step for step, after in pairs if step is not None and not step.is_echoed(after)]


def read_steps(lines: Sequence[Line], warnings: WarningLog) -> tuple[tuple[Step, ...], frozenset[str]]:
    """All steps of a log, also those that only a text records though others have structured lines (Q8); dialects."""
    drafts = draft_steps(lines, warnings)
    _compare_counts(drafts, warnings)
    steps = tuple(_build_step(index, draft, warnings) for index, draft in enumerate(drafts, 1))
    if scale := find_scale(steps):
        steps = tuple(replace(step, target=step.target and step.target.scaled(*scale)) for step in steps)
    return steps, frozenset(draft.action.dialect for draft in drafts)


def _compare_counts(drafts: Sequence[StepBuilder], warnings: WarningLog) -> None:
    structured = sum(draft.action.is_structured for draft in drafts)
    texts = sum(draft.text is not None for draft in drafts)
    alone = len(drafts) - structured
    if structured and texts and (structured != texts or alone):
        rest = f", and {alone} recorded only as text" if alone else ""
        counts = f"{pluralize(structured, 'structured step')} and {pluralize(texts, 'text step')}"
        warnings.add(f"has {counts}; the structured steps count{rest}")


def _build_step(index: int, draft: StepBuilder, warnings: WarningLog) -> Step:
    action, line = draft.action, draft.line.number
    for problem in action.problems:
        warnings.add(problem, line)
    return Step(
        index=index,
        action=action.name,
        raw_action=action.raw_name,
        tool=action.tool,
        arguments=action.arguments,
        thought=action.thought or (draft.text.thought if draft.text else ""),
        url=_read_text_field(draft.line, "url", warnings),
        timestamp=_read_text_field(draft.line, "timestamp", warnings),
        source=_read_text_field(draft.line, "source", warnings),
        observation=draft.observation,
        line=line,
        target=find_target(action.name, action.arguments),
    )


def _read_text_field(line: Line, key: str, warnings: WarningLog) -> str | None:
    raw = line.event.get(key)
    if raw is None or isinstance(raw, str):
        return raw
    warnings.add(f"its {key} is {shorten_json(raw)}, not a string; ignored", line.number)
    return None


_NUMBER = r"(\d{1,6}(?:\.\d{1,20})?)"
_CLICKED = re.compile(rf"I clicked at coordinates \({_NUMBER}, {_NUMBER}\)", re.ASCII)
_LEAST, _MOST = 0.25, 4.0  # a model's picture is not resized by more


def find_scale(steps: Iterable[Step]) -> tuple[float, float] | None:
    """By what the x and the y of actions are multiplied, from the first click that shows it; None if none does."""
    for step in steps:
        clicked = _CLICKED.match(step.observation or "")
        if clicked and step.target and step.target.x and step.target.y:
            scale = float(clicked[1]) / step.target.x, float(clicked[2]) / step.target.y
            if all(_LEAST <= factor <= _MOST for factor in scale):
                return scale
    return None


MIXED, EMPTY = "mixed", "empty"


class Log(Struct, frozen=True):
    """What a log records.

    `dialect` is `fara`, `gpt_solver`, `text`, `mixed` if steps of several kinds are in it, or `empty` if none is.
    """

    dialect: str
    steps: tuple[Step, ...]
    warnings: tuple[str, ...]


def read_log(content: bytes) -> Log:
    """The log in the bytes of its file, whatever they are. Damaged data are ignored or repaired, with a warning."""
    in_lines, in_steps = WarningLog(LOG), WarningLog(LOG)
    lines = read_lines(content, in_lines)
    steps, dialects = read_steps(lines, in_steps)
    if dialects:
        dialect = next(iter(dialects)) if len(dialects) == 1 else MIXED
    else:
        dialect = GPT_SOLVER if any(line.event.get("source") == SUMMARY for line in lines) else EMPTY
    return Log(dialect, steps, (*in_steps.texts, *in_lines.texts))
