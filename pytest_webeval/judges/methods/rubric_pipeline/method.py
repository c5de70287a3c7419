"""The pipeline: its steps in order, from the task and the run to a verdict (`fara_webeval.md` §6.4)."""

from __future__ import annotations

from typing import ClassVar

from msgspec import structs

from pytest_webeval.errors import SettingsError
from pytest_webeval.judges.calls import JudgeCalls
from pytest_webeval.judges.evidence import Evidence
from pytest_webeval.judges.methods.rubric_pipeline import diagnosis, scoring, screenshots, votes
from pytest_webeval.judges.methods.rubric_pipeline.assembly import Findings, build_payload, name_score_file
from pytest_webeval.judges.methods.rubric_pipeline.case import Case
from pytest_webeval.judges.methods.rubric_pipeline.criteria import digest_rubric, find_rubric
from pytest_webeval.judges.methods.rubric_pipeline.critical_points import check_violation, classify
from pytest_webeval.judges.verdicts import JudgedVerdict, JudgeSettings, JudgingMethod


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
            file_name=name_score_file(settings.threshold),
            score=int(findings.outcome.success),
            response=build_payload(findings, settings.threshold),
            votes=findings.outcome.votes,
        )


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
