"""Results and rows of files as they may leave the run directories: every command and the Python API reads them so."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, TypeVar

from msgspec import Meta, ValidationError, convert, structs

from pytest_webeval.errors import RecordingError, SettingsError
from pytest_webeval.recordings.formats import load_run
from pytest_webeval.recordings.webarena_verified import RESPONSE
from pytest_webeval.redaction.names import may_hold_secrets
from pytest_webeval.redaction.policy import MODES, REDACTED, RedactionPolicy
from pytest_webeval.redaction.recording_secrets import RecordingSecrets
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.results import TaskResult
from pytest_webeval.rules import AUTO, find_rules
from pytest_webeval.safety.deadline import time_limit
from pytest_webeval.storage import to_json_bytes
from pytest_webeval.summary.scored_session import ScoredRun

SECONDS = 60.0  # for the redaction of a result, as for the scoring of a run
DEFAULT_POLICY = RedactionPolicy()
_TEXTS = ("reason", "answer")  # of a row
# What is under our own keys in a result that we wrote.
_Text = Annotated[str, Meta(max_length=12_288)]  # a label, each of whose bytes is quoted
_OWN_TYPES: dict[str, Any] = {
    "excluded_as": _Text | None,
    "format": _Text | None,
    "inputs": dict[str, Annotated[str, Meta(pattern=r"\A[0-9a-f]{0,128}\Z")]],
    "libraries": dict[str, Annotated[str, Meta(pattern=r"\A[0-9][\w.!+-]{0,80}\Z")]],
    "rules": _Text,
    "run": _Text,
    "schema_version": int,
    "skipped": bool,
    "task_checksum": _Text | None,
    "tasks_from": _Text | None,
    "version": _Text,
    "wall_time": int | float,
}
_NAMES = (  # of a result and its task
    "task_id",
    "sites",
    "webarena_verified_version",
    "webarena_verified_evaluator_checksum",
    "webarena_verified_data_checksum",
)
# Words of our messages that stand where a field has its name: what follows them is no secret for that.
_OWN_WORDS = re.compile(r"((?:of one session|partial session|can pass|not pass): )")

Run = TypeVar("Run", bound=ScoredRun)


def parse_policy(mode: str) -> RedactionPolicy:
    """The policy of a mode. Raises `SettingsError`."""
    if mode not in MODES:
        raise SettingsError(f"invalid redact {mode!r:.80}; use default, off or strict")
    return RedactionPolicy(mode)


def redact_stored(result: TaskResult, directory: Path, policy: RedactionPolicy = DEFAULT_POLICY) -> TaskResult:
    """The result of a file in a directory, without secrets unless the policy is off.

    It is redacted whatever it says of itself, because an agent can write into the directory of its run. Redacting a
    redacted result changes nothing. Raises `EvaluationError` for one that takes too long.
    """
    if policy.is_off:
        return result
    from pytest_webeval.redaction.redactor import Redactor  # with all of its patterns

    redactor = Redactor(policy, recorded=_StoredRecording(directory, RESPONSE))
    with time_limit(SECONDS, f"its redaction takes longer than {SECONDS:g} s; inspect the run"):
        return _redact_names(redactor.result(drop_untrusted_marks(result)))


def _redact_names(result: TaskResult) -> TaskResult:
    """The same without secrets in names and versions, of which a result of ours has none: an agent may have forged it.

    They are never redacted strictly: checksums are opaque words.
    """
    from pytest_webeval.redaction.known_secrets import replace_texts  # with all patterns
    from pytest_webeval.redaction.redactor import OWN_KEYS

    names = {name: getattr(result, name) for name in _NAMES}
    names["evaluators_results"] = [
        [each.evaluator_name, *(check.assertion_name for check in each.assertions or ())]
        for each in result.evaluators_results
    ]
    names["webeval"] = {name: value for name, value in result.webeval.items() if name in OWN_KEYS}
    if not may_hold_secrets(json.dumps(names)) or (safe := replace_texts(names, (), redact_text)) == names:
        return result
    evaluations = [
        each.with_changes(
            evaluator_name=name,
            assertions=each.assertions
            and [check.with_changes(assertion_name=text) for check, text in zip(each.assertions, checks, strict=True)],
        )
        for each, (name, *checks) in zip(result.evaluators_results, safe.pop("evaluators_results"), strict=True)
    ]
    return result.with_changes(evaluators_results=evaluations, webeval=result.webeval | safe.pop("webeval"), **safe)


def drop_untrusted_marks(result: TaskResult) -> TaskResult:
    """The result of a file as it may be redacted, without values under our keys of another shape.

    Our keys are not searched as others are. A mark that the result is redacted counts for nothing: whoever wrote the
    file may have set it.
    """
    webeval = {name: value for name, value in result.webeval.items() if name != REDACTED}
    for name in _OWN_TYPES.keys() & webeval.keys():
        if not _is_own(name, webeval[name]):
            del webeval[name]
    return result.with_changes(webeval=webeval)


def _is_own(name: str, value: object) -> bool:
    """Whether a value may stand under that key of ours."""
    try:
        convert(value, _OWN_TYPES[name])
    except ValidationError:
        return False
    return True


class _StoredRecording(RecordingSecrets, frozen=True):
    """The recording next to a result, if there is one. Few results repeat words for which it has to be read."""

    def secrets(
        self, words: Collection[str], policy: RedactionPolicy, salt: bytes | None, names: Iterable[str] = ()
    ) -> dict[str, str]:
        """Secrets of its files that have some of the words in them, each with its replacement."""
        if not words:
            return {}
        answer = self.answer
        with suppress(RecordingError):
            answer = load_run(self.directory, find_rules(AUTO)).response_file
        return RecordingSecrets(self.directory, answer).secrets(words, policy, salt, names)


def redact_file(result: TaskResult, content: bytes, policy: RedactionPolicy = DEFAULT_POLICY) -> bytes:
    """The bytes of a result file as the redacted `result` of it has them: the same where we wrote it without secrets.

    In bytes that are not ours, there may be what reading has dropped: unknown fields, and a key that stands twice.
    """
    if policy.is_off:
        return content
    read = TaskResult.read(json.loads(content))
    is_same = _without_mark(read) == _without_mark(result)
    return content if is_same and content == to_json_bytes(read.to_json()) else to_json_bytes(result.to_json())


def _without_mark(result: TaskResult) -> dict[str, Any]:
    webeval = {name: value for name, value in result.webeval.items() if name != REDACTED}
    return result.with_changes(webeval=webeval).to_json()


def redact_text(text: str, policy: RedactionPolicy = DEFAULT_POLICY) -> str:
    """A message about recordings or results without secrets."""
    redact = Redacting(policy, is_leaving=True).text
    return "".join(part if _OWN_WORDS.fullmatch(part) else redact(part) for part in _OWN_WORDS.split(text))


def redact_runs(runs: Iterable[Run], policy: RedactionPolicy = DEFAULT_POLICY) -> list[Run]:
    """The rows of a summary without secrets in their texts: a session may have written them without redaction."""
    redacted = []
    for run in runs:
        texts = {name: text for name in _TEXTS if isinstance(text := getattr(run, name, None), str)}
        changed = {name: new for name, text in texts.items() if (new := redact_text(text, policy)) != text}
        redacted.append(structs.replace(run, **changed) if changed else run)
    return redacted
