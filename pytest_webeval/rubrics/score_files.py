"""Score files: what their names say, which one counts, and what one says (`fara_webeval.md` §2.7, §5.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from pytest_webeval.recordings.inputs import MAX_FILE_BYTES
from pytest_webeval.recordings.trajectory.layout import RUBRIC, SCORES, TASK_DATA, ScoreFileName, parse_name
from pytest_webeval.rubrics.payload import quote_value
from pytest_webeval.rubrics.policy import UnreadableVerdict, VerdictPolicy
from pytest_webeval.rubrics.stored_verdict import RunFacts, StoredVerdict, find_stored, from_judgement
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.safety.json import load_exact
from pytest_webeval.safety.text import list_first
from pytest_webeval.safety.warning_log import WarningLog

if TYPE_CHECKING:
    from pytest_webeval.recordings.run import Run


KINDS = ("mmrubric", "heldout", "gpt_eval", "webjudge")  # the first of which a run has a file counts
MAX_NAMED = 20
_CHOOSE = "choose one with --webeval-score-file"
_TEXT_KINDS = ("gpt_eval", "webjudge")  # whose judges write free text; other free text cannot be read
# One of them says that an object is what a judge of rubrics writes, if only that it failed or never was asked.
_PAYLOAD_KEYS = frozenset({"rubric_error", "verifier_success", "outcome_success", "rubric_is_success"})


def choose(names: Sequence[str], requested: str | None) -> str | None:
    """Which of the JSON files in `scores/` counts, None where no judge wrote one. Raises `UnreadableVerdict`.

    `requested` is the user's choice, with or without `.json`. A run without any score file was not judged,
    whatever is requested.
    """
    if requested is not None and names:
        plain = requested.removeprefix("scores/")
        name = plain if plain.endswith(".json") else f"{plain}.json"
        if name in names:
            return name
        problem = f"scores/ has no {quote_value(name)}, only {_format_names(names)}"
        raise UnreadableVerdict("score_missing", problem, _CHOOSE)
    for kind in KINDS:
        matching = [name for name in names if parse_name(name).kind == kind]
        if len(matching) > 1:
            problem = f"scores/ has {len(matching)} files of the kind {kind}: {_format_names(matching)}"
            raise UnreadableVerdict("score_ambiguous", problem, _CHOOSE)
        if matching:
            return matching[0]
    return None


def _format_names(names: Iterable[str]) -> str:
    return list_first(sorted(names), MAX_NAMED, quote_value)


def read_score_file(source: str, content: bytes) -> StoredVerdict:
    """What a file in `scores/` says. Raises `UnreadableVerdict`: a damaged one is not as good as none (Q19)."""
    reading = _Reading(source, parse_name(PurePosixPath(source).name), "score_unreadable", WarningLog(source))
    return reading.of_score_file(reading.object_in(content))


def read_rubric_file(source: str, content: bytes) -> StoredVerdict:
    """What a `rubric.json` says, be it a rubric, a judge's payload or a score file by another name.

    Raises `UnreadableVerdict`.
    """
    reading = _Reading(source, ScoreFileName("other"), "rubric_invalid", WarningLog(source))
    document = reading.object_in(content)
    if "gpt_response_text" in document:
        return reading.of_score_file(document)
    if "rubric_items" in document or ("items" not in document and not _PAYLOAD_KEYS.isdisjoint(document)):
        return reading.verdict(payload=document)
    return reading.of_rubric(document)


def stored_rubric(source: str, rubric: Mapping[str, Any]) -> StoredVerdict:
    """The verdict that a rubric is, if points were given. Raises `UnreadableVerdict` where it has no items."""
    return _Reading(source, ScoreFileName("other"), "rubric_invalid", WarningLog(source)).of_rubric(rubric)


@dataclass(frozen=True, slots=True)
class _Reading:
    """One file that is being read. Its methods raise `UnreadableVerdict` with its code and source."""

    source: str
    name: ScoreFileName
    code: str
    warnings: WarningLog

    def build_error(self, problem: str) -> UnreadableVerdict:
        return UnreadableVerdict(self.code, f"{self.source} {problem}", source=self.source)

    def value(self, text: str) -> Any:
        value, repeated = load_exact(text)
        for key in repeated:
            self.warnings.add(f"duplicate key {quote_value(key)} in one object; the last value counts")
        return value

    def object_in(self, content: bytes) -> dict[str, Any]:
        try:
            document = self.value(content.decode("utf-8"))
        except ValueError as error:
            raise self.build_error(f"is not valid JSON: {error}") from error
        if not isinstance(document, dict):
            raise self.build_error(f"holds {quote_value(document)}, expected a JSON object")
        return document

    def of_score_file(self, fields: Mapping[str, Any]) -> StoredVerdict:
        for key in ("score", "gpt_response_text"):
            if key not in fields:
                raise self.build_error(f'has no {key}, expected {{"score": 1, "gpt_response_text": "..."}}')
        score, response = fields["score"], fields["gpt_response_text"]
        if not (score is None or (isinstance(score, int | Decimal) and not isinstance(score, bool))):
            raise self.build_error(f"has {quote_value(score)}, expected a number or null @ score")
        if isinstance(response, dict):
            return self.verdict(score, payload=response)
        if not (response is None or isinstance(response, str)):
            raise self.build_error(f"has {quote_value(response)}, expected a string or an object @ gpt_response_text")
        text, payload = response or "", None
        try:
            payload = self.value(text)
            problem = f"expected an object, got {quote_value(payload)}"
        except ValueError as error:
            problem = str(error)
        if isinstance(payload, dict):
            return self.verdict(score, payload=payload)
        if self.name.kind not in _TEXT_KINDS:
            raise self.build_error(f"has no rubric in its text: {problem} @ gpt_response_text")
        if not text.strip():
            self.warnings.add("gpt_response_text is empty: the score has no explanation")
        return self.verdict(score, text=text)

    def of_rubric(self, rubric: Mapping[str, Any]) -> StoredVerdict:
        items = rubric.get("items")
        if not isinstance(items, list) or not items:
            problem = f"has {quote_value(items)} for items" if "items" in rubric else "has no items"
            raise self.build_error(
                f'{problem}, expected a rubric {{"items": [{{"criterion": "...", "max_points": 1, ...}}]}}'
            )
        return self.verdict(payload=rubric)

    def verdict(
        self,
        score: Decimal | int | None = None,
        payload: Mapping[str, Any] | None = None,
        text: str | None = None,
    ) -> StoredVerdict:
        return StoredVerdict(self.source, self.name, score, payload, text, self.warnings.texts)


def stored_verdict(run: Run, policy: VerdictPolicy) -> StoredVerdict | None:
    """The verdict on a run, or None if it was not judged. Raises `RecordingError`.

    Of a trajectory that Fara wrote only `scores/` counts: other files may be a download. A session that knows better
    asks for one of its `rubric_names`.
    """
    if run.external:
        return from_judgement(run.external[0])
    trajectory, requested = run.trajectory, policy.score_file
    if trajectory is None:
        return _read_rubric(run)
    if requested in trajectory.rubric_names:
        if requested == RUBRIC:
            return _read_rubric(run)
        rubric = trajectory.task_data.rubric
        return None if rubric is None else stored_rubric(TASK_DATA, rubric)
    stored = find_stored(trajectory.judgements, requested)
    name = None if stored is not None else choose(trajectory.score_names, requested)
    if name is None:
        return stored
    source = f"{SCORES}/{name}"
    return read_score_file(source, run.inputs.read(source, MAX_FILE_BYTES))


def _read_rubric(run: Run) -> StoredVerdict | None:
    if not exists_no_follow(run.path / RUBRIC):
        return None
    return read_rubric_file(RUBRIC, run.inputs.read(RUBRIC, MAX_FILE_BYTES))


def ignored_files(run: Run, stored: StoredVerdict | None) -> list[str]:
    """Files with verdicts that were not read, because another one counts or they were not chosen."""
    sources = () if run.trajectory is None else run.trajectory.verdict_sources
    return [source for source in sources if stored is None or source != stored.source]


def facts_of(run: Run) -> RunFacts:
    """What the run itself says that a stored verdict may contradict. Raises `UnreadableTrajectory`.

    Nothing where a file of the session has the verdict, which was not derived from the files of the run.
    """
    trajectory = run.trajectory
    if trajectory is None or run.external:
        return RunFacts()
    return RunFacts(trajectory.final_answer, trajectory.count_steps(), trajectory.is_verdict_stale)
