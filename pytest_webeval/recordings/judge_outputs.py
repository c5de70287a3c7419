"""Verdicts that a judge wrote apart from the runs, by the id of the task (`--webeval-verdicts`).

Two writers are known: GitHub `OSU-NLP-Group/Online-Mind2Web`, `src/run.py` (commit ccdeb0d), whose
`METHOD_MODEL_score_threshold_N_auto_eval_results.json` has a JSON object a line with `task_id`, `evaluation_details`
and `predicted_label`; and AgentRewardBench (McGill-NLP/agent-reward-bench), with one JSON file a trajectory: the reply
of the judge as the API gave it, `image_judge_record`, `trajectory_info`.
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
from pytest_webeval.recordings.trajectory.recorded import Judgement, ReplyForm
from pytest_webeval.recordings.verdict_files import build_type_error, join_checksums, parse_object, read_member

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
        """Name and checksum."""
        return {"name": self.source, "checksum": self.checksum}

    def find_key(self, task_id: str, folders: Sequence[str]) -> str | None:  # noqa: ARG002  (labels are of an agent)
        """The key of the verdict on a run; None where there is none."""
        return task_id if task_id in self.by_task else None

    def has_task(self, task_id: str) -> bool:
        """Whether there is a verdict on the task."""
        return task_id in self.by_task

    def explain_mismatch(self, count: int) -> str:  # noqa: ARG002  (same)
        """What to do if no verdict is on a run."""
        return "compare its task ids with those of the runs"

    def judge(self, key: Any) -> Judgement:
        """The verdict with this key."""
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
    judge = _find_judge(name)
    differences = list(_list_image_differences(document, _find_threshold(name), where))
    judgement = Judgement(
        source=name,
        judge=read_member(document, "judge", str, "a string", where) or judge,
        success=_read_label(document, where),
        reply=reply,
        reply_form=_FORMS.get(judge, ReplyForm.STATUS),
        contradictions=tuple(text for text, has_effect in differences if has_effect),
        warnings=tuple(text for text, has_effect in differences if not has_effect),
    )
    return task_id, judgement


def _read_reply(document: Mapping[str, Any], name: str, where: str) -> tuple[str | None, str | None]:
    """The id of the task, and what the judge wrote."""
    response = read_member(document, "response", (dict, str), "an object or a string", where)
    if isinstance(response, dict) and "choices" in response:
        choices = read_member(response, "choices", list, "a list", where) or [None]
        choice = choices[0] if isinstance(choices[0], dict) else {}
        message = read_member(choice, "message", dict, "an object", where) or {}
        return name.removesuffix(".json"), read_member(message, "content", str, "a string", where)
    details = read_member(document, "evaluation_details", dict, "an object", where) or {}
    task_id = read_member(document, "task_id", str, "a string", where)
    return task_id, read_member(details, "response", str, "a string", where)


def _read_label(document: Mapping[str, Any], where: str) -> bool | None:
    label = read_member(document, "predicted_label", (int, Decimal), "0 or 1", where)
    if label not in (None, 0, 1):
        raise build_type_error("predicted_label", label, "0 or 1", where)
    return None if label is None else label == 1


def _find_judge(name: str) -> str:
    """The judge whose verdicts a file of this name holds."""
    methods = (method for method in _METHODS if PurePosixPath(name).name.startswith(method))
    return _METHODS[next(methods, "WebJudge_general_eval")]


def _find_threshold(name: str) -> int:
    match = _THRESHOLD.search(name)
    return _DEFAULT_THRESHOLD if match is None else int(match[1])


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
