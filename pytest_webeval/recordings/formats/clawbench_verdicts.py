"""What is stored about a run of ClawBench: whether a request was intercepted, what the judges say, and if that agrees.

PyPI `clawbench-eval` 0.11.0 (GitHub `reacher-z/ClawBench`): `runtime/runtime-server/server.py` writes a request to
`requests.jsonl` and then, if it fits the task, to `interception.json`. `runner/run.py` asks the judge about it, and
writes `run-meta.json` at the end, and once more, without the verdict, if it fails after that.

`runner/judge.py` is the strict judge, whose verdict
`runner/run.py` writes to `judge.json`, with a copy in `run-meta.json`. `runner/judge_llm.py` is the lenient one, whose
verdict `eval/rescore.py` writes to `judge_llm.json` afterwards, with no more than 500 characters of the reply; it also
writes `judge.json` again, then with a `rubric`. Each judge looks at the intercepted request alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, structs

from pytest_webeval.errors import EvaluationError, RecordingError
from pytest_webeval.recordings.network.events import REQUEST_LOG
from pytest_webeval.recordings.network.readers import load_trace
from pytest_webeval.recordings.recorded_files import JsonFields, RecordedFiles
from pytest_webeval.recordings.trajectory.recorded import Judgement
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.safety.text import preview, shorten_repr

META = "run-meta.json"
INTERCEPTION, REQUESTS = "data/interception.json", f"data/{REQUEST_LOG}"
MOST_REASON = 300  # characters
# What to do about files of the harness, about which no judge can do anything.
RESTORE = "copy it from the output of the harness, or record the run again"
COPY_AGAIN = "copy all files from the output of the harness again, or record the run again"
UNJUDGED = Judgement(source=META, judge="strict judge", ungraded="no judge decided whether the request is right")


class Interception(Struct, frozen=True):
    """What the harness says of the request that it waited for."""

    is_intercepted: bool
    stop_reason: str = ""
    description: str = ""
    request: Mapping[str, Any] | None = None


def read_flag(fields: JsonFields, name: str) -> bool:
    """Whether a request was intercepted, on which the verdict depends. Raises `UnreadableTrajectory`."""
    value = fields.raw.get("intercepted")
    if not isinstance(value, bool):
        problem = f"{name} has {shorten_repr(value)} as intercepted, expected true or false"
        raise UnreadableTrajectory("score_unreadable", f"{problem}; record the run again")
    return value


def read_interception(files: RecordedFiles) -> Interception | None:
    """What is in the file; None where there is none. Raises `UnreadableTrajectory` for a damaged one."""
    if not exists_no_follow(files.path / INTERCEPTION):
        return None
    fields = files.read_json(INTERCEPTION)
    request = fields.member("request").raw
    texts = (fields.text("stop_reason") or "", fields.text("stop_description") or "")
    return Interception(read_flag(fields, INTERCEPTION), *texts, request or None)


def read_judgements(
    files: RecordedFiles, meta: JsonFields, interception: Interception | None, *, is_intercepted: bool
) -> Iterator[Judgement]:
    """The verdicts, of which the first decides; each is a contradiction if the files of the harness do not agree."""
    judged = list(_read_judges(files, meta))
    problems = tuple(_list_contradictions(files, meta, interception, is_intercepted=is_intercepted))
    if not is_intercepted:
        judges = tuple(f"{each.source} judges a request, but none was intercepted; {COPY_AGAIN}" for each in judged)
        # A failure, whichever judge is chosen: none is asked about a run without an intercepted request.
        reason = interception.description if interception else "no request was intercepted"
        yield Judgement(
            source=META,
            judge="interceptor",
            success=False,
            reasoning=shorten(reason),
            contradictions=(*problems, *judges),
            replaces=(STRICT, LENIENT),
        )
        return
    for judgement in judged or [UNJUDGED]:
        yield _add_contradictions(judgement, *problems)


def _add_contradictions(judgement: Judgement, *problems: str) -> Judgement:
    """The judgement, which counts as one that was made if there are problems, so that they are an error."""
    contradictions = (*judgement.contradictions, *problems)
    return structs.replace(
        judgement, contradictions=contradictions, ungraded=None if contradictions else judgement.ungraded
    )


def _read_judges(files: RecordedFiles, meta: JsonFields) -> Iterator[Judgement]:
    """The verdict of the run, from its file or the copy of it, and a later one. Raises `UnreadableTrajectory`."""
    stored = meta.raw.get("judge")
    if not isinstance(stored, Mapping | None):
        problem = f"{META} has {shorten_repr(stored)} as judge, expected what the judge stored as an object"
        raise UnreadableTrajectory("score_unreadable", f"{problem}; {COPY_AGAIN}")
    copy = None if stored is None else read_judge(meta.member("judge"), f"{META} judge", is_lenient=False)
    if exists_no_follow(files.path / STRICT):
        fields = files.read_verdict(STRICT)
        judgement = read_judge(fields, STRICT, is_lenient=False)
        is_judged_again = "rubric" in fields  # since `run-meta.json` was written
        copied = [f"{problem}; {COPY_AGAIN}" for problem in (copy.contradictions if copy else ())]
        problems = _compare_copy(meta, copy, None if is_judged_again else judgement)
        yield _add_contradictions(judgement, *copied, *problems)
    elif copy is not None:
        yield _add_contradictions(copy, *_compare_copy(meta, copy, None))
    elif meta.raw.get("judge_match") is not None:
        match = meta.raw["judge_match"]
        problem = f"{META} has {shorten_repr(match)} as judge_match, but the reply of the judge is missing"
        lost = f"{problem}: there is no {STRICT}; {RESTORE}"
        success = match if isinstance(match, bool) else None
        yield Judgement(source=META, judge="strict judge", success=success, contradictions=(lost,))
    if exists_no_follow(files.path / LENIENT):
        yield read_judge(files.read_verdict(LENIENT), LENIENT, is_lenient=True)


def _compare_copy(meta: JsonFields, copy: Judgement | None, judgement: Judgement | None) -> Iterator[str]:
    """Where the copies in `run-meta.json` do not agree with each other, or with the judgement that they repeat.

    Without that judgement, they contradict each other whatever a judge says afterwards.
    """
    if copy is not None and judgement is not None and copy.success is not judgement.success:
        yield f"{copy.source} has {copy.success} as match, but {judgement.source} has {judgement.success}"
    original = judgement or copy
    if original is not None and meta.raw.get("judge_match", original.success) is not original.success:
        stored = shorten_repr(meta.raw["judge_match"])
        problem = f"{META} has {stored} as judge_match, but {original.source} has {original.success}"
        yield problem if judgement else f"{problem}; {COPY_AGAIN}"


def _list_contradictions(
    files: RecordedFiles, meta: JsonFields, interception: Interception | None, *, is_intercepted: bool
) -> Iterator[str]:
    """Where the files of the harness do not agree. Raises `UnreadableTrajectory` if one of them is damaged."""
    if interception is None:
        if is_intercepted:
            problem = f"{META} says that a request was intercepted, but there is no {INTERCEPTION}, which holds it"
            yield f"{problem}; {RESTORE}"
    elif interception.is_intercepted is not is_intercepted:
        problem = f"intercepted is {is_intercepted} in {META}, but {interception.is_intercepted} in {INTERCEPTION}"
        yield f"{problem}; {COPY_AGAIN}"
    elif is_intercepted:
        yield from _check_request(files, interception.request)
    passes = is_intercepted and ("judge_match" not in meta or meta.raw["judge_match"] is True)  # as in `run.py`
    if meta.raw.get("pass") not in (None, passes):
        problem = f"{META} has {shorten_repr(meta.raw.get('pass'))} as pass, which its judge_match does not give"
        yield f"{problem}; {COPY_AGAIN}"


def _check_request(files: RecordedFiles, request: Mapping[str, Any] | None) -> Iterator[str]:
    """Whether the log has the request, which is written before it is blocked. Raises `UnreadableTrajectory`."""
    if request is None:
        yield f"{INTERCEPTION} says that a request was intercepted, but has none; {COPY_AGAIN}"
        return
    if not exists_no_follow(files.path / REQUESTS):
        yield f"there is no {REQUESTS}, which has each request that was intercepted; {RESTORE}"
        return
    try:
        events = load_trace(files.inputs, REQUESTS).events
    except RecordingError as error:
        raise UnreadableTrajectory("file_unreadable", str(error)) from error
    blocked = (request.get("method"), request.get("url"))
    for event in events:
        try:
            if (event.method, event.url) == blocked:
                return
        except EvaluationError:
            continue
    name = preview(f"{blocked[0]} {blocked[1]}", 200)
    yield f"{INTERCEPTION} has the request {name}, which is not in {REQUESTS}; {COPY_AGAIN}"


def shorten(text: str) -> str:
    """The beginning of a text that any program may have written, in one line."""
    return " ".join(text[:MOST_REASON].split())


STRICT, LENIENT = "judge.json", "judge_llm.json"
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
    problems = tuple(_check_reply(fields, source, success, is_lenient=is_lenient))
    error = fields.raw.get("error")
    if success is not None and error not in (None, ""):  # neither writer stores both
        text = f"{source} stores {str(success).lower()}, but also the error {shorten_repr(error)} of the judge"
        problems = (*problems, text)
    reason = fields.text("reason") or fields.text("error") or ""
    return Judgement(
        source=source,
        judge="lenient judge" if is_lenient else "strict judge",
        success=success,
        reasoning=reason,
        contradictions=problems,
        ungraded=f"the judge reached no verdict: {shorten(reason) or 'it gave no reason'}"
        if success is None and not problems
        else None,
    )


def _check_reply(fields: JsonFields, source: str, success: bool | None, *, is_lenient: bool) -> Iterator[str]:  # noqa: FBT001  (what is stored)
    reply = fields.raw.get("raw")
    if reply is None or (is_lenient and len(reply) >= MOST_LENIENT):  # it may be cut
        return
    derived = read_lenient_reply(reply) if is_lenient else read_strict_reply(reply)
    if derived is not success:
        words = {True: "true", False: "false", None: "no verdict"}
        yield f"{source} stores {words[success]}, but its reply says {words[derived]}"


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
