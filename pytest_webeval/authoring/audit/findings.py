"""What an audit finds in a task: trials whose verdict is not the one that their making demands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from pytest_webeval.authoring.volatility import hide_secrets
from pytest_webeval.safety.text import list_first


class Kind(Struct, frozen=True):
    """A kind of finding: what it says, with the field in it, and what to do. Notes decide nothing.

    A trial shows it by passing; if it `must_pass`, by failing.
    """

    problem: str
    advice: str
    is_note: bool = False
    must_pass: bool = False


NOT_AUDITED = "not_audited"
NO_PASSING_RUN = "no_passing_run"
# Finding kinds are stable names: other programs read them.
KINDS = {
    "passes_without_work": Kind(
        "an agent passes that does nothing but answer", "require a request that only the work makes"
    ),
    "commonest_answer_passes": Kind(
        "the answer that several tasks expect passes", "require a request that only the work makes"
    ),
    "start_page_passes": Kind(
        "the right answer passes with the start page alone, though requests are expected",
        "expect a request that an agent has to make",
    ),
    "empty_trace_passes": Kind(
        "the right answer passes with an empty trace, though requests are checked", "use --webeval-rules=default"
    ),
    "other_run_passes": Kind("the recording of another task passes", "expect what only this task asks for"),
    "dropped_request_passes": Kind(
        "a run passes without the request that {field} expects", "narrow the URL, or expect another request"
    ),
    "broken_run_passes": Kind("a broken run passes", "expect the last page, or narrow the URL"),
    "forbidden_request_passes": Kind(
        "a run passes with a request that {field} forbids", "correct the URL, the method or the response status"
    ),
    "unchecked_field": Kind("a run with another {field} passes", "expect the value of {field}"),
    "wrong_answer_passes": Kind("a wrong answer passes at {field}", "narrow the pattern, or choose a stricter type"),
    "equal_answer_fails": Kind(
        "an answer that means the same fails at {field}",
        "choose the type of the value in results_schema",
        must_pass=True,
    ),
    "unordered_answer_fails": Kind(
        "the same items in another order fail at {field}", "list the items once each", must_pass=True
    ),
    "redundant_expectation": Kind(
        "{field} decides nothing: whatever fails it fails another expectation as well", "remove or narrow it"
    ),
    "unpassable": Kind("nothing can pass", "correct the definition"),
    "invalid_definition": Kind("the definition is invalid", "correct it"),
    "incidental_field": Kind("a run with another {field} passes", "expect it if it matters", is_note=True),
    "repeated_request_passes": Kind(
        "a run passes that makes the request of {field} twice", "check the result if that matters", is_note=True
    ),
    "side_effect_passes": Kind(
        "a run passes that changes something else as well", "forbid such requests if that matters", is_note=True
    ),
    "stray_page_passes": Kind(
        "a run passes that leaves the site's page afterwards", "check the last page if that matters", is_note=True
    ),
    "any_order_of_requests": Kind(
        "a run passes with its requests in another order", "accept it unless the order matters", is_note=True
    ),
    NO_PASSING_RUN: Kind("none of its runs passes", "add a golden run, for mutants are made of those", is_note=True),
    NOT_AUDITED: Kind(
        "not all was checked", "audit with the evaluator that it names, or with a longer timeout", is_note=True
    ),
    "untested_prohibition": Kind(
        "no recording has a request that {field} forbids, and none could be made of its pattern",
        "add a run that makes one",
        is_note=True,
    ),
}
MOST_MUTANTS = 5  # of one finding that its line names


class Finding(Struct, frozen=True):
    """One thing that is wrong with a task, with the names of all mutants or baselines that show it."""

    task_id: int | str
    kind: str
    evaluator: str
    field: str
    mutants: tuple[str, ...]
    detail: str = ""

    @property
    def is_note(self) -> bool:
        """Whether it decides nothing."""
        return KINDS[self.kind].is_note

    @property
    def text(self) -> str:
        """One sentence, with what to do."""
        kind, place = KINDS[self.kind], self.field or "it"
        cause = "; ".join(filter(None, [list_first(self.mutants, MOST_MUTANTS), self.detail]))
        problem, advice = (text.replace("{field}", place) for text in (kind.problem, kind.advice))
        return hide_secrets(f"{problem} ({cause}); {advice}" if cause else f"{problem}; {advice}")

    def to_json(self) -> dict[str, Any]:
        return {
            "task_id": self.task_id,
            "kind": self.kind,
            "evaluator": self.evaluator,
            "field": self.field,
            "mutants": list(map(hide_secrets, self.mutants)),
            "text": self.text,
        }


class TaskAudit(Struct, frozen=True):
    """The audit of one task: how many trials were made, and what they show."""

    task_id: int | str
    trials: int
    findings: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    runs: tuple[str, ...] = ()

    @property
    def unfinished(self) -> tuple[Finding, ...]:
        """The note that its time was over before everything was tried, if it was."""
        return tuple(note for note in self.notes if note.kind == NOT_AUDITED and not note.evaluator)

    def to_json(self) -> dict[str, Any]:
        return {
            "task_id": self.task_id,
            "trials": self.trials,
            "runs": list(self.runs),
            "findings": [finding.to_json() for finding in self.findings],
            "notes": [note.to_json() for note in self.notes],
        }


def merge_findings(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for each kind, evaluator and field, in the order of the table of kinds."""
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.kind, finding.evaluator, finding.field), []).append(finding)
    order, merged = list(KINDS), []
    for kind, evaluator, field in sorted(groups, key=lambda key: (order.index(key[0]), key[2], key[1])):
        group = groups[kind, evaluator, field]
        mutants = tuple(dict.fromkeys(name for finding in group for name in finding.mutants))
        detail = next((finding.detail for finding in group if finding.detail), "")
        merged.append(Finding(group[0].task_id, kind, evaluator, field, mutants, detail))
    return merged
