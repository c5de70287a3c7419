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
        return invalid(line, "incomplete", f"quote it: {OPTION}='{' '.join(subject)} {expected} {example}'")
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
