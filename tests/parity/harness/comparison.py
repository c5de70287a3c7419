"""Recordings scored by both sides over the same files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tests.equivalence.two_versions import TwoVersions
from tests.parity.harness.recording import Recording
from tests.parity.harness.reference import Reference
from tests.parity.harness.run_directories import RunDirectory
from tests.parity.harness.verdicts import Verdict, our_verdict

EVIDENCE = ("§3.2", "§3.3", "§4.3")  # rules about what was recorded elsewhere, or not at all
BATCH = 16  # so many runs are under way in the reference while we score the same


@dataclass(frozen=True)
class Pair:
    """Both verdicts about one recording."""

    recording: Recording
    reference: Verdict
    ours: Verdict

    @property
    def agrees(self) -> bool:
        """Whether they are the same, evaluator by evaluator."""
        return self.ours.agrees_with(self.reference)

    @property
    def agrees_by_any_address(self) -> bool:
        """Whether they are the same but for errors about a site that was not visited."""
        return self.ours.by_any_address.agrees_with(self.reference)

    @property
    def is_about_evidence(self) -> bool:
        """Whether a warning says that they differ over evidence that the reference does not read or ask for."""
        return not self.ours.rules.isdisjoint(EVIDENCE)


@dataclass(frozen=True)
class Scorers:
    """The reference and ours, side by side, in a directory that they may fill."""

    reference: Reference
    scratch: Path
    versions: TwoVersions | None = None

    def pairs(self, recordings: Iterable[Recording], rules: str = "reference") -> Iterator[Pair]:
        """Both verdicts about each recording, in order."""
        for (pair,) in self.pairs_by((rules,), recordings):
            yield pair

    def pairs_by(self, rules: Sequence[str], recordings: Iterable[Recording]) -> Iterator[tuple[Pair, ...]]:
        """The reference's verdict about each recording beside ours by each of the rule sets, in order."""
        rest = iter(recordings)
        while batch := list(islice(rest, BATCH)):
            runs = [RunDirectory.write(one, self.scratch / str(place)) for place, one in enumerate(batch)]
            for one, (reference, *ours) in zip(batch, self.verdicts(runs, *rules), strict=True):
                yield tuple(Pair(one, reference, our) for our in ours)

    def verdicts(self, runs: Iterable[RunDirectory], *rules: str) -> list[tuple[Verdict, ...]]:
        """The reference's verdict about each run on disk, and ours by each of the rule sets."""
        found = list(runs)
        tickets = [self.reference.ask_verdict(run) for run in found]
        ours = [[our_verdict(run, name) for name in rules or ("reference",)] for run in found]
        if self.versions:
            self.versions.compare([run.request(name) for run in found for name in rules or ("reference",)])
        return [(self.reference.verdict(ticket), *each) for ticket, each in zip(tickets, ours, strict=True)]

    def pair(self, recording: Recording, rules: str = "reference") -> Pair:
        """Both verdicts about one recording."""
        return next(self.pairs([recording], rules))

    def ours(self, recording: Recording, rules: str) -> Verdict:
        """Our verdict alone."""
        return our_verdict(RunDirectory.write(recording, self.scratch / "ours"), rules)
