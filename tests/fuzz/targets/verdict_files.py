"""Files of verdicts that a session names."""

from __future__ import annotations

import re
from contextlib import suppress

from msgspec import to_builtins

from pytest_webeval.recordings.verdict_files import load_verdicts
from pytest_webeval.rubrics.derivation import derive
from pytest_webeval.rubrics.policy import UnreadableVerdict, VerdictPolicy
from pytest_webeval.rubrics.stored_verdict import RunFacts, from_judgement
from tests.fuzz.engine.parts import is_parted
from tests.fuzz.targets.definition import stored
from tests.fuzz.targets.rubric import use_verdict
from tests.fuzz.targets.target import expect, written
from tests.fuzz.targets.whole import directory

_MARKS = re.compile(r"[\"'“”*_`]")  # which the rule for the last status does not read
MAX_USED = 50  # judgements of one file


def read_verdicts(content: bytes) -> None:
    """A file of verdicts, or a directory of them: a success only where a status in the reply says so."""
    if is_parted(content):
        with directory(content) as path:
            verdicts = load_verdicts(path)
    else:
        with stored(content, "judged.json") as path:
            verdicts = load_verdicts(path)
    expect(verdicts.count, "no verdict, and no error")
    written(verdicts.describe())
    for task_id in list(verdicts.by_task)[:MAX_USED]:
        judgement = verdicts.judge(verdicts.find_key(task_id, ()))
        written([task_id, to_builtins(judgement)])
        verdict = from_judgement(judgement)
        use_verdict(verdict)
        with suppress(UnreadableVerdict):
            is_success = derive(verdict, VerdictPolicy(), RunFacts()).score == 1
            reply = _MARKS.sub("", judgement.reply or "").lower()
            expect(not is_success or ("status" in reply and "success" in reply), "a success that no reply says")
