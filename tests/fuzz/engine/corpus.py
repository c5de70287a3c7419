"""The inputs of a target: documents, committed or drawn, then what becomes of them. Each has a number."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from random import Random

from tests.fuzz.engine.mutation import mutated
from tests.fuzz.engine.strategies import STRATEGIES, drawn
from tests.fuzz.targets.target import Target

SEEDS = Path(__file__).parents[1] / "seeds"
DRAWN = 100


class Corpus:
    """Inputs by number: the same for the same target, seed and number, on every machine."""

    def __init__(self, target: Target, seed: int = 0, draws: int = DRAWN) -> None:
        self.target, self.seed, self.draws = target, seed, draws

    @cached_property
    def seeds(self) -> list[bytes]:
        """Documents that lie in the repository."""
        return [path.read_bytes() for path in sorted((SEEDS / self.target.name).iterdir())]

    @cached_property
    def documents(self) -> list[bytes]:
        """The same, then those drawn by the strategy of the target."""
        return self.seeds + drawn(STRATEGIES[self.target.shape], self.draws, self.seed)

    def numbered(self, number: int) -> bytes:
        """One input. The first are the documents as they are."""
        if number < len(self.documents):
            return self.documents[number]
        random = Random(f"{self.target.name} {self.seed} {number}")
        seeds = self.documents if random.random() < 0.3 else self.seeds
        return mutated(random.choice(seeds), self.seeds, random)
