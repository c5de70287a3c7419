"""Why tasks did not succeed, as a person reads it: evaluator, field, expected, actual; and groups of failures.

Results may have been read from a file, so any value in them may have any type.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_webeval.diagnostics.failure_groups import deciding_assertion, failed_path
from pytest_webeval.reports.rerun import LONGEST_NAME, RerunCommands
from pytest_webeval.reports.tables import count_more, note_part
from pytest_webeval.results import (
    CAPTURE,
    EXTRA,
    MISSING,
    PARTIAL_SCORE,
    SUMMARY,
    UNREADABLE,
    Assertion,
    Difference,
    EvaluatorResult,
    Status,
    TaskResult,
    list_failed,
)
from pytest_webeval.safety.json import get_member
from pytest_webeval.safety.text import ELLIPSIS_WITH_LENGTH, pluralize, preview, sanitize, truncate
from pytest_webeval.tasks.expectations import RESPONSE_EVALUATOR, RUBRIC_EVALUATOR
from pytest_webeval.values.comparison import MAX_PREVIEW

LONGEST_LINE, MOST_LINES = 1_000, 200
MOST_FINDINGS = 10  # about the recording itself: there are fewer kinds of them
MOST_PARAMETERS = 3
SENT = ("query_params.", "post_data", "headers.")  # differences in what a browser sent
_QUERY = "network_event.query_params_mismatch"


def _to_line(text: str) -> str:
    """One line of it, sanitized and as long as anybody reads."""
    return sanitize(truncate(text.replace("\n", " "), LONGEST_LINE, ELLIPSIS_WITH_LENGTH, is_marker_extra=True))


def shortened_lines(text: str) -> str:
    """The last 200 lines of a long text such as a traceback, sanitized."""
    lines = text.splitlines()
    left_out = [f"… {len(lines) - MOST_LINES:,} lines omitted"] if len(lines) > MOST_LINES else []
    return "\n".join([*left_out, *(_to_line(line) for line in lines[-MOST_LINES:])])


def failure_text(result: TaskResult) -> str:
    """The reason in one line, a block for each evaluator with all that went wrong, and findings about the recording.

    Empty for a success.
    """
    if not result.evaluators_results and result.error_msg:
        return "\n".join([_to_line(result.error_msg), *recording_lines(result)])
    blocks = [evaluator_text(each) for each in result.evaluators_results if each.status is not Status.SUCCESS]
    more = _list_notes(result) if blocks else ()
    return "\n".join(dict.fromkeys(filter(None, [reason(result), *blocks, *more])))  # an error is its own reason


def _list_notes(result: TaskResult) -> Iterator[str]:
    """The partial score, the problems of the recording, and what a judge proposes about requests that came near."""
    score = result.webeval.get(PARTIAL_SCORE)
    if isinstance(score, float):  # a file may have anything
        yield f"partial score {score:.2f}, the mean of {pluralize(len(result.evaluators_results), 'evaluation')}"
    yield from recording_lines(result)
    proposals = result.webeval.get("proposals")
    for row in proposals[:MOST_FINDINGS] if isinstance(proposals, list) else ():
        if isinstance(row, Mapping):
            yield from map(_to_line, _format_proposal(row))


def recording_lines(result: TaskResult) -> list[str]:
    """A line for each problem of the recording itself, which is not the fault of the agent."""
    capture = result.webeval.get(CAPTURE)
    findings = capture[:MOST_FINDINGS] if isinstance(capture, list) else ()
    return [_to_line(f"recording: {finding['kind']}: {finding['text']}") for finding in findings]


def _format_proposal(proposal: Mapping[str, Any]) -> Iterator[str]:
    judge = f"judge {proposal['judge']['model']} @ eval[{proposal['index']}]"
    if "problem" in proposal:
        yield f"{judge}: no proposal: {proposal['problem']}"
        return
    word = {True: "accepts", False: "does not accept"}.get(proposal["is_accepted"], "is not sure about")
    yield f"{judge}: {word} the nearest request: {proposal['reasoning']}"
    if proposal["expected"] is not None:
        yield f"  proposed for the task, which decides: {preview(proposal['expected'], MAX_PREVIEW)}"


def evaluator_text(result: EvaluatorResult) -> str:
    """The failures of one evaluator, with the judge that was asked in the session."""
    name, judge = result.evaluator_name, result.actual.get("judge") if isinstance(result.actual, dict) else None
    if result.error_msg:
        return _to_line(f"{name}: {result.error_msg}")
    if isinstance(judge, dict):
        name = f"{name}, by judge {judge.get('model')} ({judge.get('method')} {judge.get('version')})"
    lines: list[str] = []
    for assertion in list_failed(result.assertions):
        messages = (f"    {message}" for message in assertion.assertion_msgs or ())
        lines += map(_to_line, [f"  {assertion.assertion_name}", *messages])
    more = count_more(len(lines), MOST_LINES, "more lines in eval_result.json")
    return "\n".join([_to_line(name), *lines[:MOST_LINES], *more])


def reason(result: TaskResult) -> str | None:
    """The first failure in one line that names the field; None for a success."""
    if result.status is Status.SUCCESS:
        return None
    decisive = deciding_assertion(result)
    return _to_line(result.error_msg or result.status.value if decisive is None else _format_decisive(*decisive))


def _format_decisive(result: EvaluatorResult, assertion: Assertion | None) -> str:
    """The error or the assertion; where that is about a field of the nearest event, with that event.

    Of a query, it has the parameters that differ, rather than all of them twice.
    """
    if assertion is None:
        return f"{result.evaluator_name}: {result.error_msg}"
    text = f"{failed_path(assertion)}: {'; '.join(assertion.assertion_msgs or ())}"
    if assertion.assertion_name == _QUERY and result.explanation is not None:
        found = [each for each in result.explanation.differences if each.path.startswith("query_params.")]
        phrases = [f"network_event.{each.path}: {describe_difference(each)}" for each in found[:MOST_PARAMETERS]]
        text = "; ".join(phrases) or text
    first_failed = list_failed(result.assertions)[0]
    return text if assertion is first_failed else f"{text}; {(first_failed.assertion_msgs or [''])[-1]}"


def describe_difference(difference: Difference, longest: int = MAX_PREVIEW) -> str:
    """A difference in words, with values of some characters."""
    expected, actual = (preview(side, longest) for side in (difference.expected, difference.actual))
    if difference.kind == EXTRA:
        return f"not expected, got {actual}"
    if difference.kind == MISSING:
        return f"expected {expected}, {'not sent' if difference.path.startswith(SENT) else 'missing'}"
    return f"expected {expected}, {'not readable' if difference.kind == UNREADABLE else f'got {actual}'}"


GROUPS_SHOWN, COMMANDS_SHOWN = 5, 3
LONGEST_COMMAND = 300  # characters

Groups = Sequence[Mapping[str, Any]]


def split_known(groups: Groups) -> dict[str, Groups]:
    """The groups of new failures and those of known ones, by their heading; those that are empty are left out."""
    parts = {
        "failures by reason": [group for group in groups if not group.get("known")],
        "known failures by reason": [group for group in groups if group.get("known")],
    }
    return {heading: part for heading, part in parts.items() if part}


def list_known(groups: Groups) -> Iterator[str]:
    """The runs whose failure is known."""
    for group in groups:
        if group.get("known"):
            yield from group["runs"]


def failures(groups: Groups, reruns: RerunCommands, source: str = SUMMARY) -> list[str]:
    """Groups of failures, the largest first, and under each of the largest the command that scores it again.

    `source` is the name of the file with all groups.
    """
    lines: list[str] = []
    for heading, part in split_known(groups).items():
        lines.append(f"{heading}{note_part(GROUPS_SHOWN, len(part), ' kinds')}:")
        for position, group in enumerate(part[:GROUPS_SHOWN]):
            shows_command = position < COMMANDS_SHOWN and not group.get("known")
            lines += _group(group, reruns, source, shows_command=shows_command)
    return [sanitize(line.replace("\n", " ")) for line in lines]


def _group(group: Mapping[str, Any], reruns: RerunCommands, source: str, *, shows_command: bool) -> Iterator[str]:
    runs = group["runs"]
    evaluator = truncate(group["evaluator"].removesuffix("Evaluator"), LONGEST_NAME)
    kind = f"{evaluator}: {group['text']}" if evaluator else group["text"]
    line = f"  {group['count']:>5}  {kind}: {reruns.name_tasks(runs)}"
    if not shows_command:
        yield line
        return
    rerun = reruns.command(runs, LONGEST_COMMAND)
    coverage = f"first {rerun.named} of {rerun.of}; all of them: webeval.failures in {source}"
    yield line if rerun.named == rerun.of else f"{line} ({coverage})"
    yield f"         {rerun.command}"


LONGEST_VALUE = 2_000  # characters of an expected or an actual value


def answer_text(result: TaskResult, longest: int) -> str | None:
    """What the agent answered, at most that many characters; None where nobody read an answer."""
    answers = (_find_answer(part.evaluator_name, part.actual) for part in result.evaluators_results)
    answer = next((found for found in answers if found is not None), None)
    if answer is None:
        answer = get_member(result.webeval.get("trajectory"), "answer")
    if answer is None:
        return None
    return _bound(answer if isinstance(answer, str) else _to_json(answer), longest)


def differences_text(result: TaskResult, longest: int) -> str | None:
    """Each difference with both values, at most that many characters; None where no evaluator lists any."""
    lines: list[str] = []
    for part in result.evaluators_results:
        differences = part.explanation.differences if part.explanation is not None else []
        lines += [part.evaluator_name] if differences else []
        for difference in differences:
            lines.append(f"  {difference.path}: {difference.kind}")
            if difference.kind != EXTRA:
                lines.append(f"    expected {preview(difference.expected, LONGEST_VALUE)}")
            if difference.kind != MISSING:
                lines.append(f"    got      {preview(difference.actual, LONGEST_VALUE)}")
    return _bound("\n".join(lines), longest) if lines else None


def _find_answer(evaluator: str, actual: Any) -> Any:
    if evaluator == RUBRIC_EVALUATOR:
        return get_member(actual, "final_answer")
    return actual if evaluator == RESPONSE_EVALUATOR else None


def _to_json(value: Any) -> str:
    try:
        return json.dumps(value, indent=2, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return preview(value, LONGEST_VALUE)


def _bound(text: str, longest: int) -> str:
    """The beginning of a text, sanitized."""
    return truncate(sanitize(text[: longest + 1].replace("\r\n", "\n")), longest)
