"""Gates: what a session must reach, as one line each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from fractions import Fraction
from functools import partial

from msgspec import Struct, structs

from pytest_webeval.errors import SettingsError
from pytest_webeval.safety.text import pluralize, truncate
from pytest_webeval.summary.comparison.baseline import OPTION
from pytest_webeval.summary.comparison.gate_checks import (
    ERROR,
    EXCLUDED,
    LONGEST_NAME,
    NO_COMMON_TASK,
    SELECTORS,
    CheckResult,
    GateCase,
    GateResult,
    Selector,
    check_attempts,
    check_certificate,
    check_complete,
    check_count,
    check_must_pass,
    check_regression,
    check_success,
    explain_powerless,
    format_share,
    name_tasks,
)
from pytest_webeval.summary.scored_session import ScoredRun, ScoredSession

KEY = "webeval_gate"
COMPLETE, CERTIFICATE, NONE = "complete", "certificate", "none"
SYNTAX = (
    "success >= 60%",
    "success site shopping >= 50%",
    "attempts 2 of 3 >= 60%",
    "errors <= 2",
    "excluded <= 5%",
    COMPLETE,
    "must-pass 12, 107",
    "no-regression",
    "no-regression tag smoke beyond noise",
    CERTIFICATE,
)


class Gate(Struct, frozen=True):
    """A gate as it was written. A typed one stands on the command line, another in the configuration file."""

    text: str
    wanted: str
    check: Callable[[GateCase], CheckResult]
    selector: Selector = Selector()
    needs_baseline: bool = False
    is_beyond_noise: bool = False
    is_typed: bool = True

    def evaluate(self, case: GateCase) -> GateResult:
        """The line about the gate."""
        found, passed = self.check(case)
        if passed and case.session.partial:
            found, passed = f"{found}; a partial session", False
        return GateResult(self.text, self.wanted, found, passed)

    def find_solved(self, runs: Iterable[ScoredRun], attempts: str | None) -> list[ScoredRun]:
        """The successes of a baseline that the gate is about."""
        return [run for run in self.selector.select(runs, attempts) if run.is_success]

    def explain_powerless(self, solved: int) -> str | None:
        """Why a gate on noise cannot fail if the baseline solved so many of the tasks; None if it can."""
        problem = explain_powerless(solved) if self.is_beyond_noise else None
        return f"gate {self.text!r} cannot fail: {problem}; use no-regression" if problem else None


_NAME = r""""[^"]+"|'[^']+'|[^\s"'<>=!≤≥][^\s<>=!≤≥]*"""
_SELECTOR = rf"(?:\s+(?P<kind>{'|'.join(SELECTORS)})\s+(?P<name>{_NAME}))?"
_PERCENT = r"(?P<percent>[0-9]{1,3}(?:\.[0-9]{1,12})?)\s*%"
_TASK = r"""\s*("[^"]+"|'[^']+'|[^\s,"'][^\s,]*)\s*"""


def parse_gate(text: str, *, is_typed: bool = True) -> Gate:
    """The gate that a text stands for. Raises `SettingsError` that names the mistake."""
    line = text.strip()
    for pattern, build in _FORMS.items():
        if match := pattern.fullmatch(line):
            return structs.replace(build(line, match, _read_selector(match)), is_typed=is_typed)
    raise explain_mistake(line)


def join_gates(configured: Sequence[str], typed: Sequence[str]) -> tuple[Gate, ...]:
    """The gates of the configuration file, unless the word `none` drops them, and of the command line, each once.

    Raises `SettingsError`.
    """
    gates = [] if NONE in typed else [_parse_configured(text) for text in configured]
    gates += [parse_gate(text) for text in typed if text != NONE]
    return tuple({gate.text: gate for gate in gates}.values())


def _parse_configured(text: str) -> Gate:
    try:
        return parse_gate(text, is_typed=False)
    except SettingsError as error:
        raise SettingsError(f"{KEY}: {error}") from error


def find_baseline_problem(
    gates: Iterable[Gate], baseline: ScoredSession, attempts: str | None, task_ids: Iterable[str] | None = None
) -> str | None:
    """Why a baseline cannot serve for a session with some tasks, or without them for any session; None if it can.

    Not more of the ids are read than needed.
    """
    powered = [gate for gate in gates if gate.is_beyond_noise and not gate.selector.is_unmet(baseline.runs, attempts)]
    solved = [(gate, _list_ids(gate.find_solved(baseline.runs, attempts))) for gate in powered]
    if task_ids is None:
        return next(filter(None, (gate.explain_powerless(len(ids)) for gate, ids in solved)), None)
    known, common, task_id = _list_ids(baseline.runs), set[str](), None
    for task_id in task_ids:
        if task_id in known:
            common.add(task_id)
            solved = [(gate, ids) for gate, ids in solved if gate.explain_powerless(len(ids & common))]
            if not solved:
                return None
    if common:
        gate, ids = solved[0]
        return gate.explain_powerless(len(ids & common))
    return None if task_id is None else f"{OPTION}: {NO_COMMON_TASK}"


