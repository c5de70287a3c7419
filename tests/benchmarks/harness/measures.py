"""How two costs are compared."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Protocol

from tests.benchmarks.harness.measuring import Cost

MB = 1_000_000


def medians(costs: list[Cost]) -> Cost:
    """The median of each quantity; the worst exit code."""
    return Cost(
        wall=median(cost.wall for cost in costs),
        cpu=median(cost.cpu for cost in costs),
        peak=median(cost.peak for cost in costs),
        code=max(cost.code for cost in costs),
    )


class Measure(Protocol):
    """A number made of two costs."""

    @property
    def unit(self) -> str:
        """What stands after the number."""
        ...

    def value(self, one: Cost, other: Cost) -> float:
        """The number."""
        ...

    def told(self, one: Cost, other: Cost) -> str:
        """What it was computed from."""
        ...


@dataclass(frozen=True, slots=True)
class ProcessorTimes:
    """The first cost's seconds of a processor divided by the other's, each for so many tasks."""

    tasks: tuple[int, int] = (1, 1)
    unit: str = ""

    def value(self, one: Cost, other: Cost) -> float:
        """The ratio."""
        return (one.cpu / self.tasks[0]) / (other.cpu / self.tasks[1])

    def told(self, one: Cost, other: Cost) -> str:
        """Both times."""
        return f"{one.cpu:.2f} s / {other.cpu:.2f} s"


@dataclass(frozen=True, slots=True)
class WallTimes:
    """The first cost's seconds by the clock divided by the other's."""

    unit: str = ""

    def value(self, one: Cost, other: Cost) -> float:
        """The ratio."""
        return one.wall / other.wall

    def told(self, one: Cost, other: Cost) -> str:
        """Both times."""
        return f"{one.wall:.2f} s / {other.wall:.2f} s"


@dataclass(frozen=True, slots=True)
class ProcessorDifference:
    """The milliseconds of a processor that the first takes more than the other."""

    unit: str = " ms"

    def value(self, one: Cost, other: Cost) -> float:
        """The difference; it may be negative."""
        return 1_000 * (one.cpu - other.cpu)

    def told(self, one: Cost, other: Cost) -> str:
        """Both times."""
        return f"{one.cpu:.2f} s - {other.cpu:.2f} s"


@dataclass(frozen=True, slots=True)
class PeakDifference:
    """The bytes of memory that the first takes more than the other, in units of so many."""

    size: int = MB
    unit: str = " MB"

    def value(self, one: Cost, other: Cost) -> float:
        """The difference; it may be negative."""
        return (one.peak - other.peak) / self.size

    def told(self, one: Cost, other: Cost) -> str:
        """Both peaks."""
        return f"{one.peak / MB:.0f} MB - {other.peak / MB:.0f} MB"
