"""Changes that a passing run made and no other passing run of its task: the task did not ask for them, it seems."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pytest_webeval.authoring.addresses import Addresses, Place
from pytest_webeval.authoring.requests import list_requests
from pytest_webeval.authoring.volatility import hide_secrets, is_random
from pytest_webeval.recordings.network.events import NetworkTrace
from pytest_webeval.safety.limits import USUAL, Limits
from pytest_webeval.safety.text import to_line

LONGEST = 200  # characters of a place, and of the names of fields
_INDEX = re.compile(r"\[\d+\]")


class Change(Struct, frozen=True):
    """A request that changed something, as it is compared: without values, and without ids that the run was given."""

    method: str
    place: Place
    operation: str | None
    fields: tuple[str, ...]

    @property
    def without_random_ids(self) -> Change:
        """The same with any segment in place of a random one, which another run may have as another text."""
        segments = tuple(None if segment and is_random(segment) else segment for segment in self.place.segments)
        return replace(self, place=replace(self.place, segments=segments))

    @property
    def text(self) -> str:
        """Method, place and fields on one line."""
        operation = f" {self.operation}" if self.operation else ""
        fields = f" ({', '.join(self.fields)})" if self.fields else ""
        return to_line(f"{self.method} {self.place.text}{operation}{fields}", LONGEST)


class RunChanges(Struct, frozen=True):
    """What a run changed: each change with the number of its first event."""

    label: str
    numbers: Mapping[Change, int]


class SideEffect(Struct, frozen=True):
    """A change that only one passing run of a task made. `others` is the number of the other passing runs."""

    task_id: int | str
    run: str
    number: int
    change: Change
    others: int

    @property
    def text(self) -> str:
        """What happened where, on one line."""
        where = to_line(f"task {self.task_id}: {self.run}", LONGEST)
        absence = "not in the" if self.others == 1 else "in none of the"
        others = "other passing run" if self.others == 1 else f"{self.others:,} other passing runs"
        return f"{where}: event {self.number} {self.change.text} is {absence} {others}"

    def to_json(self) -> dict[str, Any]:
        return {
            "task_id": self.task_id,
            "run": self.run,
            "event": self.number,
            "method": self.change.method,
            "url": self.change.place.text,
            "operation": self.change.operation,
            "fields": list(self.change.fields),
            "other_passing_runs": self.others,
        }


def list_changes(label: str, trace: NetworkTrace, addresses: Addresses, limits: Limits = USUAL) -> RunChanges:
    """What a run changed, without telemetry, logins and requests that were refused."""
    numbers: dict[Change, int] = {}
    for request in list_requests(trace, addresses, limits):
        if request.is_change and not request.is_login:
            sent = (*request.fields, *request.blank, *request.query)
            names = sorted({hide_secrets(_INDEX.sub("[*]", name)) for name in sent})
            operation = request.operation and hide_secrets(request.operation)
            change = Change(request.method, request.place, operation, tuple(names))
            numbers.setdefault(change, request.number)
    return RunChanges(label, numbers)


def find_side_effects(runs_by_task: Mapping[int | str, Sequence[RunChanges]]) -> list[SideEffect]:
    """The changes of passing runs that no other passing run of the task made, in the order of tasks, runs and events.

    A single run has nothing to be compared with.
    """
    return [
        SideEffect(task_id, run.label, number, change, len(runs) - 1)
        for task_id, runs in runs_by_task.items()
        if len(runs) > 1
        for run, changes in zip(runs, _list_unshared(runs), strict=True)
        for change, number in changes.items()
    ]


def _list_unshared(runs: Sequence[RunChanges]) -> list[dict[Change, int]]:
    """Of each run the changes that it shares with no other: neither as they are, nor with other random ids."""
    shared = Counter(change for run in runs for change in run.numbers)
    rare = [{change: number for change, number in run.numbers.items() if shared[change] == 1} for run in runs]
    alike = Counter(each for changes in rare for each in {change.without_random_ids for change in changes})
    return [
        {change: number for change, number in changes.items() if alike[change.without_random_ids] == 1}
        for changes in rare
    ]


def count_single(runs_by_task: Mapping[int | str, Sequence[RunChanges]]) -> int:
    """How many tasks have one passing run, which nothing can be compared with."""
    return sum(len(runs) == 1 for runs in runs_by_task.values())
