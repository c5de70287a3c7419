"""The payload of a verdict, as WebTailBench's evaluator of June 2026 writes it (`fara_webeval.md` §5.3, §6.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct, to_builtins

from pytest_webeval.judges.methods.rubric_pipeline.case import Analyses, Item
from pytest_webeval.judges.methods.rubric_pipeline.criteria import list_conditional
from pytest_webeval.judges.methods.rubric_pipeline.critical_points import ViolationReply, outcome_rules
from pytest_webeval.judges.methods.rubric_pipeline.screenshots import MAX_IMAGES, Groups
from pytest_webeval.judges.methods.rubric_pipeline.votes import Outcome, VoteInstance
from pytest_webeval.judges.methods.scored_rubrics import RubricVerdict

_KEYPOINT = 3  # part of the name; the pipeline does not use it


class Findings(Struct, frozen=True, kw_only=True):
    """What all steps came to. `items` are the criteria before the screenshots were scored."""

    answer: str
    critical_point: dict[str, Any]
    items: tuple[Item, ...]
    relevance: Sequence[Sequence[int]]
    groups: Groups
    analyses: Analyses
    instances: Sequence[VoteInstance]
    median: int
    outcome: Outcome
    violation: ViolationReply | None
    first_failure: dict[str, Any]
    validity_with_run: dict[str, Any]
    validity: dict[str, Any]
    degraded: Mapping[str, str]


def name_score_file(threshold: Decimal) -> str:
    share = f"{threshold:f}"
    plain = share.rstrip("0").rstrip(".") if "." in share else share
    return f"mmrubric_{plain}-{MAX_IMAGES}-{_KEYPOINT}.json"


def build_payload(findings: Findings, threshold: Decimal) -> dict[str, Any]:
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


def _build_instance(instance: VoteInstance) -> dict[str, Any]:
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