def _list_ids(runs: Iterable[ScoredRun]) -> set[str]:
    return {str(run.task_id) for run in runs}


def _read_share(line: str, match: re.Match[str]) -> Fraction:
    share = Fraction(match["percent"]) / 100
    if share > 1:
        raise invalid(line, f"{match['percent']}% is more than 100%", "use e.g. 60%")
    return share


def _read_selector(match: re.Match[str]) -> Selector:
    groups = match.groupdict()
    return Selector(groups["kind"], _unquote(groups["name"])) if groups.get("kind") else Selector()


def _unquote(name: str) -> str:
    return name[1:-1] if name[0] in "\"'" and len(name) > 1 and name[-1] == name[0] else name


def _about(selector: Selector) -> str:
    return f" for {selector}" if selector.kind else ""


def _build_success(line: str, match: re.Match[str], selector: Selector) -> Gate:
    least = _read_share(line, match)
    wanted = f"at least {format_share(least)} success{_about(selector)}"
    return Gate(line, wanted, partial(check_success, selector=selector, least=least), selector)


def _build_attempts(line: str, match: re.Match[str], selector: Selector) -> Gate:
    needed, tries, least = int(match["needed"]), int(match["tries"]), _read_share(line, match)
    if not 0 < needed <= tries:
        raise invalid(line, f"{needed} of {tries} attempts", "use e.g. 2 of 3")
    tasks = f"{format_share(least)} of the tasks{_about(selector)}"
    check = partial(check_attempts, selector=selector, needed=needed, tries=tries, least=least)
    return Gate(line, f"at least {tasks} with {needed} successes of {tries} attempts", check, selector)


def _build_count(line: str, match: re.Match[str], selector: Selector) -> Gate:
    most = int(match["count"]) if match["count"] else _read_share(line, match)
    noun = ERROR if match["what"] == "errors" else EXCLUDED
    amount = pluralize(most, noun) if isinstance(most, int) else f"{format_share(most)} {noun}s"
    return Gate(
        line,
        f"at most {amount}{_about(selector)}",
        partial(check_count, selector=selector, noun=noun, most=most),
        selector,
    )


def _build_must_pass(line: str, match: re.Match[str], _: Selector) -> Gate:
    ids = [_unquote(task_id) for task_id in re.findall(_TASK, match["ids"])]
    return Gate(line, f"success of {pluralize(len(ids), 'task')}{name_tasks(ids)}", partial(check_must_pass, ids=ids))


def _build_regression(line: str, match: re.Match[str], selector: Selector) -> Gate:
    is_beyond_noise = match["noise"] is not None
    check = partial(check_regression, selector=selector, is_beyond_noise=is_beyond_noise)
    wanted = f"{'no regression beyond noise' if is_beyond_noise else 'no task regressed'}{_about(selector)}"
    return Gate(line, wanted, check, selector, needs_baseline=True, is_beyond_noise=is_beyond_noise)


def _build_complete(line: str, *_: object) -> Gate:
    return Gate(line, "a result of each run, a run of each task", check_complete)


def _build_certificate(line: str, *_: object) -> Gate:
    return Gate(line, "a certificate that is valid for the judge", check_certificate)


_ATTEMPTS = r"(?P<needed>[0-9]{1,4})\s+of\s+(?P<tries>[0-9]{1,4})"
_FORMS: Mapping[re.Pattern[str], Callable[[str, re.Match[str], Selector], Gate]] = {
    re.compile(pattern): build
    for pattern, build in (
        (rf"success{_SELECTOR}\s*>=\s*{_PERCENT}", _build_success),
        (rf"attempts\s+{_ATTEMPTS}{_SELECTOR}\s*>=\s*{_PERCENT}", _build_attempts),
        (rf"(?P<what>errors|excluded){_SELECTOR}\s*<=\s*(?:(?P<count>[0-9]{{1,9}})|{_PERCENT})", _build_count),
        (rf"must-pass\s(?P<ids>{_TASK}(?:,{_TASK})*)", _build_must_pass),
        (rf"no-regression{_SELECTOR}(?P<noise>\s+beyond\s+noise)?", _build_regression),
        (COMPLETE, _build_complete),
        (CERTIFICATE, _build_certificate),
    )
}


_OPTION = "--webeval-gate"
# An example of what comes after the subject of each gate with a threshold.
_ENDS = {"success": ">= 60%", "attempts": ">= 60%", "errors": "<= 2", "excluded": "<= 5%"}
_MEASURES = ("cost", "duration", "steps", "tokens")
_NOT_YET = ("cause", "cost", "mean", "median", "p95", "max")  # words with which other gates may begin one day
_WORDS = (*_ENDS, "must-pass", "no-regression", "complete", "certificate", "audit", *_NOT_YET)
_AVAILABLE = "success, attempts, errors, excluded, must-pass, no-regression, complete or certificate"
_REPLACED = {
    "no-regressed": "no-regression (formerly beyond noise, now per task)",
    "any-regressed": "no-regression",
    "regression": "'no-regression beyond noise'",
}
_ELSEWHERE = {
    "audit": ("it is about findings of the audit", "run webeval audit RUNS"),
    "none": ("it drops the gates of a file", f"pass {_OPTION}=none"),
}
_SIGN = re.compile(r"""((?:"[^"]*"|[^<>=!≤≥"])*)([<>=!≤≥]+)?(.*)""", re.DOTALL)


