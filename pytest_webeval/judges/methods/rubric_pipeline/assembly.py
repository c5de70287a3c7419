"""The payload of a verdict, as WebTailBench's evaluator of June 2026 writes it (`fara_webeval.md` §5.3, §6.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct

from pytest_webeval.judges.methods.rubric_pipeline.criteria import Item, list_conditional, to_number, with_totals
from pytest_webeval.judges.methods.rubric_pipeline.critical_points import ViolationReply, outcome_rules
from pytest_webeval.judges.methods.rubric_pipeline.grouping import MAX_IMAGES, Groups
from pytest_webeval.judges.methods.rubric_pipeline.material import Analyses
from pytest_webeval.judges.methods.rubric_pipeline.outcome import Outcome
from pytest_webeval.judges.methods.rubric_pipeline.vote_instances import VoteInstance

_KEYPOINT = 3  # part of the name; the pipeline does not use it


class Findings(Struct, frozen=True, kw_only=True):
    """What all steps came to. `items` are the criteria before the screenshots were scored."""

    answer: str
    threshold: Decimal
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

    @property
    def instance(self) -> VoteInstance:
        """The median vote."""
        return self.instances[self.median]

    @property
    def process(self) -> bool:
        """Whether the exact share of the points reaches the threshold."""
        return self.instance.points.reaches(self.threshold)


def name_score_file(threshold: Decimal) -> str:
    """The name of the score file."""
    share = f"{threshold:f}"
    plain = share.rstrip("0").rstrip(".") if "." in share else share
    return f"mmrubric_{plain}-{MAX_IMAGES}-{_KEYPOINT}.json"


def build_payload(findings: Findings) -> dict[str, Any]:
    """The payload, whose score is the outcome."""
    outcome, points = findings.outcome, findings.instance.points
    return {
        "is_success": int(outcome.success),
        "success_criterion": "outcome",
        "final_answer": findings.answer,
        "outcome_success": outcome.success,
        "outcome_reasoning": outcome.reasoning,
        "outcome_primary_intent": outcome.primary_intent,
        "rubric_is_success": int(findings.process),
        "rubric_items": list(findings.instance.items),
        "rubric_total_max_points": to_number(points.maximum),
        "rubric_total_earned_points": to_number(points.earned),
        "rubric_outcome_verification": _build_verification(findings),
        "rubric_intermediate_mm_rubric_steps": _build_steps(findings),
        "rubric_majority_vote_metadata": _build_metadata(findings),
        "rubric_all_rubric_dicts": [with_totals(instance.items) for instance in findings.instances],
        "rubric_all_scores_list": [instance.score for instance in findings.instances],
        "rubric_cp_classification": findings.critical_point,
    }


def _build_verification(findings: Findings) -> dict[str, Any]:
    violation = findings.violation
    return {
        "primary_intent": findings.outcome.primary_intent,
        "reasoning": findings.outcome.reasoning,
        "output_success": findings.outcome.success,
        "cp_type_used": findings.critical_point["critical_point_type"],
        "cp_violation": None if violation is None else violation.cp_violation,
        "cp_violation_reasoning": "" if violation is None else violation.reasoning,
    }


def _build_metadata(findings: Findings) -> dict[str, Any]:
    scores = [instance.score for instance in findings.instances]
    return {
        "n_instances": len(scores),
        "median_instance_idx": findings.median,
        "all_scores": scores,
        "median_score": scores[findings.median],
        "outcome_votes": list(findings.outcome.votes),
        "majority_output_success": findings.outcome.success,
    }


def _build_steps(findings: Findings) -> dict[str, Any]:
    return {
        **_build_evidence_steps(findings),
        **_build_instance(findings.instance),
        **_build_vote_steps(findings),
        "step8_cp_violation_check": _build_violation(findings.violation),
        "cp_prompt_blocks": {"outcome_rules": outcome_rules(findings.critical_point)},
        "cp_classification_used": findings.critical_point["critical_point_type"],
        "step9_first_point_of_failure": findings.first_failure,
        "step9b_task_verification_with_trajectory": findings.validity_with_run,
        "step10_task_verification": findings.validity,
        "degraded_steps": dict(findings.degraded),
    }


def _build_violation(violation: ViolationReply | None) -> dict[str, Any] | None:
    return None if violation is None else {"reasoning": violation.reasoning, "cp_violation": violation.cp_violation}


def _build_evidence_steps(findings: Findings) -> dict[str, Any]:
    rows = enumerate(findings.relevance)
    return {
        "step1_num_screenshots": len(findings.relevance),
        "step2_relevance_scores": {f"screenshot_{image}": _build_relevance(image, scores) for image, scores in rows},
        "step3_grouped_screenshots": {str(index): list(images) for index, images in findings.groups.items()},
        "step4_evidence_by_criterion": {str(index): list(entries) for index, entries in findings.analyses.items()},
        "step4_5_disambiguation": _build_conditions(findings.items),
        "step5_reality_check": {
            "reality_checks": [
                {"criterion_idx": index, "reality_notes": item["reality_notes"]}
                for index, item in enumerate(findings.items)
            ]
        },
    }


def _build_relevance(image: int, scores: Sequence[int]) -> dict[str, int]:
    return {str(index): score for index, score in enumerate(scores)} | {"screenshot_idx": image}


def _build_conditions(items: Sequence[Item]) -> list[dict[str, Any]]:
    return [
        {
            "criterion_idx": index,
            "condition": items[index]["condition"],
            "reasoning": items[index].get("condition_disambiguation_reasoning", ""),
            "is_condition_met": items[index]["is_condition_met"],
        }
        for index in list_conditional(items)
    ]


def _build_instance(instance: VoteInstance) -> dict[str, Any]:
    return {
        "step6_rescoring_summary": list(instance.summary),
        "step7_penalty_criteria": list(instance.penalties),
        "step7_reasoning": instance.reasoning,
        "step7_requires_penalty": bool(instance.penalties),
    }


def _build_vote_steps(findings: Findings) -> dict[str, Any]:
    outcome = findings.outcome
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
        "step8_outcome_verification": _build_verification(findings),
        "majority_vote_step8": {
            "all_votes": list(outcome.votes),
            "majority_output_success": outcome.success,
            "all_results": outcome.results,
        },
    }
