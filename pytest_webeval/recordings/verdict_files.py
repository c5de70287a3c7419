"""Files of verdicts that the user names, read strictly: what is damaged is never as good as no verdict.

Those of a judge are by the id of the task (`--webeval-verdicts`), and labels that people gave to runs by agent and task
(`--webeval-labels`), in a coding that the user names.

Two writers of verdicts are known: GitHub `OSU-NLP-Group/Online-Mind2Web`, `src/run.py` (commit ccdeb0d), whose
`METHOD_MODEL_score_threshold_N_auto_eval_results.json` has a JSON object a line with `task_id`, `evaluation_details`
and `predicted_label`; and AgentRewardBench (McGill-NLP/agent-reward-bench), with one JSON file a trajectory: the reply
of the judge as the API gave it, `image_judge_record`, `trajectory_info`.

GitHub `OSU-NLP-Group/Online-Mind2Web` publishes `human_label.json`: a list of objects with `task_id` and a column
`<agent>_human_label` for each agent. The same numbers mean other things in other public files, so that no coding is
ever guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from msgspec import Struct

from pytest_webeval.errors import RecordingError, SettingsError
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.trajectory.recorded import HUMAN, Judgement, ReplyForm
from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.json import load_exact
from pytest_webeval.safety.text import name_first, pluralize, preview


def parse_strictly(content: bytes, where: str) -> Any:
    """The JSON value in some bytes. Raises `SettingsError`, also for a key that an object has twice.

    NaN and infinities are texts, so that no reader takes them for numbers.
    """
    try:
        value, repeated = load_exact(content.decode("utf-8"))
    except ValueError as error:
        raise SettingsError(f"{where} is not valid JSON: {error}; repair the file") from error
    if repeated:
        raise SettingsError(f"{where} has the key {preview(repeated[0], 60)} twice in one object; keep one of them")
    return value


def parse_object(content: bytes, where: str) -> dict[str, Any]:
    """The JSON object in some bytes. Raises `SettingsError`."""
    value = parse_strictly(content, where)
    if not isinstance(value, dict):
        raise SettingsError(f"{where} holds {preview(value, 60)}, expected a JSON object")
    return value


def join_checksums(inputs: RunInputs) -> str:
    """The SHA-256 of the file that was read; of several files, of their names and checksums."""
    checksums = sorted(inputs.checksums.items())
    if len(checksums) == 1:
        return checksums[0][1]
    return sha256("\n".join(f"{checksum} {name}" for name, checksum in checksums).encode("utf-8", "backslashreplace"))


def read_member(fields: Mapping[str, Any], key: str, kinds: type | tuple[type, ...], expected: str, where: str) -> Any:
    """A member of some types; None where it is not there or null. Raises `SettingsError` for one of another type."""
    value = fields.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, kinds)):
        raise build_type_error(key, value, expected, where)
    return value


def build_type_error(key: str, value: object, expected: str, where: str) -> SettingsError:
    """The error for a member that is not what a writer of such files leaves."""
    return SettingsError(f"invalid {key} {preview(value, 60)} in {where}; expected {expected}")


_SCORE = re.compile(r"\*{0,2}score\*{0,2}[ \t]{0,3}:?\*{0,2}[ \t:]{0,5}([1-5])\b", re.IGNORECASE)
_METHODS = {  # of `src/run.py`, with the judge that each is
    "WebJudge_Online_Mind2Web_eval": "webjudge",
    "WebJudge_general_eval": "webjudge",
    "WebVoyager_eval": "webvoyager",
    "AgentTrek_eval": "agenttrek",
    "Autonomous_eval": "autonomous",
}
_FORMS = {"webvoyager": ReplyForm.FAILURE}  # the others end in a status
_THRESHOLD = re.compile(r"_score_threshold_([0-9]{1,9})_auto_eval_results\.json")
_DEFAULT_THRESHOLD = 3  # the judge is shown the images with this score or a higher one, in both writers
_ADVICE = "name a file *_auto_eval_results.json, or a directory of judgments"


class JudgeVerdicts(Struct, frozen=True):
    """The verdicts of a judge, by the id of the task. `checksum` is the SHA-256 of the file or of all files."""

    source: str
    checksum: str
    by_task: Mapping[str, Judgement]
    noun: ClassVar[str] = "verdict"

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.by_task)

    def describe(self) -> dict[str, str]:
        return {"name": self.source, "checksum": self.checksum}

    def find_key(self, task_id: str, folders: Sequence[str]) -> str | None:  # noqa: ARG002  (labels are of an agent)
        """The key of the verdict on a run; None where there is none."""
        return task_id if task_id in self.by_task else None

    def has_task(self, task_id: str) -> bool:
        return task_id in self.by_task

    def explain_mismatch(self, count: int) -> str:  # noqa: ARG002  (same)
        """What to do if no verdict is on a run."""
        return "compare its task ids with those of the runs"

    def judge(self, key: Any) -> Judgement:
        return self.by_task[key]


def load_verdicts(path: Path) -> JudgeVerdicts:
    """The verdicts in a file of JSON lines or in a directory of judgments. Raises `SettingsError`.

    A task that is judged twice, or anything that is damaged, is an error: nobody could say what counts.
    """
    judgements: dict[str, Judgement] = {}
    inputs = RunInputs(path if path.is_dir() else path.parent)
    names = [name for name in RecordedFiles(inputs).names if name.endswith(".json")] if path.is_dir() else [path.name]
    try:
        for task_id, judgement in chain.from_iterable(_read_document(inputs, name) for name in names):
            if task_id in judgements:
                raise SettingsError(f"task {task_id!r:.80} is judged twice in {path}; keep one verdict")
            judgements[task_id] = judgement
    except (RecordingError, SettingsError) as error:
        raise SettingsError(f"cannot read verdicts: {error}") from error
    if not judgements:
        raise SettingsError(f"no verdict in {path}; {_ADVICE}")
    return JudgeVerdicts(path.name, join_checksums(inputs), judgements)


def _read_document(inputs: RunInputs, name: str) -> Iterator[tuple[str, Judgement]]:
    """The judgements of a file: one of AgentRewardBench, or a line for each task."""
    content = inputs.read(name)
    lines = [line for line in content.splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].lstrip().startswith(b"{") and lines[0].rstrip().endswith(b"}"):
        for number, line in enumerate(lines, 1):
            where = f"{name} line {number}"
            yield _read_judgement(parse_object(line, where), name, where)
    else:
        yield _read_judgement(parse_object(content, name), name, name)


def _read_judgement(document: Mapping[str, Any], name: str, where: str) -> tuple[str, Judgement]:
    task_id, reply = _read_reply(document, name, where)
    if task_id is None or reply is None:
        raise SettingsError(f"{where} holds no task_id and reply of a judge; {_ADVICE}")
    methods = (method for method in _METHODS if PurePosixPath(name).name.startswith(method))
    judge = _METHODS[next(methods, "WebJudge_general_eval")]
    label = read_member(document, "predicted_label", (int, Decimal), "0 or 1", where)
    if label not in (None, 0, 1):
        raise build_type_error("predicted_label", label, "0 or 1", where)
    match = _THRESHOLD.search(name)
    threshold = _DEFAULT_THRESHOLD if match is None else int(match[1])
    differences = list(_list_image_differences(document, threshold, where))
    judgement = Judgement(
        source=name,
        judge=read_member(document, "judge", str, "a string", where) or judge,
        success=None if label is None else label == 1,
        reply=reply,
        reply_form=_FORMS.get(judge, ReplyForm.STATUS),
        contradictions=tuple(text for text, has_effect in differences if has_effect),
        warnings=tuple(text for text, has_effect in differences if not has_effect),
    )
    return task_id, judgement


def _read_reply(document: Mapping[str, Any], name: str, where: str) -> tuple[str | None, str | None]:
    response = read_member(document, "response", (dict, str), "an object or a string", where)
    if isinstance(response, dict) and "choices" in response:
        choices = read_member(response, "choices", list, "a list", where) or [None]
        choice = choices[0] if isinstance(choices[0], dict) else {}
        message = read_member(choice, "message", dict, "an object", where) or {}
        return name.removesuffix(".json"), read_member(message, "content", str, "a string", where)
    details = read_member(document, "evaluation_details", dict, "an object", where) or {}
    task_id = read_member(document, "task_id", str, "a string", where)
    return task_id, read_member(details, "response", str, "a string", where)


def _list_image_differences(document: Mapping[str, Any], threshold: int, where: str) -> Iterator[tuple[str, bool]]:
    """Scores of images that are not those in the text of the judge, and whether other images would be shown to it.

    Raises `SettingsError` for what is damaged.
    """
    images = read_member(document, "image_judge_record", list, "a list of objects", where)
    for number, image in enumerate(images or (), 1):
        place = f"{where}, image {number}"
        if not isinstance(image, dict):
            raise build_type_error("image_judge_record", image, "an object", place)
        scores = _SCORE.findall(read_member(image, "Response", str, "a string", place) or "")
        score = read_member(image, "Score", (int, Decimal), "a number", place)
        if scores and score is not None and int(scores[-1]) != score:
            has_effect = (int(scores[-1]) >= threshold) is not (score >= threshold)
            side = "one of them" if has_effect else "both or neither"
            # It may have more digits than a float.
            text = f"image {number} has the score {score!s:.40}, but its text says {scores[-1]}"
            yield f"{text}; {side} reaches the threshold {threshold}", has_effect


SUCCESS, FAILURE, IMPOSSIBLE = "success", "failure", "impossible"
ZERO = "zero"  # what an impossible task counts as if the session says so
CODINGS: Mapping[str, Mapping[str, str]] = {
    "osu": {"0": FAILURE, "1": SUCCESS, "2": IMPOSSIBLE},
    "abp": {"0": IMPOSSIBLE, "1": SUCCESS, "2": FAILURE},
}
COLUMN = "_human_label"
_AGENTS_NAMED, _LONGEST_NAME = 10, 40


class HumanLabels(Struct, frozen=True):
    """Labels of one file: `rows` has the verdict in words for each task, by the name of the agent.

    `impossible` is what a task counts as that people could not execute: `exclude` or `zero`.
    """

    source: str
    checksum: str
    coding: str
    rows: Mapping[str, Mapping[str, str]]
    agents: tuple[str, ...]
    impossible: str = "exclude"
    noun: ClassVar[str] = "label"

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(map(len, self.rows.values()))

    def describe(self) -> dict[str, str]:
        """Name, checksum and coding; also what impossible tasks count as, if they do."""
        counted = {"impossible": ZERO} if self.impossible == ZERO else {}
        return {"name": self.source, "checksum": self.checksum, "coding": self.coding} | counted

    def find_key(self, task_id: str, folders: Sequence[str]) -> tuple[str, str] | None:
        """Task and agent of the label of a run; None where nobody labelled it.

        That agent counts by whose name one of the `folders` is called, the directories above the run. Raises
        `RecordingError` if there is none, even if the file is about a single agent: the run may be of another.
        """
        row = self.rows.get(task_id)
        if row is None:
            return None
        agent = self._find_agent(folders)
        return (task_id, agent) if agent in row else None

    def has_task(self, task_id: str) -> bool:
        """Whether there is a row of the task, whichever agents have a label in it."""
        return task_id in self.rows

    def explain_mismatch(self, count: int) -> str:
        """Why no label is on a run, if `count` runs are of its tasks, and what to do."""
        if not count:
            return "compare its task ids with those of the runs"
        agents = name_first(self.agents, _AGENTS_NAMED, _LONGEST_NAME, len(self.agents))
        problem = f"its tasks have {pluralize(count, 'run')}, but none in the directory of an agent with a label on it"
        return f"{problem} (agents: {agents}); put the runs of an agent into a directory of its name"

    def judge(self, key: Any) -> Judgement:
        task_id, agent = key
        verdict = self.rows[task_id][agent]
        if verdict != IMPOSSIBLE:
            success, reasoning = verdict == SUCCESS, "label given by a person"
            return Judgement(source=self.source, judge=HUMAN, success=success, reasoning=reasoning)
        reason = "impossible: people could not execute the task"
        if self.impossible == ZERO:
            reason = f"{reason}, which counts as 0"
            return Judgement(source=self.source, judge=HUMAN, is_impossible=True, success=False, reasoning=reason)
        return Judgement(source=self.source, judge=HUMAN, is_impossible=True, ungraded=reason)

    def _find_agent(self, folders: Sequence[str]) -> str:
        names = {name.casefold() for name in folders}
        named = [agent for agent in self.agents if agent.casefold() in names]
        if len(named) == 1:
            return named[0]
        agents = name_first(self.agents, _AGENTS_NAMED, _LONGEST_NAME, len(self.agents))
        which = "several of them" if named else "none of them"
        problem = f"{self.source} has labels of {agents}, and {'/'.join(folders) or '.'} names {which}"
        raise RecordingError(f"{problem}; put the runs of an agent into a directory of its name")


def load_labels(path: Path, coding: str, impossible: str = "exclude") -> HumanLabels:
    """The labels in a JSON file. Raises `SettingsError` if it has none, or anything that cannot be read."""
    inputs = RunInputs(path.parent)
    try:
        document = parse_strictly(inputs.read(path.name), path.name)
    except (RecordingError, SettingsError) as error:
        raise SettingsError(f"cannot read labels: {error}") from error
    rows = document if isinstance(document, list) else []
    agents = {agent: None for row in rows if isinstance(row, dict) for agent in _list_agents(row)}
    if not agents:
        expected = f'[{{"task_id": "...", "Agent{COLUMN}": "1"}}]'
        raise SettingsError(f"no labels in {path}; expected a JSON list such as {expected}")
    by_task: dict[str, Mapping[str, str]] = {}
    for number, row in enumerate(rows, 1):
        task_id = _read_task_id(row, f"{path}, row {number}")
        if task_id in by_task:
            raise SettingsError(f"a task is labelled twice in {path}; keep one row for each task_id")
        by_task[task_id] = _read_row(row, path, coding)
    return HumanLabels(path.name, join_checksums(inputs), coding, by_task, tuple(agents), impossible)


def _list_agents(row: Mapping[str, Any]) -> list[str]:
    return [name.removesuffix(COLUMN) for name in row if name.endswith(COLUMN)]


def _read_task_id(row: object, where: str) -> str:
    """The id of the task of a row. Raises `SettingsError`: labels that belong to no task would count for none."""
    if not isinstance(row, dict):
        raise build_type_error("row", row, "an object", where)
    task_id = read_member(row, "task_id", (str, int), "a string or an integer", where)
    if task_id is None:
        raise SettingsError(f"no task_id in {where}; add it, or remove the row")
    return str(task_id)


def _read_row(row: Mapping[str, Any], path: Path, coding: str) -> dict[str, str]:
    labels = {agent: row[f"{agent}{COLUMN}"] for agent in _list_agents(row)}
    for agent, raw in labels.items():
        if raw is not None and str(raw) not in CODINGS[coding]:
            known = ", ".join(f"{code} {verdict}" for code, verdict in CODINGS[coding].items())
            place = f"task {preview(row.get('task_id'), 60)}, {preview(agent, 60)}"
            raise SettingsError(f"invalid label {preview(raw, 40)} in {path} ({place}); {coding} has {known}")
    return {agent: CODINGS[coding][str(raw)] for agent, raw in labels.items() if raw is not None}
