"""How the runs of a session are judged: by which judge and method, and what a result says about that."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from msgspec import Struct, field, to_builtins

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.calls import JudgeCalls
from pytest_webeval.judges.evidence import Redact, build_evidence
from pytest_webeval.judges.identity import JudgeIdentity
from pytest_webeval.judges.questions import Question, Reply, Role, TokenUsage
from pytest_webeval.judges.verdicts import JudgedVerdict, JudgeSettings, JudgingMethod
from pytest_webeval.recordings.run import Run
from pytest_webeval.rubrics.score_files import read_score_file
from pytest_webeval.rubrics.stored_verdict import StoredVerdict
from pytest_webeval.safety.deadline import pause_time_limit
from pytest_webeval.storage import to_json_bytes
from pytest_webeval.tasks.task import Task

FindCost = Callable[[TokenUsage, str], Decimal | None]  # in USD, by model; None without a known price


class LiveVerdict(Struct, frozen=True):
    """What a judge found about a run: the verdict as if a file held it, and what the result says of the judge."""

    verdict: JudgedVerdict
    stored: StoredVerdict
    facts: dict[str, Any]


class Judging(Struct, frozen=True, eq=False):
    """One a process. `answer` is asked; `models` says which model has which role.

    `judges_again`: runs with a stored verdict are judged too. `proposes_patterns`: the judge is also asked about
    requests that came near the expected ones. `redact` removes secrets from texts before they are sent.
    """

    answer: Callable[[Question], Reply]
    models: Mapping[Role, str]
    method: JudgingMethod
    settings: JudgeSettings
    redact: Redact
    find_cost: FindCost
    concurrency: int = 1
    judges_again: bool = False
    proposes_patterns: bool = False
    _latest: list[tuple[Run, LiveVerdict | JudgeFailed]] = field(default_factory=list)

    @property
    def source(self) -> str:
        """The name of the judge in messages: `judge gpt-5 (rubric 1)`."""
        return f"judge {self.models[Role.VISION]} ({self.method.name} {self.method.version})"

    def judge(self, run: Run, task: Task) -> LiveVerdict:
        """The verdict on a run. Raises `RecordingError`, or `JudgeFailed` with `facts` of what it cost.

        The latest is cached: to find out whether a rule made a difference, an evaluator is called again.
        """
        if not (self._latest and self._latest[0][0] is run):
            self._latest[:] = [(run, self._judge(run, task))]
        verdict = self._latest[0][1]
        if isinstance(verdict, JudgeFailed):
            raise verdict
        return verdict

    def find_latest(self, run: Run) -> LiveVerdict | None:
        """The verdict on a run if it is the latest that was judged."""
        verdict = self._latest[0][1] if self._latest and self._latest[0][0] is run else None
        return verdict if isinstance(verdict, LiveVerdict) else None

    def _judge(self, run: Run, task: Task) -> LiveVerdict | JudgeFailed:
        calls = self._build_calls(self.method.name, self.method.version)
        try:
            with pause_time_limit():  # which is about the recording
                verdict = self.method.judge(build_evidence(run, task, self.redact), calls, self.settings)
                calls.check()
        except JudgeFailed as error:
            facts = self.identity.to_json() | self._describe(calls) | {"failure": error.outcome}
            return JudgeFailed(error.reason, error.outcome, facts)
        stored = read_score_file(f"{self.source}/{verdict.file_name}", to_json_bytes(verdict.to_score_file()))
        votes = {"agreement": verdict.agreement, "vote_values": list(verdict.votes)}
        return LiveVerdict(verdict, stored, self.identity.to_json() | self._describe(calls) | votes)

    def propose(self, task_text: str, expected: Mapping[str, Any], recorded: Mapping[str, Any]) -> dict[str, Any]:
        """What the judge proposes about a recorded request that came near the expected one, or why it does not.

        It decides nothing: a person may add the pattern to the task.
        """
        from pytest_webeval.judges.methods import request_judge  # few sessions ask for proposals

        calls = self._build_calls(request_judge.NAME, request_judge.VERSION)
        texts = self.redact([task_text, json.dumps(recorded, ensure_ascii=False, indent=1, default=str)])
        try:
            with pause_time_limit():
                proposal = request_judge.propose(texts[0], expected, texts[1], calls)
        except JudgeFailed as error:
            proposal = {"problem": error.reason, "failure": error.outcome}
        judge = {"model": self.models[Role.TEXT], "method": calls.method, "version": calls.version}
        return proposal | {"judge": judge | self._describe(calls)}

    def _build_calls(self, method: str, version: str) -> JudgeCalls:
        return JudgeCalls(
            answer=self.answer, models=self.models, method=method, version=version, concurrency=self.concurrency
        )

    @property
    def identity(self) -> JudgeIdentity:
        """What a certificate is valid for."""
        model, text_model = self.models[Role.VISION], self.models[Role.TEXT]
        return JudgeIdentity(
            model=model,
            text_model=None if text_model == model else text_model,
            method=self.method.name,
            version=self.method.version,
            votes=self.settings.votes,
            threshold=self.settings.threshold_text,
        )

    def _describe(self, calls: JudgeCalls) -> dict[str, Any]:
        """What a result says of the replies: the same whether they were remembered or not."""
        costs = [  # None where the server did not count the tokens
            self.find_cost(usage, model) if usage.prompt or usage.completion else None
            for model, usage in calls.usage.items()
        ]
        known = [cost for cost in costs if cost is not None]
        return {
            "calls": len(calls.asked),
            "usage": {model: to_builtins(usage) for model, usage in sorted(calls.usage.items())},
            "cost_usd": float(sum(known, Decimal())) if len(known) == len(costs) else None,
            "degraded": dict(sorted(calls.degraded.items())),
            "replied_by": sorted({asked.replied_by for asked in calls.asked}),
        }
