"""Gates: what a session must reach, as one line each, and whether it does."""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from msgspec import Struct
from msgspec import structs

from pytest_webeval.errors import SettingsError
from pytest_webeval.safety.text import pluralize
from pytest_webeval.safety.text import truncate
from pytest_webeval.summary.attempts import name_attempt
from pytest_webeval.summary.attempts import reaches
from pytest_webeval.summary.regression_gates import LONGEST_NAME
from pytest_webeval.summary.regression_gates import check_beyond_noise
from pytest_webeval.summary.regression_gates import check_each_task
from pytest_webeval.summary.regression_gates import name_tasks
from pytest_webeval.summary.scored_session import ScoredRun
from pytest_webeval.summary.scored_session import ScoredSession
from pytest_webeval.summary.scored_session import compute_rate_interval
from pytest_webeval.summary.scored_session import count_successes
from pytest_webeval.summary.scored_session import group_by_task
from pytest_webeval.summary.scored_session import group_runs
from pytest_webeval.summary.session_comparison import SessionComparison
from pytest_webeval.summary.task_identity import TaskKey
from pytest_webeval.summary.task_identity import TaskKeys
from pytest_webeval.summary.task_identity import count_tasks
from pytest_webeval.summary.task_identity import describe_sample

FAIL_ON = ("failure", "regression", "any-regressed", "none")
NO_REGRESSION, NO_REGRESSED, COMPLETE = "no-regression", "no-regressed", "complete"
_GATES_OF_FAIL_ON = {"regression": (NO_REGRESSION,), "any-regressed": (NO_REGRESSED,)}


class GateResult(Struct, frozen=True):
    """A line about a gate: what was wanted, what was found, and whether it holds."""

    gate: str
    wanted: str
    found: str
    passed: bool

    def to_json(self) -> dict[str, Any]:
        """The same in plain JSON."""
        return structs.asdict(self)


class GateCase(Struct, frozen=True):
    """What gates check: a session, its comparison with a baseline, and the tasks that should have been scored."""

    session: ScoredSession
    comparison: SessionComparison | None = None
    missing: Sequence[int | str] = ()  # expected tasks without a verdict
    attempts: str | None = None  # a pattern of the directories with one attempt each
    is_first: bool = False  # whether there is no baseline because this session becomes it


Check = Callable[[GateCase], tuple[str, bool]]  # what was found, and whether that holds


class Gate(Struct, frozen=True):
    """A gate as it was written."""

    text: str
    wanted: str
    check: Check
    needs_baseline: bool = False

    def evaluate(self, case: GateCase) -> GateResult:
        """The line about the gate."""
        found, passed = self.check(case)
        return GateResult(self.text, self.wanted, found, passed)


SYNTAX = (
    "success >= 60%",
    "success site shopping >= 50%",
    "success type retrieve >= 50%",
    "success template 270 >= 50%",
    "success tag smoke >= 90%",
    "attempts 2 of 3 >= 60%",
    "errors <= 2",
    COMPLETE,
    "must-pass 12, 107",
    NO_REGRESSION,
    NO_REGRESSED,
)
_PERCENT = r"([0-9]{1,3}(?:\.[0-9]{1,12})?)\s*%"
_SELECTORS: dict[str, Callable[[ScoredRun], Sequence[str]]] = {
    "site": lambda run: (run.site_key,),
    "type": lambda run: ((run.type or "").lower(),),
    "template": lambda run: (str(run.template),),
    "tag": lambda run: run.tags,
}
_SUCCESS = re.compile(rf"success(?:\s+({'|'.join(_SELECTORS)})\s+(\S.*?))?\s*>=\s*{_PERCENT}")
_ATTEMPTS = re.compile(rf"attempts\s+([0-9]{{1,4}})\s+of\s+([0-9]{{1,4}})\s*>=\s*{_PERCENT}")
_ERRORS = re.compile(r"errors\s*<=\s*([0-9]{1,9})")
_MUST_PASS = re.compile(r"must-pass\s+(\S.*)")


