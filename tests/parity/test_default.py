"""The default rules read both dialects alike, and give nothing to who answers without looking."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.parity.harness.cheats import fixed_answers, lucky
from tests.parity.harness.goldens import golden
from tests.parity.harness.mutations import mutations
from tests.parity.harness.verdicts import SUCCESS

CHUNKS, FEWER = 32, 4
DOCUMENTED = {"task_type": "action", "performed_operation": "action", "retrieved_data": "results"}


def documented(recording):
    """The recording with its response in the documented dialect, or None where it has no fields to rename."""
    try:
        said = json.loads(recording.response.decode())  # JSON in bytes may be in other encodings, which count as broken
    except ValueError:
        return None
    if not isinstance(said, dict) or not said or {"action", "results"} & said.keys():
        return None
    if "task_type" in said:  # the older name counts only where this one is absent
        said.pop("performed_operation", None)
    renamed = {DOCUMENTED.get(name, name): value for name, value in said.items()}
    return replace(recording, response=json.dumps(renamed).encode())


def different_responses(tasks):
    """Of the recordings of each task the first with each response."""
    for task in tasks:
        yield from {recording.response: recording for recording in (*mutations(task), golden(task))}.values()


@pytest.fixture
def same_in_both_dialects(scorers, tally):
    """Fail for each response whose translation into the documented dialect gets another verdict."""

    def check(tasks):
        wrong = []
        for recording in different_responses(tasks):
            if (other := documented(recording)) is not None:
                verdicts = scorers.ours(recording, "default"), scorers.ours(other, "default")
                tally.classes["responses in the documented dialect"] += 1
                if verdicts[0] != verdicts[1]:
                    wrong.append(f"{recording.name}: {verdicts[0]}, translated {verdicts[1]}\n  {other.response}")
        assert not wrong, "\n".join(wrong[:20])

    return check


@pytest.mark.whole
def test_a_sample_in_the_documented_dialect(sample, same_in_both_dialects):
    same_in_both_dialects(sample[::FEWER])


@pytest.mark.whole
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_everything_in_the_documented_dialect(dataset, same_in_both_dialects, chunk):
    same_in_both_dialects(dataset.tasks[chunk::CHUNKS])


# Tasks of which a bare answer is the right one; whoever gives it without looking is lucky.
LUCKY = {
    "there is no such thing": {
        *(
            8,
            22,
            24,
            101,
            115,
            166,
            168,
            183,
            191,
            201,
            218,
            219,
            225,
            234,
            235,
            247,
            253,
            313,
            368,
            376,
            382,
            723,
            726,
        ),
        789,
    },
    "that is not allowed": {491, 783, 790, 792, 793, 805, 807},
    "none, or one": {14, 79, 132, 134, 135, 144, 205, 207, 303, 305, 306, 329, 346, 348, 787},
    "yes, or no": {*range(36, 41), *range(173, 183)},
    "the first page is the last": {356, 757, 758, *range(761, 768)},
}


def test_the_tasks_that_luck_may_pass_are_known(dataset):
    assert {task["task_id"] for task in dataset.tasks if lucky(task)} == set().union(*LUCKY.values())
    assert sum(map(len, LUCKY.values())) == 71


@pytest.fixture
def only_luck(scorers, tally):
    """Fail where the default rules pass an answer that was given without looking, unless it happens to be right."""

    def check(tasks):
        recordings = (recording for task in tasks for recording in fixed_answers(task))
        passed = {"by the reference": set(), "by the default rules": set()}
        for (pair,) in tally.watch(scorers.pairs_by(("default",), recordings)):
            for side, verdict in zip(passed, (pair.reference, pair.ours), strict=True):
                if verdict.status == SUCCESS:
                    passed[side].add(pair.recording.task["task_id"])
        tally.classes.update({f"tasks that fixed answers pass {side}": len(found) for side, found in passed.items()})
        assert passed["by the default rules"] == {task["task_id"] for task in tasks if lucky(task)}

    return check


@pytest.mark.whole
def test_a_sample_of_answers_given_without_looking(sample, only_luck):
    only_luck(sample[::FEWER])


@pytest.mark.whole
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_answers_given_without_looking_pass_only_by_luck(dataset, only_luck, chunk):
    only_luck(dataset.tasks[chunk::CHUNKS])
