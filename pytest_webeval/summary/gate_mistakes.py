"""What is wrong with a text that is not a gate, and what to write instead."""

from __future__ import annotations

import re
from difflib import get_close_matches
from fractions import Fraction

from pytest_webeval.errors import SettingsError
from pytest_webeval.safety.text import truncate
from pytest_webeval.summary.gate_checks import SELECTORS, format_share
from pytest_webeval.summary.regression_gates import LONGEST_NAME

OPTION = "--webeval-gate"
# An example of what comes after the subject of each gate.
_ENDS = {"success": ">= 60%", "attempts": ">= 60%", "errors": "<= 2", "excluded": "<= 5%", "cause": "<= 5%"}
_STATISTICS = ("mean", "median", "p95", "max")
_UNITS = {"cost": ("${}", r"\$[0-9.]+"), "duration": ("{}s", r"[0-9.]+\s*s"), "steps": ("{}", r"[0-9.]+")}
_UNITS["tokens"] = _UNITS["steps"]
_QUANTITIES = {"cost": "<= $0.20", "duration": "<= 120s", "steps": "<= 15", "tokens": "<= 100000"}
_WORDS = (*_ENDS, "must-pass", "no-regression", "complete", "certificate", "audit", "cost", *_STATISTICS)
_AVAILABLE = "success, attempts, errors, excluded, must-pass, no-regression, complete or certificate"
_REPLACED = {
    "no-regressed": "no-regression (formerly beyond noise, now per task)",
    "any-regressed": "no-regression",
    "regression": "'no-regression beyond noise'",
}
_ELSEWHERE = {
    "audit": ("it is about findings of the audit", "run webeval audit RUNS"),
    "none": ("it drops the gates of a file", f"pass {OPTION}=none"),
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
    if word in _ENDS or word in ("cost", *_STATISTICS):
        return _explain_threshold(line, subject, sign, value)
    if word == "must-pass":
        return _explain_ids(line, line.removeprefix(word).strip())
    return _explain_rest(line, word, subject[1:]) if word in _WORDS else _explain_unknown(line, word)


def _explain_unknown(line: str, word: str) -> SettingsError:
    nearest = get_close_matches(word.lower()[:LONGEST_NAME], _WORDS, 1)
    advice = f"did you mean {nearest[0]!r}?" if nearest else f"use {_AVAILABLE}"
    return invalid(line, f"unknown gate {truncate(word, LONGEST_NAME)!r}", advice)


def _explain_ids(line: str, ids: str) -> SettingsError:
    if not ids:
        return invalid(line, "no task", "use e.g. must-pass 12, 107")
    return invalid(line, repr(truncate(ids, LONGEST_NAME)), "separate ids by commas")


def _explain_rest(line: str, word: str, rest: list[str]) -> SettingsError:
    """What comes after a gate without a threshold."""
    if word != "no-regression":
        return invalid(line, "words after the gate", f"use {word}")
    is_noise = rest[-2:] == ["beyond", "noise"]
    rest = rest[:-2] if is_noise else rest
    problem = _find_selector_problem(rest)
    return invalid(line, *(problem or ("not a gate on the baseline", "use e.g. 'no-regression beyond noise'")))


def _explain_threshold(line: str, subject: list[str], sign: str, value: str) -> SettingsError:
    """What is wrong with the subject, the sign or the value of a gate."""
    length, end = _measure_subject(subject)
    start = " ".join(subject[:length])
    if not end:
        return invalid(line, "incomplete", _suggest(subject[0]))
    if not (sign or value) and re.fullmatch(r"\$?[0-9.]+\s*[%s]?", subject[-1]) and length < len(subject):
        return invalid(line, "no sign", f"use '{start} {end.split()[0]} {subject[-1]}'")
    if problem := _find_selector_problem(subject[length:]):
        return invalid(line, *problem)
    expected, example = end.split(maxsplit=1)
    if not sign or not value:
        return invalid(line, "incomplete", f"quote it: {OPTION}='{' '.join(subject)} {end}'")
    if sign != expected:
        kind = "wrong" if sign in (">=", "<=") else "unknown"
        return invalid(line, f"{kind} sign {sign!r}", f"use {expected!r}")
    return _explain_value(line, subject, value, example)


def _suggest(word: str) -> str:
    """A valid gate that begins with a word."""
    examples = {
        "attempts": "attempts 2 of 3 >= 60%",
        "cause": "cause blocked <= 5%",
        "cost": "cost per success <= $0.20",
    }
    return f"use e.g. '{examples.get(word, f'{word} duration <= 120s')}'"


def _measure_subject(subject: list[str]) -> tuple[int, str]:
    """How many words come before the selector, and an example of what comes after it; an empty one if some lack."""
    word, *rest = subject
    if word == "attempts":
        is_complete = len(rest) >= 3 and rest[0].isdigit() and rest[1] == "of" and rest[2].isdigit()
        return 4, _ENDS[word] if is_complete else ""
    if word == "cause":
        return 2, _ENDS[word] if rest else ""
    if word == "cost":
        return 3, _QUANTITIES["cost"] if rest[:2] == ["per", "success"] else ""
    if word in _STATISTICS:
        return 2, _QUANTITIES.get(rest[0], "") if rest else ""
    return 1, _ENDS[word]


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


def _explain_value(line: str, subject: list[str], value: str, example: str) -> SettingsError:
    word = subject[0]
    if word in _ENDS and word != "cause":
        is_rate = word in ("success", "attempts")
        percentage = _as_percentage(value) if is_rate else None
        return invalid(
            line, f"not a {'' if is_rate else 'number or a '}percentage", f"use {percentage or f'e.g. {example}'}"
        )
    measure = "cost" if word == "cost" else subject[1]
    if word != "cause":
        form, pattern = _UNITS.get(measure, _UNITS["steps"])
        if re.fullmatch(r"[0-9.]+", value) and not re.fullmatch(pattern, value):
            return invalid(line, f"{value!r} has no unit", f"use {form.format(value)}")
        if not re.fullmatch(pattern, value):
            return invalid(line, f"not a quantity: {truncate(value, LONGEST_NAME)!r}", f"use e.g. {example}")
    name = "causes" if word == "cause" else measure
    return invalid(line, f"gates on {name} are not available yet", f"use {_AVAILABLE}")


def _as_percentage(value: str) -> str | None:
    """The percentage that a number without a sign probably stands for."""
    if not re.fullmatch(r"[0-9]{1,3}(?:\.[0-9]{1,8})?|\.[0-9]{1,8}", value) or Fraction(value) > 100:
        return None
    number = Fraction(value)
    return format_share(number if number <= 1 else number / 100)
