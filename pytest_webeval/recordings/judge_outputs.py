"""Verdicts that a judge wrote apart from the runs, by the id of the task (`--webeval-verdicts`).

Two writers are known: GitHub `OSU-NLP-Group/Online-Mind2Web`, `src/run.py` (commit ccdeb0d), whose
`*_auto_eval_results.json` has a JSON object a line with `task_id`, `evaluation_details` and `predicted_label`; and
AgentRewardBench (McGill-NLP/agent-reward-bench), with one JSON file a trajectory: the reply of the judge as the API
gave it, `image_judge_record`, `trajectory_info`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import SettingsError
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recorded_files import JsonFields
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.trajectory.recorded import Judgement

_SCORE = re.compile(r"\*{0,2}score\*{0,2}[ \t]{0,3}:?\*{0,2}[ \t:]{0,5}([1-5])\b", re.IGNORECASE)
_ADVICE = "name a file *_auto_eval_results.json, or a directory of judgments"


def load_verdicts(path: Path) -> dict[str, Judgement]:
    """The judgements in a file of JSON lines or in a directory of judgments. Raises `SettingsError`.

    A task that is judged twice, or a line that cannot be read, is an error: nobody could say what counts.
    """
    judgements: dict[str, Judgement] = {}
    try:
        for task_id, judgement in _read_directory(path) if path.is_dir() else _read_file(path):
            if task_id in judgements:
                raise SettingsError(f"task {task_id!r:.80} is judged twice in {path}; keep one verdict")
            judgements[task_id] = judgement
    except RecordingError as error:
        raise SettingsError(f"cannot read verdicts: {error}") from error
    if not judgements:
        raise SettingsError(f"no verdict in {path}; {_ADVICE}")
    return judgements


def _read_directory(path: Path) -> Iterator[tuple[str, Judgement]]:
    files = RecordedFiles(RunInputs(path))
    for name in files.names:
        if name.endswith(".json"):
            yield from _read_document(files, name)


def _read_file(path: Path) -> Iterator[tuple[str, Judgement]]:
    yield from _read_document(RecordedFiles(RunInputs(path.parent)), path.name)


def _read_document(files: RecordedFiles, name: str) -> Iterator[tuple[str, Judgement]]:
    """The judgements of a file: one of AgentRewardBench, or a line for each task."""
    content = files.inputs.read(name)
    lines = [line for line in content.splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].lstrip().startswith(b"{") and lines[0].rstrip().endswith(b"}"):
        documents = [files.parse_object(f"{name} line {number}", line) for number, line in enumerate(lines, 1)]
    else:
        documents = [files.parse_object(name, content)]
    for document in documents:
        yield _read_judgement(document, name)


def _read_judgement(document: JsonFields, name: str) -> tuple[str, Judgement]:
    if "choices" in document.member("response"):
        choices = document.member("response").objects("choices")
        reply = choices[0].member("message").text("content") if choices else None
        task_id: str | None = name.removesuffix(".json")
    else:
        reply = document.member("evaluation_details").text("response")
        task_id = document.text("task_id")
    if task_id is None or reply is None:
        raise SettingsError(f"{document.where} holds no task_id and reply of a judge; {_ADVICE}")
    judgement = Judgement(
        source=name,
        judge=document.text("judge") or "webjudge",
        success=_read_label(document),
        reply=reply,
        contradictions=tuple(_list_contradictions(document)),
    )
    return task_id, judgement


def _read_label(document: JsonFields) -> bool | None:
    label = document.number("predicted_label")
    return None if label is None else label == 1


def _list_contradictions(document: JsonFields) -> Iterator[str]:
    """Scores of images that are not those in the text of the judge."""
    for number, image in enumerate(document.objects("image_judge_record"), 1):
        scores, score = _SCORE.findall(image.text("Response") or ""), image.number("Score")
        if scores and score is not None and int(scores[-1]) != score:
            yield f"image {number} has the score {score:g}, but its text says {scores[-1]}"
