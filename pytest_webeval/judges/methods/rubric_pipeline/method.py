"""The pipeline: its steps in order, from the task and the run to a verdict (`fara_webeval.md` §6.4).

The payload of a verdict is as WebTailBench's evaluator of June 2026 writes it (§5.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar

from msgspec import Struct, structs, to_builtins

from pytest_webeval.errors import SettingsError
from pytest_webeval.judges.calls import JudgeCalls
from pytest_webeval.judges.evidence import Evidence
from pytest_webeval.judges.methods.rubric_pipeline import diagnosis, scoring, screenshots, votes
from pytest_webeval.judges.methods.rubric_pipeline.case import Analyses, Case, Item
from pytest_webeval.judges.methods.rubric_pipeline.criteria import digest_rubric, find_rubric, list_conditional
from pytest_webeval.judges.methods.rubric_pipeline.critical_points import (
    ViolationReply,
    check_violation,
    classify,
    outcome_rules,
)
from pytest_webeval.judges.methods.scored_rubrics import RubricVerdict
from pytest_webeval.judges.verdicts import JudgedVerdict, JudgeSettings, JudgingMethod

_KEYPOINT = 3  # part of the name of a score file; the pipeline does not use it


class RubricPipeline(JudgingMethod):
    """Scores a run by a rubric of its task, and decides the outcome apart from the points. The outcome is the score."""

    name: ClassVar[str] = "rubric-pipeline"
    version: ClassVar[str] = "1"

    def judge(self, evidence: Evidence, calls: JudgeCalls, settings: JudgeSettings) -> JudgedVerdict:
        """The verdict on a run. Raises `JudgeFailed`, and `SettingsError` for an even number of votes."""
        if settings.votes < 1 or settings.votes % 2 == 0:
            raise SettingsError(f"invalid number of votes {settings.votes}; use 1, 3, 5 or 7")
        shots = screenshots.select_screenshots(evidence)
        case = Case(evidence=evidence, calls=calls, screenshots=shots, votes=settings.votes)
        case = structs.replace(case, critical_point=classify(case))
        findings = _judge(case, settings)
        return JudgedVerdict(
            file_name=f"mmrubric_{_format_share(settings.threshold)}-{screenshots.MAX_IMAGES}-{_KEYPOINT}.json",
            score=int(findings.outcome.success),
            response=_build_payload(findings, settings.threshold),
            votes=findings.outcome.votes,
        )


class Findings(Struct, frozen=True, kw_only=True):
    """What all steps came to. `items` are the criteria before the screenshots were scored."""

    answer: str
    critical_point: dict[str, Any]
    items: tuple[Item, ...]
    relevance: Sequence[Sequence[int]]
    groups: screenshots.Groups
    analyses: Analyses
    instances: Sequence[votes.VoteInstance]
    median: int
    outcome: votes.Outcome
    violation: ViolationReply | None
    first_failure: dict[str, Any]
    validity_with_run: dict[str, Any]
    validity: dict[str, Any]
    degraded: Mapping[str, str]


def _judge(case: Case, settings: JudgeSettings) -> Findings:
    rubric = find_rubric(case)
    case = structs.replace(case, rubric=digest_rubric(rubric))
    items = scoring.score_actions(case, rubric)
    relevance = screenshots.rate_screenshots(case, items)
    groups = screenshots.group_images(relevance)
    analyses = screenshots.analyze_screenshots(case, items, screenshots.drop_irrelevant(groups, relevance))
    items = scoring.check_reality(case, scoring.decide_conditions(case, items, analyses), analyses)
    rescorings = scoring.rescore(case, items, analyses)
    effects = votes.find_side_effects(case, [rescoring.items for rescoring in rescorings], analyses)
    instances = votes.build_instances(rescorings, effects, settings.threshold)
    median = votes.find_median(instances)
    scored = instances[median].items
    outcome = votes.decide_outcome(case, scored, analyses)
    run = diagnosis.format_run(case, scored, analyses, success=outcome.success)
    return Findings(
        answer=case.evidence.answer,
        critical_point=case.critical_point,
        items=items,
        relevance=relevance,
        groups=groups,
        analyses=analyses,
        instances=instances,
        median=median,
        outcome=outcome,
        violation=check_violation(case, scored, analyses),
        first_failure=diagnosis.find_failures(case, run),
        validity_with_run=diagnosis.verify_with_run(case, run),
        validity=diagnosis.verify_task(case),
        degraded=case.calls.degraded,
    )


def _format_share(share: Decimal) -> str:
    text = f"{share:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _build_payload(findings: Findings, threshold: Decimal) -> dict[str, Any]:
    """The payload, whose score is the outcome."""
    outcome, violation = findings.outcome, findings.violation
    verdict = RubricVerdict(
        rubrics=findings.instances,
        median=findings.median,
        threshold=threshold,
        verification={
            "primary_intent": outcome.primary_intent,
            "reasoning": outcome.reasoning,
            "output_success": outcome.success,
            "cp_type_used": findings.critical_point["critical_point_type"],
            "cp_violation": None if violation is None else violation.cp_violation,
            "cp_violation_reasoning": "" if violation is None else violation.reasoning,
        },
        votes=outcome.votes,
    )
    payload = verdict.to_payload(_build_steps(findings, verdict.verification), final_answer=findings.answer)
    return payload | {"rubric_cp_classification": findings.critical_point}


def _build_steps(findings: Findings, verification: Mapping[str, Any]) -> dict[str, Any]:
    items = findings.items
    return {
        "step1_num_screenshots": len(findings.relevance),
        "step2_relevance_scores": {
            f"screenshot_{image}": {str(index): score for index, score in enumerate(scores)} | {"screenshot_idx": image}
            for image, scores in enumerate(findings.relevance)
        },
        "step3_grouped_screenshots": {str(index): list(images) for index, images in findings.groups.items()},
        "step4_evidence_by_criterion": {str(index): list(entries) for index, entries in findings.analyses.items()},
        "step4_5_disambiguation": [
            {
                "criterion_idx": index,
                "condition": items[index]["condition"],
                "reasoning": items[index].get("condition_disambiguation_reasoning", ""),
                "is_condition_met": items[index]["is_condition_met"],
            }
            for index in list_conditional(items)
        ],
        "step5_reality_check": {
            "reality_checks": [
                {"criterion_idx": index, "reality_notes": item["reality_notes"]} for index, item in enumerate(items)
            ]
        },
        **_build_instance(findings.instances[findings.median]),
        **_build_votes(findings, verification),
        "step8_cp_violation_check": to_builtins(findings.violation),
        "cp_prompt_blocks": {"outcome_rules": outcome_rules(findings.critical_point)},
        "cp_classification_used": findings.critical_point["critical_point_type"],
        "step9_first_point_of_failure": findings.first_failure,
        "step9b_task_verification_with_trajectory": findings.validity_with_run,
        "step10_task_verification": findings.validity,
        "degraded_steps": dict(findings.degraded),
    }


def _build_instance(instance: votes.VoteInstance) -> dict[str, Any]:
    return {
        "step6_rescoring_summary": list(instance.summary),
        "step7_penalty_criteria": list(instance.effects.penalties),
        "step7_reasoning": instance.effects.reasoning,
        "step7_requires_penalty": bool(instance.effects.penalties),
    }


def _build_votes(findings: Findings, verification: Mapping[str, Any]) -> dict[str, Any]:
    instances = [
        {"instance_idx": index, "score": instance.score, **_build_instance(instance)}
        for index, instance in enumerate(findings.instances)
    ]
    return {
        "majority_vote_steps67": {
            "all_scores": [instance.score for instance in findings.instances],
            "median_instance_idx": findings.median,
            "all_instances": instances,
        },
        "step8_outcome_verification": verification,
        "majority_vote_step8": {
            "all_votes": list(findings.outcome.votes),
            "majority_output_success": findings.outcome.success,
            "all_results": to_builtins(findings.outcome.replies),
        },
    }
