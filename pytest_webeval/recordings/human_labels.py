"""Labels that people gave to runs, by agent and task (`--webeval-labels`), in a coding that the user names.

GitHub `OSU-NLP-Group/Online-Mind2Web` publishes `human_label.json`: a list of objects with `task_id` and a column
`<agent>_human_label` for each agent. The same numbers mean other things in other public files, so that no coding is
ever guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct

from pytest_webeval.errors import RecordingError, SettingsError
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.trajectory.recorded import HUMAN, Judgement
from pytest_webeval.recordings.verdict_files import build_type_error, join_checksums, parse_strictly, read_member
from pytest_webeval.safety.text import name_first, pluralize, preview

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
        """The judgement with this key."""
        task_id, agent = key
        return self._build_judgement(self.rows[task_id][agent])

    def _build_judgement(self, verdict: str) -> Judgement:
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
