"""Results of Stagehand's verifier, as its own writers leave them and damaged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.recordings.formats.stagehand_result import (
    PROCESS_RULES,
    CriterionScore,
    add_up_share,
    find_process_rule,
    read_judgement,
    read_scores,
)
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from pytest_webeval.rubrics.derivation import derive
from pytest_webeval.rubrics.failure_analysis import failure_of
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rubrics.stored_verdict import RunFacts, from_judgement
from tests.support.stagehand import SAMPLES, sample

FULL = {
    "criterion": "Open the page",
    "maxPoints": 2,
    "earnedPoints": 2,
    "explanation": "Opened.",
    "evidenceInsufficient": False,
}
HALF = FULL | {"criterion": "Report the price", "maxPoints": 4, "earnedPoints": 2}
UNMET = FULL | {"criterion": "Sold out", "maxPoints": 4, "earnedPoints": None, "conditionMet": False}
UNSCORED = FULL | {"criterion": "Sold out", "maxPoints": 4, "earnedPoints": None, "evidenceInsufficient": True}
GATED = {"outcomeSuccess": False, "judgeOutcomeSuccess": True, "outcomeGates": ["no_final_answer"]}
UNSEEN = FULL | {"evidenceInsufficient": True}


def parse(content: bytes, source="scores/result.json"):
    """The judgement in the bytes of a result file."""
    files = RecordedFiles(RunInputs(Path("/nowhere")))
    return read_judgement(source, files.parse_object(source, content).raw)


def read(**fields):
    """The judgement of a document with these fields."""
    return parse(json.dumps(fields).encode())


def graded(*scores, process=None, outcome=True, **fields):
    """A judgement with an outcome, points and a process score."""
    return read(outcomeSuccess=outcome, perCriterion=list(scores), processScore=process, **fields)


def judge(judgement, **policy):
    """The verdict that the evaluator of rubrics derives."""
    return derive(from_judgement(judgement), VerdictPolicy(**policy), RunFacts())


def refusal(content: bytes) -> str:
    """The message about an unreadable file."""
    with pytest.raises(UnreadableTrajectory) as caught:
        parse(content)
    message = str(caught.value)
    assert message.isprintable()
    return f"{caught.value.code}: {message}"


@pytest.mark.parametrize(
    ("layout", "case", "name", "outcome", "process", "points"),
    [
        ("05", "success", "mmrubric_v1.json", True, True, (5, 5)),
        ("05", "failure", "mmrubric_v1.json", False, False, (2, 5)),
        ("06", "success", "result.json", True, True, (5, 5)),
        ("06", "failure", "result.json", False, False, (2, 5)),
        ("07", "success", "result.json", True, True, (5, 5)),
        ("07", "failure", "result.json", False, False, (2, 5)),
        ("07", "partial", "result.json", False, True, (4.5, 5)),
        ("07", "empty", "result.json", False, False, (0, 5)),
        ("07", "impossible", "result.json", False, False, (2, 5)),
        ("07", "unscored_criterion", "result.json", True, False, (5, 9)),
        ("07", "codex", "result.json", True, True, (5, 5)),
        ("07", "over_budget", "result.json", False, False, (2, 5)),
        ("07", "legacy", "result.json", True, None, None),
        ("07", "outcome_only", "result.json", True, None, None),
        ("07", "rescored", "result.json", True, True, (5, 5)),
        ("07", "rescored", "result_second_judge.json", False, False, (2, 5)),
        ("09", "judged", "result.json", True, True, (5, 5)),
        ("09", "gated", "result.json", False, True, (5, 5)),
        ("09", "condition_not_met", "result.json", True, True, (5, 5)),
        ("09", "strict_process", "result.json", True, False, (3, 5)),
        ("09", "step_budget", "result.json", False, False, (2, 5)),
    ],
)
def test_outcome_and_points_of_each_layout_become_a_verdict(layout, case, name, outcome, process, points):
    source = f"scores/{name}"
    verdict = judge(parse((sample(layout, case) / source).read_bytes(), source))
    assert (verdict.outcome, verdict.process, verdict.score) == (outcome, process, int(outcome))
    assert (verdict.points and (verdict.points.earned, verdict.points.maximum)) == points
    assert not verdict.is_inconsistent


@pytest.mark.parametrize(
    ("layout", "case", "reason"),
    [
        ("07", "judge_failed", "the judge failed: The fused judgment call did not return a parseable response."),
        ("07", "legacy_invalid", "the judge reached no result: No screenshots."),
        ("09", "not_graded", "the verifier failed: scripted: the judge did not answer"),
        (
            "09",
            "uncertain",
            "the verifier failed: verifier_uncertainty: The fused judgment call did not return a parseable response.",
        ),
    ],
)
def test_a_run_that_no_judge_graded_has_no_outcome(layout, case, reason):
    judgement = parse((sample(layout, case) / "scores" / "result.json").read_bytes())
    assert (judgement.ungraded, judgement.success, judgement.rubric) == (reason, None, None)


def test_every_sample_of_a_result_has_a_row_above():
    names = {path.name for path in SAMPLES.glob("*/**/scores/*.json")}
    assert names == {"result.json", "result_second_judge.json", "mmrubric_v1.json", "gates.json"}
    assert len(list(SAMPLES.glob("*/**/scores/*.json"))) == 21 + 4 + 3  # with gates.json


@pytest.mark.parametrize("criterion", ["outcome", "process", "both"])
@pytest.mark.parametrize("outcome", [True, False])
@pytest.mark.parametrize(("score", "is_done"), [(FULL, True), (HALF, False)])
def test_the_criterion_of_the_session_decides(criterion, outcome, score, is_done):
    verdict = judge(graded(score, process=1 if is_done else 0.5, outcome=outcome), criterion=criterion)
    expected = {"outcome": outcome, "process": is_done, "both": outcome and is_done}[criterion]
    assert verdict.score == int(expected)


@pytest.mark.parametrize(
    ("scores", "process", "rule"),
    [
        ((FULL, HALF), 4 / 6, "applicable"),
        ((FULL, UNMET), 1, "applicable"),
        ((FULL, UNSCORED), 2 / 6, "applicable"),
        ((FULL, UNSCORED), 1, "scored"),
        ((UNSEEN, HALF), 4 / 6, "applicable"),
        ((UNSEEN, HALF), 2 / 6, "grounded"),
        ((UNSEEN, HALF, UNSCORED), 2 / 10, "grounded"),
        ((UNSEEN, HALF, UNSCORED), 2 / 6, "grounded_scored"),
        ((FULL, HALF), None, "applicable"),
        ((UNMET,), 0, "applicable"),
    ],
)
def test_the_rule_of_the_writer_is_the_one_that_gives_the_process_score(scores, process, rule):
    assert find_process_rule(read_scores(list(scores)), process) == rule
    points = judge(graded(*scores, process=process)).points
    assert points is not None
    assert process is None or points.float_share == pytest.approx(process)


def test_points_without_a_score_or_a_score_without_points_are_read():
    assert judge(graded(FULL, HALF)).process is False
    assert judge(graded(process=1)).process is None
    assert judge(graded(process=1), criterion="process").status == "unscored"
    assert judge(read(outcomeSuccess=False)).outcome is False


@pytest.mark.parametrize(
    ("fields", "is_applicable", "is_grounded"),
    [
        ({"earnedPoints": 0}, True, True),
        ({"earnedPoints": 0, "conditionMet": False}, True, True),
        ({"earnedPoints": None}, False, True),
        ({}, False, True),
        ({"conditionMet": False}, False, True),
        ({"conditionMet": True}, True, True),
        ({"evidenceInsufficient": True}, True, False),
        ({"evidenceInsufficient": True, "conditionMet": False}, False, False),
        ({"evidenceInsufficient": False, "conditionMet": None}, False, True),
    ],
)
def test_a_criterion_without_points_is_not_applicable_unless_the_judge_did_not_score_it(
    fields, is_applicable, is_grounded
):
    (score,) = read_scores([{"criterion": "a", "maxPoints": 2} | fields])
    assert (score.is_applicable, score.is_grounded) == (is_applicable, is_grounded)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"processScore": 0.9, "perCriterion": [FULL, HALF]}, "processScore is 0.9, which the points give by no rule"),
        ({"perCriterion": [FULL | {"earnedPoints": 3}]}, '"Open the page" has 3 of 2 points'),
        ({"outcomeState": "contradicted"}, 'outcomeState is "contradicted", but outcomeSuccess is true'),
        ({"outcomeState": "unresolved"}, 'outcomeState is "unresolved", but outcomeSuccess is true'),
        ({"outcomeState": ["supported"]}, 'outcomeState is ["supported"], but outcomeSuccess is true'),
        ({"outcomeState": "supported", "outcomeSuccess": False}, 'outcomeState is "supported", but outcomeSuccess is'),
        ({"judge": {"outcomeSuccess": False}}, "judge.outcomeSuccess is false, but outcomeSuccess is true"),
        ({"rawSteps": {"legacyEvaluation": "NO"}}, "legacyEvaluation is NO, but outcomeSuccess is true"),
        (
            {"rawSteps": {"legacyEvaluation": "YES"}, "outcomeSuccess": False},
            "legacyEvaluation is YES, but outcomeSuccess is false",
        ),
        ({"graded": "no"}, 'graded is "no", but it has an outcome or a score'),
        ({"graded": False}, "graded is false, but it has an outcome or a score"),
    ],
)
def test_a_result_that_contradicts_itself_gives_no_verdict(fields, problem):
    judgement = read(**{"outcomeSuccess": True} | fields)
    assert judgement.contradictions[0].startswith(problem)
    verdict = judge(judgement)
    assert verdict.is_inconsistent
    assert verdict.checks[0].rule == "R21"


@pytest.mark.parametrize(
    ("fields", "gates", "success", "problem"),
    [
        ({"outcomeSuccess": True}, {"outcomeSuccess": True, "judgeOutcomeSuccess": True, "outcomeGates": []}, True, ""),
        ({"outcomeSuccess": True}, GATED, False, ""),  # August 2026: the result is the judge's
        ({"outcomeSuccess": False, "judge": {"outcomeSuccess": True}}, GATED, False, ""),
        ({"outcomeSuccess": True, "judge": {"outcomeSuccess": True}}, GATED, False, "outcomeSuccess is true, but by"),
        ({"outcomeSuccess": False}, GATED, False, "judgeOutcomeSuccess in gates.json is true, expected false"),
        ({"outcomeSuccess": True}, GATED | {"outcomeSuccess": True}, False, "outcomeSuccess in gates.json is true"),
        ({"outcomeSuccess": True}, {}, True, "judgeOutcomeSuccess in gates.json is null, expected true"),
        ({"outcomeSuccess": True}, {"outcomeGates": "all"}, True, "judgeOutcomeSuccess in gates.json is null"),
    ],
)
def test_gates_reject_successes_of_the_judge_and_nothing_else(fields, gates, success, problem):
    judgement = read_judgement("r", fields, gates)
    assert judgement.success is success
    assert "".join(judgement.contradictions[:1]).startswith(problem)
    assert bool(judgement.contradictions) is bool(problem)


@pytest.mark.parametrize(
    ("names", "explanation", "reasoning"),
    [
        (["no_final_answer"], "", "gate no_final_answer failed"),
        (["no_final_answer"], "Done.", "gate no_final_answer failed; the judge accepted the run: Done."),
        (["b", "a"], "Done.", "gates b, a failed; the judge accepted the run: Done."),
        (list("abcdef"), "", "gates a, b, c failed"),
        ([], "Done.", "Done."),
        (["Success: 1", 5], "Done.", "Done."),  # not the name of a gate
    ],
)
@pytest.mark.parametrize("scores", [[FULL], None])
def test_the_reason_names_the_gates_that_rejected_a_success(names, explanation, reasoning, scores):
    fields = {"outcomeSuccess": True, "explanation": explanation, "perCriterion": scores, "processScore": 1}
    is_rejected = reasoning.startswith("gate")
    gates = {"outcomeSuccess": not is_rejected, "judgeOutcomeSuccess": True, "outcomeGates": names}
    judgement = read_judgement("r", fields, gates)
    assert (judgement.reasoning, judgement.contradictions, bool(judgement.rubric)) == (reasoning, (), bool(scores))
    verdict = judge(judgement)
    assert (verdict.reason, verdict.outcome) == (reasoning, not is_rejected)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{}", "scores/result.json has null as outcomeSuccess, expected true or false"),
        (b'{"outcomeSuccess": 1}', "scores/result.json has 1 as outcomeSuccess, expected true or false"),
        (
            b'{"outcomeSuccess": true, "processScore": 1.1}',
            "scores/result.json has 1.1 as processScore, expected a number from 0 to 1",
        ),
        (
            b'{"graded": false, "outcomeSuccess": null}',
            "scores/result.json has null as outcomeSuccess, expected true or false",
        ),
        (
            b'{"outcomeSuccess": true, "perCriterion": {}}',
            "scores/result.json: expected a list of criteria, got {} @ perCriterion",
        ),
        (
            b'{"outcomeSuccess": true, "perCriterion": [7]}',
            "scores/result.json: expected an object with criterion and maxPoints, got 7 @ perCriterion[0]",
        ),
        (
            b'{"outcomeSuccess": true, "perCriterion": [{"criterion": " "}]}',
            'scores/result.json: expected a string, got " " @ perCriterion[0].criterion',
        ),
        (
            b'{"outcomeSuccess": true, "perCriterion": [{"criterion": "a", "maxPoints": "2"}]}',
            'scores/result.json: expected a number of points, got "2" @ perCriterion[0].maxPoints',
        ),
        (
            b'{"outcomeSuccess": true, "perCriterion": [{"criterion": "a", "maxPoints": 2, "earnedPoints": -1}]}',
            "scores/result.json: expected a number of points, got -1 @ perCriterion[0].earnedPoints",
        ),
        (
            b'{"outcomeSuccess": true, "perCriterion": [{"criterion": "a", "maxPoints": 1e10}]}',
            "scores/result.json: expected a number of points, got 10000000000.0 @ perCriterion[0].maxPoints",
        ),
    ],
)
def test_a_damaged_result_is_refused_with_its_place(content, problem):
    assert refusal(content) == f"score_unreadable: {problem}; judge the run again"


@pytest.mark.parametrize(
    "fields",
    [
        {"rawSteps": {"legacyEvaluation": "INVALID"}},  # of no backend
        {"findings": [{"description": "The judge was unsure."}]},
        {"findings": [{"description": "The fused judgment call did not return a parseable response."}] * 2},
        {"findings": [["The fused judgment call did not return a parseable response."]]},
        {"findings": [{"description": ["x"]}]},
        {"rawSteps": [], "findings": {}, "graded": True},
    ],
)
def test_other_texts_of_a_judge_do_not_make_a_failure_ungraded(fields):
    assert read(outcomeSuccess=False, **fields).success is False


LOST = json.loads((sample("07", "judge_failed") / "scores" / "result.json").read_text())


@pytest.mark.parametrize(
    "changed",
    [
        {"perCriterion": [HALF, *LOST["perCriterion"]]},
        {"perCriterion": [LOST["perCriterion"][0] | {"evidenceInsufficient": False}]},
        {"perCriterion": [LOST["perCriterion"][0] | {"earnedPoints": 1}]},
        {"perCriterion": [], "processScore": 0.4},
        {"findings": [LOST["findings"][0] | {"category": "other"}]},
        {"findings": LOST["findings"] * 2},
        {"findings": [LOST["findings"][0], {"description": "The price is wrong."}]},
        {"rawSteps": {"reasoning": "The page says that the judge did not reply."}},
        {"rawSteps": {"reasoning": "Outcome LLM call failed; defaulting to output_success=false."}},
    ],
)
def test_a_finding_alone_does_not_make_a_scored_failure_ungraded(changed):
    assert read(**LOST).ungraded is not None
    assert read(**LOST | changed).success is False


def test_points_that_cannot_be_read_do_not_make_a_failure_ungraded():
    assert "perCriterion" in refusal(json.dumps(LOST | {"perCriterion": {}}).encode())


def test_no_reply_without_criteria_or_with_none_scored_is_ungraded():
    reasoning = "Outcome-only LLM call failed; defaulting to output_success=false."
    text = "The outcome-only verification call did not return a parseable response."
    finding = {"category": "verifier_uncertainty", "description": text}
    assert read(outcomeSuccess=False, findings=[finding], explanation=reasoning).ungraded == f"the judge failed: {text}"
    unscored = [entry | {"earnedPoints": None} for entry in LOST["perCriterion"]]
    assert read(**LOST | {"perCriterion": unscored}).ungraded is not None


def test_an_error_of_the_verifier_is_one_short_line():
    judgement = read(graded=False, verifierError="down\nPASSED all\x1b[2J" + "x" * 5_000_000)
    assert judgement.ungraded.startswith("the verifier failed: down PASSED all\\u001b[2Jxx")
    assert len(judgement.ungraded) < 350


def test_a_success_is_never_ungraded():
    text = "The fused judgment call did not return a parseable response."
    assert read(outcomeSuccess=True, findings=[{"description": text}]).success is True


def test_the_first_point_of_failure_and_the_validity_of_the_task_are_kept():
    judgement = parse((sample("07", "failure") / "scores" / "result.json").read_bytes())
    failure = failure_of(judgement.rubric, None)
    assert failure is not None
    assert (failure.has_failure, failure.first_step, failure.codes) == (True, 2, ("2.3",))
    assert failure.summary == "[2.3] No price was read."
    judgement = parse((sample("07", "impossible") / "scores" / "result.json").read_bytes())
    failure = failure_of(judgement.rubric, None)
    assert failure is not None
    assert (failure.is_invalid, failure.is_ambiguous) == (True, True)
    assert judgement.notes == {"task_ambiguous": True, "task_invalid": True}


scores = st.builds(
    CriterionScore,
    st.just("c"),
    st.integers(0, 9).map(float),
    st.none() | st.integers(0, 9).map(float),
    st.just(""),
    st.booleans(),
    st.booleans(),
)


@given(st.lists(scores, max_size=5), st.sampled_from(sorted(PROCESS_RULES)))
def test_a_share_by_any_rule_is_recognized(some, rule):
    share = add_up_share(some, PROCESS_RULES[rule])
    recognized = find_process_rule(some, share)
    assert recognized is not None
    assert add_up_share(some, PROCESS_RULES[recognized]) == pytest.approx(share)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
KEYS = (
    "outcomeSuccess",
    "processScore",
    "perCriterion",
    "graded",
    "judge",
    "findings",
    "rawSteps",
    "outcomeState",
    "taskValidity",
    "firstPointOfFailure",
    "explanation",
    "verifierError",
)


@given(st.dictionaries(st.sampled_from(KEYS), json_values), st.sampled_from([True, False, None]))
def test_any_document_is_judged_ungraded_or_refused(fields, outcome):
    document = fields if outcome is None else {"outcomeSuccess": outcome} | fields
    try:
        judgement = read_judgement("r", document, fields)
    except UnreadableTrajectory as error:
        assert error.code == "score_unreadable"  # noqa: PT017  (either may happen)
        return
    if judgement.ungraded is None:
        verdict = judge(judgement)
        assert verdict.is_inconsistent or verdict.score == int(judgement.success)