def parse_gate(text: str) -> Gate:
    """The gate that a text stands for. Raises `SettingsError` that shows the valid forms."""
    line = " ".join(text.split())
    for pattern, build in _FORMS:
        if match := pattern.fullmatch(line):
            gate = build(line, match)
            if gate is not None:
                return gate
    raise SettingsError(f"invalid gate {truncate(line, LONGEST_NAME)!r}; use e.g. {', '.join(map(repr, SYNTAX))}")


def parse_percentage(text: str) -> Fraction | None:
    """The share of a text such as `60%` or `0.6`; None for anything else."""
    match = re.fullmatch(_PERCENT, text.strip())
    if match:
        return _share(match[1])
    is_fraction = re.fullmatch(r"[01](?:\.[0-9]{1,8})?|\.[0-9]{1,8}", text.strip())
    return Fraction(text.strip()) if is_fraction and Fraction(text.strip()) <= 1 else None


def build_gates(written: Iterable[Gate], min_success: Fraction | None = None, fail_on: str = FAIL_ON[0]) -> list[Gate]:
    """The gates of the options, each once."""
    short = [f"success >= {_format_share(min_success)}"] if min_success is not None else []
    gates = [*written, *map(parse_gate, (*short, *_GATES_OF_FAIL_ON.get(fail_on, ())))]
    return list({gate.text: gate for gate in gates}.values())


def _share(percent: str) -> Fraction | None:
    share = Fraction(percent) / 100
    return share if share <= 1 else None


def _format_share(share: Fraction) -> str:
    """The exact percentage, which is a decimal number."""
    percent = 100 * share
    return f"{(Decimal(percent.numerator) / percent.denominator).normalize():f}%"


def _build_success(text: str, match: re.Match[str]) -> Gate | None:
    kind, name, least = match[1], match[2], _share(match[3])
    if least is None:
        return None
    wanted = f"at least {_format_share(least)} success" + (f" for {kind} {name}" if kind else "")
    wanted_name = name.lower() if kind == "type" else name

    def check(case: GateCase) -> tuple[str, bool]:
        runs = [run for run in case.session.judged if not kind or wanted_name in _SELECTORS[kind](run)]
        if not runs:
            return f"no judged run{_name_known(case.session, kind)}", False
        successes = count_successes(runs)
        low, high = compute_rate_interval(runs)
        rate = Fraction(successes, len(runs))
        interval = f"95% interval {low:.1%} to {high:.1%}{describe_sample(count_tasks(runs), len(runs))}"
        found = f"{float(rate):.1%} ({successes} of {len(runs)}; {interval})"
        return found, rate >= least

    return Gate(text, wanted, check)


def _name_known(session: ScoredSession, kind: str | None) -> str:
    """The names that a gate could have, if there are any."""
    names = sorted({name for run in session.judged for name in _SELECTORS[kind](run) if name}) if kind else []
    return f"; known{name_tasks(names)}" if names else ""


def _build_attempts(text: str, match: re.Match[str]) -> Gate | None:
    needed, tries, least = int(match[1]), int(match[2]), _share(match[3])
    if least is None or not 0 < needed <= tries:
        return None
    wanted = f"at least {_format_share(least)} of the tasks with {needed} successes of {tries} attempts"

    def check(case: GateCase) -> tuple[str, bool]:
        found, passed = [], True
        for agent, by_task in _group_by_agent(case).items():
            fewer = sum(len(runs) < tries for runs in by_task.values())
            successes = sum(_reaches(runs, needed, tries) for runs in by_task.values())
            passed = passed and Fraction(successes, len(by_task)) >= least
            found.append(_format_attempts(agent, successes, len(by_task), fewer))
        return "; ".join(found) or "no judged run", passed and bool(found)

    return Gate(text, wanted, check)


def _reaches(runs: Sequence[ScoredRun], needed: int, tries: int) -> bool:
    return reaches(count_successes(runs), len(runs), needed, tries)


