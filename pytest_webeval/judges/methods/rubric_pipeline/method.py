"""The pipeline: its steps in order, from the task and the run to a verdict (`fara_webeval.md` §6.4).

The payload of a verdict is as WebTailBench's evaluator of June 2026 writes it (§5.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from msgspec import structs, to_builtins

from pytest_webeval.errors import SettingsError
from pytest_webeval.judges.calls import JudgeCalls
from pytest_webeval.judges.evidence import Evidence
from pytest_webeval.judges.methods.rubric_pipeline import scoring, screenshots, votes
from pytest_webeval.judges.methods.rubric_pipeline.case import Analyses, Case, Item
from pytest_webeval.judges.methods.rubric_pipeline.diagnosis import diagnose
from pytest_webeval.judges.methods.rubric_pipeline.requirements import (
    check_violation,
    classify,
    digest_rubric,
    find_rubric,
    list_conditional,
    outcome_rules,
)
from pytest_webeval.judges.methods.scored_rubrics import RubricVerdict, find_median
from pytest_webeval.judges.verdicts import JudgedVerdict, JudgeSettings, JudgingMethod

_KEYPOINT = 3  # part of the name of a score file; the pipeline does not use it


def judge(evidence: Evidence, calls: JudgeCalls, settings: JudgeSettings) -> JudgedVerdict:
    """The verdict on the outcome, which is decided apart from the points of a rubric of the task.

    Raises `JudgeFailed`, and `SettingsError` for an even number of votes.
    """
    if settings.votes < 1 or settings.votes % 2 == 0:
        raise SettingsError(f"invalid number of votes {settings.votes}; use 1, 3, 5 or 7")
    shots = screenshots.select_screenshots(evidence)
    case = Case(evidence=evidence, calls=calls, screenshots=shots, votes=settings.votes)
    case = structs.replace(case, critical_point=classify(case))
    rubric = find_rubric(case)
    case = structs.replace(case, rubric=digest_rubric(rubric))
    steps: dict[str, Any] = {}
    items, analyses = _examine(case, scoring.score_actions(case, rubric), steps)
    rescorings = scoring.rescore(case, items, analyses)
    effects = votes.find_side_effects(case, [rescoring.items for rescoring in rescorings], analyses)
    instances = votes.build_instances(rescorings, effects, settings.threshold)
    verdict = _decide(case, instances, analyses, settings.threshold, steps)
    payload = verdict.to_payload(steps, final_answer=evidence.answer)
    return JudgedVerdict(
        file_name=f"mmrubric_{settings.threshold_text}-{screenshots.MAX_IMAGES}-{_KEYPOINT}.json",
        score=int(verdict.verification["output_success"]),
        response=payload | {"rubric_cp_classification": case.critical_point},
        votes=tuple(verdict.votes),
    )


METHOD = JudgingMethod(name="rubric-pipeline", version="1", judge=judge)


def _examine(case: Case, items: Sequence[Item], steps: dict[str, Any]) -> tuple[Sequence[Item], Analyses]:
    """The criteria with what the screenshots say of their conditions and facts, and the analyses (steps 1 to 5)."""
    relevance = screenshots.rate_screenshots(case, items)
    groups = screenshots.group_images(relevance)
    analyses = screenshots.analyze_screenshots(case, items, screenshots.drop_irrelevant(groups, relevance))
    items = scoring.check_reality(case, scoring.decide_conditions(case, items, analyses), analyses)
    steps |= {
        "step1_num_screenshots": len(relevance),
        "step2_relevance_scores": {
            f"screenshot_{image}": {str(index): score for index, score in enumerate(scores)} | {"screenshot_idx": image}
            for image, scores in enumerate(relevance)
        },
        "step3_grouped_screenshots": {str(index): images for index, images in groups.items()},
        "step4_evidence_by_criterion": {str(index): entries for index, entries in analyses.items()},
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
    }
    return items, analyses


def _decide(
    case: Case, instances: Sequence[votes.VoteInstance], analyses: Analyses, threshold: Decimal, steps: dict[str, Any]
) -> RubricVerdict:
    """The verdict by the median of the points and most votes on the outcome, and why (steps 6 to 10)."""
    median = find_median(instances)
    items = instances[median].items
    outcome = votes.decide_outcome(case, items, analyses)
    violation = check_violation(case, items, analyses)
    verification = {
        "primary_intent": outcome.primary_intent,
        "reasoning": outcome.reasoning,
        "output_success": outcome.success,
        "cp_type_used": case.critical_point["critical_point_type"],
        "cp_violation": violation and violation.cp_violation,
        "cp_violation_reasoning": violation.reasoning if violation else "",
    }
    steps |= {
        **votes.describe_instances(instances, median),
        "step8_outcome_verification": verification,
        "majority_vote_step8": {
            "all_votes": list(outcome.votes),
            "majority_output_success": outcome.success,
            "all_results": to_builtins(outcome.replies),
        },
        "step8_cp_violation_check": to_builtins(violation),
        "cp_prompt_blocks": {"outcome_rules": outcome_rules(case.critical_point)},
        "cp_classification_used": case.critical_point["critical_point_type"],
        **diagnose(case, items, analyses, success=outcome.success),
        "degraded_steps": dict(case.calls.degraded),
    }
    return RubricVerdict(
        rubrics=instances, median=median, threshold=threshold, verification=verification, votes=outcome.votes
    )
