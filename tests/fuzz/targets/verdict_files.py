"""Files of verdicts and of labels that a session names."""

from __future__ import annotations

from contextlib import suppress

from msgspec import to_builtins

from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import SettingsError
from pytest_webeval.recordings.human_labels import CODINGS
from pytest_webeval.recordings.human_labels import load_labels
from pytest_webeval.recordings.judge_outputs import load_verdicts
from pytest_webeval.rubrics.derivation import derive
from pytest_webeval.rubrics.judgements import from_judgement
from pytest_webeval.rubrics.policy import UnreadableVerdict
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rubrics.stored_verdict import RunFacts
from tests.fuzz.engine.parts import is_parted
from tests.fuzz.targets.definition import stored
from tests.fuzz.targets.rubric import use_verdict
from tests.fuzz.targets.target import expect
from tests.fuzz.targets.target import written
from tests.fuzz.targets.whole import directory

MAX_USED = 50  # judgements of one file
PLACES = ("Ours/7", "Theirs/7", "7", "Ours/Theirs/7")


def read_verdicts(content: bytes) -> None:
    """A file of verdicts, or a directory of them: a success only where a status in the reply says so."""
    if is_parted(content):
        with directory(content) as path:
            judgements = load_verdicts(path)
    else:
        with stored(content, "judged.json") as path:
            judgements = load_verdicts(path)
    expect(judgements, "no verdict, and no error")
    for task_id, judgement in list(judgements.items())[:MAX_USED]:
        written([task_id, to_builtins(judgement)])
        verdict = from_judgement(judgement)
        use_verdict(verdict)
        with suppress(UnreadableVerdict):
            is_success = derive(verdict, VerdictPolicy(), RunFacts()).score == 1
            reply = (judgement.reply or "").lower()
            expect(not is_success or ("status" in reply and "success" in reply), "a success that no reply says")


def read_labels(content: bytes) -> None:
    """A file of labels in each coding: the same labels never say the same in both, but for successes."""
    found = {}
    for coding in CODINGS:
        with suppress(SettingsError), stored(content, "labels.json") as path:
            found[coding] = load_labels(path, coding)
    for coding, labels in found.items():
        for task_id in list(labels.rows)[:MAX_USED]:
            for place in PLACES:
                with suppress(RecordingError):
                    judgement = labels.find(task_id, place)
                    written([task_id, to_builtins(judgement)])
                    is_success = judgement is not None and judgement.success is True
                    expect(not is_success or "1" in content.decode("utf-8", "replace"), f"a success by {coding}")
    if not found:  # say why
        with stored(content, "labels.json") as path:
            load_labels(path, next(iter(CODINGS)))