def _group_by_agent(case: GateCase) -> dict[str, dict[TaskKey, list[ScoredRun]]]:
    """The judged runs by agent and task."""
    agents = group_runs(case.session.judged, lambda run: name_attempt(run.attempt, case.attempts).agent)
    keys = TaskKeys(case.session.runs)
    return {agent: group_by_task(runs, keys) for agent, runs in sorted(agents.items())}


def _format_attempts(agent: str, successes: int, tasks: int, fewer: int) -> str:
    head = f"{truncate(agent, LONGEST_NAME)}: " if agent else ""
    note = f"; {pluralize(fewer, 'task')} with fewer attempts" if fewer else ""
    return f"{head}{successes / tasks:.1%} ({successes} of {pluralize(tasks, 'task')}{note})"


def _build_errors(text: str, match: re.Match[str]) -> Gate:
    most = int(match[1])

    def check(case: GateCase) -> tuple[str, bool]:
        erring = [run.task_id for run in case.session.runs if run.status == "error"]
        tasks = list(dict.fromkeys(erring))
        place = f" in {pluralize(len(tasks), 'task')}" if len(tasks) < len(erring) else ""
        return pluralize(len(erring), "error") + place + name_tasks(tasks), len(erring) <= most

    return Gate(text, f"at most {pluralize(most, 'error')}", check)


def _build_complete(text: str, match: re.Match[str]) -> Gate:  # noqa: ARG001  (the signature of all forms)
    def check(case: GateCase) -> tuple[str, bool]:
        missing = list(case.missing)
        if missing:
            return f"{pluralize(len(missing), 'task')} without a verdict{name_tasks(missing)}", False
        if case.session.partial:
            return "a partial session", False
        return f"{pluralize(len(case.session.runs), 'run')} scored", True

    return Gate(text, "all expected tasks scored", check)


def _build_must_pass(text: str, match: re.Match[str]) -> Gate | None:
    ids = [task_id.strip() for task_id in match[1].split(",")]
    if not all(ids) or any(" " in task_id for task_id in ids):  # a comma was forgotten
        return None

    def check(case: GateCase) -> tuple[str, bool]:
        by_id = group_runs(case.session.runs, lambda run: str(run.task_id))
        failed = [task_id for task_id in ids if not _all_succeed(by_id.get(task_id, ()))]
        solved = f"{len(ids) - len(failed)} of {pluralize(len(ids), 'task')} solved"
        return solved + (f"; not solved{name_tasks(failed)}" if failed else ""), not failed

    return Gate(text, f"success of {pluralize(len(ids), 'task')}{name_tasks(ids)}", check)


def _all_succeed(runs: Sequence[ScoredRun]) -> bool:
    return bool(runs) and all(run.is_success for run in runs)


def _build_no_regression(text: str, match: re.Match[str]) -> Gate:  # noqa: ARG001  (same)
    def check(case: GateCase) -> tuple[str, bool]:
        if case.comparison is None:
            return _without_baseline(case)
        return check_beyond_noise(case.comparison)

    return Gate(text, "no regression beyond noise", check, needs_baseline=True)


def _build_no_regressed(text: str, match: re.Match[str]) -> Gate:  # noqa: ARG001  (same)
    def check(case: GateCase) -> tuple[str, bool]:
        if case.comparison is None:
            return _without_baseline(case)
        return check_each_task(case.comparison)

    return Gate(text, "no task regressed", check, needs_baseline=True)


def _without_baseline(case: GateCase) -> tuple[str, bool]:
    return ("no baseline yet: this session becomes it", True) if case.is_first else ("no baseline", False)


_FORMS: Sequence[tuple[re.Pattern[str], Callable[[str, re.Match[str]], Gate | None]]] = (
    (_SUCCESS, _build_success),
    (_ATTEMPTS, _build_attempts),
    (_ERRORS, _build_errors),
    (re.compile(COMPLETE), _build_complete),
    (_MUST_PASS, _build_must_pass),
    (re.compile(NO_REGRESSION), _build_no_regression),
    (re.compile(NO_REGRESSED), _build_no_regressed),
)
