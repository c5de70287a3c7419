"""Expectations and runs that are held against each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.parity.harness.choosing import drawn
from tests.parity.harness.drafts import Draft, Event
from tests.parity.harness.synthetic import answering, requesting, task

SHOP = "http://shop.test:7770"
HOME = Event(f"{SHOP}/")
Expectation = Mapping[str, Any]  # what `requesting` takes: `expected` and options


@dataclass(frozen=True)
class Grid:
    """Expectations, and runs that are held against each of them."""

    about: str
    expectations: Sequence[Expectation]
    runs: Mapping[str, Sequence[Event]]
    kinds: Sequence[str] = ("MUTATE",)
    most: int = 24

    def drafts(self, first: int) -> Iterator[tuple[Draft, str]]:
        """As many runs of each task as are wanted at most, the tasks numbered from `first`."""
        tasks = [(kind, config) for kind in self.kinds for config in self.expectations]
        for number, (kind, config) in enumerate(tasks, first):
            evaluators = (answering(kind), requesting(**config))
            definition = {**task(*evaluators, sites=("shopping", "gitlab")), "task_id": number}
            answer = {"task_type": kind, "status": "SUCCESS", "retrieved_data": None}
            for name, events in drawn(self.runs.items(), self.most, number):
                yield Draft(definition, answer, (HOME, *events)), f"{self.about}: {name}"


def page(url: Any = "__SHOPPING__/a", **expected: Any) -> dict[str, Any]:
    """An expected event."""
    return {"url": url, **expected}
