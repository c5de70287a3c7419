"""Files of an AgentLab experiment: its summary, and the actions in its log."""

from __future__ import annotations

from msgspec import to_builtins

from pytest_webeval.recordings.formats.agentlab import classify, find_answer, judge, parse_log, parse_summary
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.trajectory.recorded import OutcomeClass
from pytest_webeval.rubrics.stored_verdict import from_judgement
from tests.fuzz.targets.rubric import use_verdict
from tests.fuzz.targets.target import NOWHERE, KeptFiles, expect, written


def read_agentlab_summary(content: bytes) -> None:
    """`summary_info.json`: only a full reward is a success, and only an experiment without an end is excluded."""
    fields = RecordedFiles(KeptFiles(NOWHERE)).parse_object("summary_info.json", content)
    summary, raw = parse_summary(fields), fields.raw
    outcome = classify(summary)
    is_aborted = outcome.kind is OutcomeClass.ABORTED
    expect(not is_aborted or True not in (raw.get("terminated"), raw.get("truncated")), "an end that is excluded")
    written(to_builtins(outcome))
    for benchmark in ("toy", "openended", None):
        judgement = judge(summary, benchmark)
        expect(not judgement.success or raw["cum_reward"] == 1, "a success without a full reward")
        expect(
            not judgement.success or raw.get("err_msg") is None or judgement.contradictions, "a success with an error"
        )
        written(to_builtins(judgement))
        if judgement.ungraded is None:
            use_verdict(from_judgement(judgement))


def read_agentlab_log(content: bytes) -> None:
    """`experiment.log`: each action has a name that is a word, and the answer is part of an action."""
    actions = parse_log(content.decode("utf-8", "replace"))
    for action in actions:
        expect(action.name.isidentifier(), f"an action named {action.name!r}")
    answer = find_answer(actions)
    expect(answer is None or any("(" in action.code for action in actions), "an answer of no call")
    written([*to_builtins(actions), answer])
