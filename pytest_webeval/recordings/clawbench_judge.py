"""What the judges of ClawBench stored about a run, with the verdict read again from the reply.

PyPI `clawbench-eval` 0.11.0 (GitHub `reacher-z/ClawBench`): `runner/judge.py` is the strict judge, whose verdict
`runner/run.py` writes to `judge.json`, with a copy in `run-meta.json`. `runner/judge_llm.py` is the lenient one, whose
verdict `eval/rescore.py` writes to `judge_llm.json` afterwards, with no more than 500 characters of the reply; it also
writes `judge.json` again, then with a `rubric`. Each judge looks at the intercepted request alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pytest_webeval.recordings.recorded_files import JsonFields
from pytest_webeval.recordings.trajectory.recorded import Judgement
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from pytest_webeval.safety.text import shorten_repr

STRICT, LENIENT = "judge.json", "judge_llm.json"
MOST_REASON = 300  # characters in a message
MOST_LENIENT = 500  # characters of a lenient judge's reply that are stored
_YES, _NO = ("true", "yes", "pass", "match"), ("false", "no", "fail", "mismatch")  # `_coerce_match`
_AFTER_TRUE, _AFTER_MATCH = 30, 80  # characters in which the writers look for the other word
_FENCE = "```"


def read_judge(fields: JsonFields, source: str, *, is_lenient: bool) -> Judgement:
    """The judgement in a file. Raises `UnreadableTrajectory` for one without a verdict, or with a damaged reply."""
    success = fields.raw.get("match")
    if "match" not in fields or not isinstance(success, bool | None):
        problem = f"{source} has {shorten_repr(success)} as match, expected true, false or null"
        raise UnreadableTrajectory("score_unreadable", f"{problem}; judge the run again")
    if not isinstance(fields.raw.get("raw"), str | None):
        problem = f"{source} has {shorten_repr(fields.raw['raw'])} as raw, expected the reply of the judge as a text"
        raise UnreadableTrajectory("score_unreadable", f"{problem}; judge the run again")
    problems = (*_check_reply(fields, source, success, is_lenient=is_lenient), *_check_error(fields, source, success))
    reason = fields.text("reason") or fields.text("error") or ""
    return Judgement(
        source=source,
        judge="lenient judge" if is_lenient else "strict judge",
        success=success,
        reasoning=reason,
        contradictions=problems,
        ungraded=_format_failure(reason) if success is None and not problems else None,
    )


def _format_failure(reason: str) -> str:
    return f"the judge reached no verdict: {' '.join(reason[:MOST_REASON].split()) or 'it gave no reason'}"


def _check_reply(fields: JsonFields, source: str, success: bool | None, *, is_lenient: bool) -> Iterator[str]:  # noqa: FBT001  (what is stored)
    reply = fields.raw.get("raw")
    if reply is None or (is_lenient and len(reply) >= MOST_LENIENT):  # it may be cut
        return
    derived = read_lenient_reply(reply) if is_lenient else read_strict_reply(reply)
    if derived is not success:
        words = {True: "true", False: "false", None: "no verdict"}
        yield f"{source} stores {words[success]}, but its reply says {words[derived]}"


def _check_error(fields: JsonFields, source: str, success: bool | None) -> Iterator[str]:  # noqa: FBT001  (what is stored)
    """Neither writer stores an error of the judge next to a verdict."""
    error = fields.raw.get("error")
    if success is not None and error not in (None, ""):
        yield f"{source} stores {str(success).lower()}, but also the error {shorten_repr(error)} of the judge"


def read_strict_reply(reply: str) -> bool | None:
    """The verdict in a reply by the rule of `judge.py`: the object in it, or else words; None without either."""
    text = reply.strip()
    if text.startswith(_FENCE):
        text = text.strip("`").removeprefix("json")
    try:
        decoded = json.loads(text[text.index("{") : text.rindex("}") + 1])
    except RecursionError:
        return None
    except ValueError:
        return _find_words(text.lower())
    return _coerce(decoded.get("match"))


def read_lenient_reply(reply: str) -> bool | None:
    """The verdict in a reply by the rule of `judge_llm.py`: an object and nothing else, or words after `match`."""
    text = reply.strip()
    if text.startswith(_FENCE):
        text = text.partition("\n")[2] if "\n" in text else text
        if text.endswith(_FENCE):
            text = text.rpartition("\n")[0] if "\n" in text else text.rstrip("`")
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):
        decoded = None
    if isinstance(decoded, dict):
        return _coerce(decoded.get("match"))
    after = reply.lower().partition("match")[2][:_AFTER_MATCH]
    return False if "false" in after else True if "true" in after else None


def _find_words(text: str) -> bool | None:
    if "match" not in text:
        return None
    if "true" in text and "false" not in text.rpartition("true")[2][:_AFTER_TRUE]:
        return True
    return False if "false" in text else None


def _coerce(match: Any) -> bool | None:
    if isinstance(match, bool):
        return match
    word = match.strip().strip('".').lower() if isinstance(match, str) else ""
    return True if word in _YES else False if word in _NO else None
