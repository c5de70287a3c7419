"""Both scorers for the parity tests, and the line that says how much they compared.

The reference is installed into an environment of its own in pytest's cache on first use. Where that cannot be done the
tests are skipped, unless WEBEVAL_PARITY=required.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_webeval.tasks.task import Task
from tests.equivalence.two_versions import COMPARED, TwoVersions, Version
from tests.parity.harness.comparison import Pair, Scorers
from tests.parity.harness.disagreements import report
from tests.parity.harness.recording import HONEST, Recording
from tests.parity.harness.reference import Reference
from tests.parity.harness.reference_environment import NotInstallable, ReferenceEnvironment
from tests.parity.harness.run_directories import RunDirectory
from tests.parity.harness.sampling import covering
from tests.parity.harness.tallies import Tally, pytest_terminal_summary
from tests.parity.harness.verdicts import CRASH, HANG, Verdict

__all__ = ["pytest_terminal_summary"]


def pytest_collection_modifyitems(items):
    """Leave tests that need the reference to the suite `parity`: to install it takes two minutes."""
    for item in items:
        if "reference" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.whole)


@pytest.fixture(scope="module", autouse=True)
def published():
    """All tasks, as good as published: rules are compared with the reference's, and results name those that decided."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Task, "is_published", property(lambda _: True))
        yield


@pytest.fixture(scope="session")
def reference(request, tmp_path_factory):
    """webarena-verified 1.2.3 in a process of its own."""
    cache = getattr(request.config, "cache", None)
    try:
        if cache is None:
            raise NotInstallable("the reference is installed in pytest's cache: run without -p no:cacheprovider")
        python = ReferenceEnvironment.within(cache.mkdir("webarena-verified")).installed()
    except NotInstallable as error:
        if os.environ.get("WEBEVAL_PARITY") == "required":
            raise
        pytest.skip(str(error))
    process = Reference(python, tmp_path_factory.mktemp("reference") / "log.txt")
    yield process
    process.close()


@pytest.fixture(scope="session")
def versions():
    """An earlier version of ours and this one, where WEBEVAL_BEFORE names a checkout of the former."""
    tree = os.environ.get("WEBEVAL_BEFORE")
    both = TwoVersions(Version(Path(tree))) if tree else None
    yield both
    if both:
        both.close()


@pytest.fixture(scope="session")
def scorers(reference, versions, tmp_path_factory):
    """The reference and ours, side by side."""
    return Scorers(reference, tmp_path_factory.mktemp("runs"), versions)


@dataclass(frozen=True)
class Dataset:
    """The reference's 812 tasks in the order of their ids, and the ids of each subset."""

    tasks: tuple[Mapping[str, Any], ...]
    subsets: Mapping[str, tuple[int, ...]]


@pytest.fixture(scope="session")
def dataset(reference):
    """The reference's own task definitions, which are no part of this repository."""
    found = reference.now(command="dataset")
    tasks = sorted(found["tasks"], key=lambda task: task["task_id"])
    return Dataset(tuple(tasks), {name: tuple(ids) for name, ids in found["subsets"].items()})


@pytest.fixture(scope="session")
def sample(dataset):
    """A few dozen tasks that together use everything that the data set does."""
    return list(covering(dataset.tasks))


@pytest.fixture
def tally(request, versions):
    """Counts for the summary; they ride on the test's report. A result unlike the earlier version's fails the test."""
    found = Tally()
    yield found
    counts = versions.take_counts() if versions else Counter()
    found.classes.update(counts)
    request.node.user_properties.extend(found.properties())
    if different := [f"{count} times {kind}" for kind, count in counts.items() if kind != COMPARED]:
        pytest.fail("\n".join(different[:20]), pytrace=False)


@pytest.fixture
def thrice_on_disk(scorers, tally):
    """Fail for each run on which the specification, the reference and ours are not of one mind.

    Takes (what is special, run on disk, status by the specification).
    """

    def check(rows):
        verdicts = scorers.verdicts(run for _, run, _ in rows)
        told = [
            f"{about}\n  specification: {said}\n  reference: {reference}\n  ours: {ours} {' | '.join(ours.reasons)}"
            for (about, _, said), (reference, ours) in zip(rows, verdicts, strict=True)
            if not (ours.agrees_with(reference) and reference.status == said)
        ]
        tally.pairs += len(rows)
        tally.disagreements += len(told)
        if told:
            pytest.fail("\n".join([f"{len(told)} of {len(rows)} rows:", *told]), pytrace=False)

    return check


@pytest.fixture
def thrice(thrice_on_disk, tmp_path):
    """The same for recordings: takes (recording, status by the specification)."""

    def check(rows):
        thrice_on_disk(
            [
                (recording.about, RunDirectory.write(recording, tmp_path / str(row)), said)
                for row, (recording, said) in enumerate(rows)
            ]
        )

    return check


@dataclass(frozen=True)
class Comparison:
    """Fails a test that brings a recording on which the verdicts differ.

    By the rules `reference` all are to be the same, by `default` those about honest recordings that went to a
    configured site, unless a warning names a rule about evidence. The others are counted by what they were made to
    show, and must have a verdict.
    """

    scorers: Scorers
    tally: Tally

    def __call__(self, recordings: Iterable[Recording]) -> list[Pair]:
        """Both verdicts about each recording, by the rules `reference`."""
        both = list(self.tally.watch(self.scorers.pairs_by(("reference", "default"), recordings)))
        differ = [pair for _, pair in both if not pair.agrees]
        self.tally.classes.update(f"default rules differ on: {_kind(pair)}" for pair in differ)
        self._none([pair for pair, _ in both if not pair.agrees], "reference")
        self._none([pair for pair in differ if _kind(pair) == HONEST or _is_none(pair.ours)], "default")
        return [pair for pair, _ in both]

    def _none(self, wrong: list[Pair], rules: str) -> None:
        self.tally.disagreements += len(wrong)
        if wrong:
            pytest.fail(report(wrong, self.scorers, rules), pytrace=False)


def _is_none(verdict: Verdict) -> bool:
    return verdict.status in {CRASH, HANG}


def _kind(pair: Pair) -> str:
    """The class of a recording that the default rules judge otherwise; of an honest one, what did it."""
    if pair.recording.kind != HONEST:
        return pair.recording.kind
    if pair.agrees_by_any_address:
        return "a site that was not visited"
    return "evidence that the reference does not read" if pair.is_about_evidence else HONEST


@pytest.fixture
def agree(scorers, tally):
    """Score recordings with both and fail where a task or an evaluator gets another status: `agree(recordings)`."""
    return Comparison(scorers, tally)