def invalid(line: str, problem: str, advice: str) -> SettingsError:
    """The error for a gate."""
    about = f": {problem}" if problem else ""
    return SettingsError(f"invalid gate {truncate(line, LONGEST_NAME)!r}{about}; {advice}")


def explain_mistake(line: str) -> SettingsError:
    """The error for a text that is not a gate."""
    match = _SIGN.fullmatch(line)
    head, sign, value = (part or "" for part in match.groups()) if match else (line, "", "")
    subject, value = re.findall(r'"[^"]*"|\S+', head), value.strip()
    word = subject[0] if subject else ""
    if word in _REPLACED:
        return invalid(line, "", f"use {_REPLACED[word]}")
    if word in _ELSEWHERE:
        return invalid(line, *_ELSEWHERE[word])
    if word in _NOT_YET:
        measure = next((name for name in (*subject[1:2], word) if name in _MEASURES), word)
        return invalid(line, f"gates on {measure} are not available yet", f"use {_AVAILABLE}")
    if word in _ENDS:
        return _explain_threshold(line, subject, sign, value)
    if word == "must-pass":
        ids = line.removeprefix(word).strip()
        advice = "separate ids by commas" if ids else "use e.g. must-pass 12, 107"
        return invalid(line, repr(truncate(ids, LONGEST_NAME)) if ids else "no task", advice)
    return _explain_rest(line, word, subject[1:]) if word in _WORDS else _explain_unknown(line, word)


def _explain_unknown(line: str, word: str) -> SettingsError:
    nearest = get_close_matches(word.lower()[:LONGEST_NAME], _WORDS, 1)
    advice = f"did you mean {nearest[0]!r}?" if nearest else f"use {_AVAILABLE}"
    return invalid(line, f"unknown gate {truncate(word, LONGEST_NAME)!r}", advice)


def _explain_rest(line: str, word: str, rest: list[str]) -> SettingsError:
    """What comes after a gate without a threshold."""
    if word != "no-regression":
        return invalid(line, "words after the gate", f"use {word}")
    problem = _find_selector_problem(rest[:-2] if rest[-2:] == ["beyond", "noise"] else rest)
    return invalid(line, *(problem or ("not a gate on the baseline", "use e.g. 'no-regression beyond noise'")))


def _explain_threshold(line: str, subject: list[str], sign: str, value: str) -> SettingsError:
    """What is wrong with the subject, the sign or the value of a gate."""
    word, *rest = subject
    length = 4 if word == "attempts" else 1
    if word == "attempts" and not re.fullmatch(r"[0-9]+ of [0-9]+", " ".join(rest[:3])):
        return invalid(line, "incomplete", "use e.g. 'attempts 2 of 3 >= 60%'")
    expected, example = _ENDS[word].split()
    if not (sign or value) and re.fullmatch(r"[0-9.]+\s*%?", subject[-1]) and length < len(subject):
        return invalid(line, "no sign", f"use '{' '.join(subject[:length])} {expected} {subject[-1]}'")
    if of_selector := _find_selector_problem(subject[length:]):
        return invalid(line, *of_selector)
    if not sign or not value:
        return invalid(line, "incomplete", f"quote it: {_OPTION}='{' '.join(subject)} {expected} {example}'")
    if sign != expected:
        kind = "wrong" if sign in (">=", "<=") else "unknown"
        return invalid(line, f"{kind} sign {sign!r}", f"use {expected!r}")
    is_rate = expected == ">="
    percentage = _as_percentage(value) if is_rate else None
    problem = f"not a {'' if is_rate else 'number or a '}percentage"
    return invalid(line, problem, f"use {percentage or f'e.g. {example}'}")


def _find_selector_problem(words: list[str]) -> tuple[str, str] | None:
    """What is wrong with the words of a selector, and what to do; None without a problem."""
    if not words:
        return None
    kind, *names = words
    if kind not in SELECTORS:
        nearest = get_close_matches(kind.lower()[:LONGEST_NAME], SELECTORS, 1, 0.7)
        known = f"{', '.join([*SELECTORS][:-1])} or {[*SELECTORS][-1]}"
        advice = f"did you mean {nearest[0]!r}?" if nearest else f"use {known}"
        return f"unknown selector {truncate(kind, LONGEST_NAME)!r}", advice
    if not names:
        return f"no name of the {kind}", f"use e.g. {kind} NAME"
    if len(names) > 1:
        return "a name with blanks", f'use {kind} "{truncate(" ".join(names), LONGEST_NAME)}"'
    return None


def _as_percentage(value: str) -> str | None:
    """The percentage that a number without a sign probably stands for."""
    if not re.fullmatch(r"[0-9]{1,3}(?:\.[0-9]{1,8})?|\.[0-9]{1,8}", value) or Fraction(value) > 100:
        return None
    number = Fraction(value)
    return format_share(number if number <= 1 else number / 100)
