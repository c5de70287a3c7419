"""Tasks of benchmarks whose runs are trajectories: hardly more than an id and a text (`fara_webeval.md` §1.4)."""

from __future__ import annotations

from typing import Any

from msgspec import field
from msgspec import structs

from pytest_webeval.task_cells import REPHRASED
from pytest_webeval.task_cells import rephrased_id
from pytest_webeval.tasks import RUBRIC_EVALUATOR
from pytest_webeval.tasks import Task


class TrajectoryTask(Task, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """A task that a rubric or a judge decides on. It names no site, and its text may be unknown.

    `benchmark` is `om2w`, `webvoyager`, `webtailbench` or empty; `group` what its results are told apart by: the level,
    the web site's name or the split. In `rephrasings` the text is blank where the definition has none to offer.
    `warnings` say what in the definition could not be read and was left out.
    """

    task_id: str
    sites: list[str] = field(default_factory=list)
    intent_template_id: int = -1
    start_urls: list[str] = field(default_factory=list)
    intent: str = ""
    intent_template: str = ""
    eval: list[dict[str, Any]] = field(default_factory=lambda: [{"evaluator": RUBRIC_EVALUATOR}])
    instantiation_dict: dict[str, Any] = field(default_factory=dict)
    revision: int = -1

    benchmark: str = ""
    group: str | None = None
    rubric: dict[str, Any] | None = None
    reference_length: int | None = None
    rephrasings: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def original_id(self) -> str | None:
        """The id of the task that this one says in other words, or None."""
        found = rephrased_id(self.task_id)
        return found[0] if found else None

    def rephrased(self, number: int) -> TrajectoryTask | None:
        """The same task in its n-th other words, counted from 1; None where there are none."""
        text = self.rephrasings[number - 1] if 0 < number <= len(self.rephrasings) else ""
        changed = {"task_id": f"{self.task_id}{REPHRASED}{number}", "intent": text, "rephrasings": ()}
        return structs.replace(self, **changed) if text else None


def bare_task(task_id: str, intent: str = "", start_url: str | None = None) -> TrajectoryTask:
    """The task of a trajectory whose definition nobody gave."""
    return TrajectoryTask(task_id=task_id, intent=intent, start_urls=[start_url] if start_url else [])
