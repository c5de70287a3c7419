"""Why the verdict on a task changed: which of the things that decide a verdict are others than before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from msgspec import Struct, field

from pytest_webeval.safety.text import truncate
from pytest_webeval.summary.scored_session import ScoredRun, ScoredSession, is_covered

LIBRARIES_NAMED, LONGEST_NAME = 10, 40
OWN_NAME = "pytest-webeval"  # whose code has a checksum


class Cause(StrEnum):
    """What may change a verdict. The values are the words of all reports."""

    RECORDING = "recording"
    TASK = "task definition"
    RULES = "rules"
    CHOICE = "evaluator choice"
    EVALUATORS = "evaluator code"
    LIBRARIES = "parser library"
    JUDGE = "judge"
    DAY = "day"
    UNKNOWN = "unknown"


_BY_DIGEST = {Cause.RECORDING: "recording", Cause.TASK: "task", Cause.JUDGE: "judge"}


class RunPair(Struct, frozen=True):
    """The same run in two sessions."""

    before: ScoredRun
    after: ScoredRun


class CauseFinder(Struct, frozen=True):
    """Compares what decided the verdicts of two sessions."""

    before: ScoredSession
    after: ScoredSession
    _libraries: dict[tuple[int, int], list[str]] = field(default_factory=dict)  # what changed, by the two objects

    def list_causes(self, pair: RunPair) -> list[str]:
        """All that differs, in the order of `Cause`; `unknown` where nothing differs, or nothing was recorded."""
        causes = {*self._list_session_causes(pair), *_list_digest_causes(pair)}
        if pair.before.today != pair.after.today and pair.before.today and pair.after.today:
            causes.add(Cause.DAY)
        return [cause.value for cause in Cause if cause in causes] or [Cause.UNKNOWN.value]

    def name_libraries(self, pair: RunPair) -> list[str]:
        """The parser libraries with other versions, as `name 1.0 to 2.0`; the first of them, if there are many."""
        before, after = self.before.libraries_of(pair.before), self.after.libraries_of(pair.after)
        key = id(before), id(after)  # nearly all runs share those of their session
        if key not in self._libraries:
            self._libraries[key] = list(list_changed_libraries(before, after))[:LIBRARIES_NAMED]
        return self._libraries[key]

    def _list_session_causes(self, pair: RunPair) -> Iterator[Cause]:
        before, after = self.before, self.after
        is_other_policy = before.policy != after.policy and bool(before.policy and after.policy)
        if self._have_other_rules(pair) or is_other_policy:
            yield Cause.RULES
        if before.choice_of(pair.before) != after.choice_of(pair.after):
            yield Cause.CHOICE
        if self._have_other_evaluators(pair):
            yield Cause.EVALUATORS
        if before.libraries_of(pair.before) and after.libraries_of(pair.after) and self.name_libraries(pair):
            yield Cause.LIBRARIES

    def _have_other_rules(self, pair: RunPair) -> bool:
        """Where one of the runs is an error, its task may be unknown, and so are its rules in a session of several."""
        if "error" in (pair.before.status, pair.after.status):
            return set(self.before.rules.split(",")).isdisjoint(self.after.rules.split(","))
        return self.before.rules_of(pair.before) != self.after.rules_of(pair.after)

    def _have_other_evaluators(self, pair: RunPair) -> bool:
        """Where one of the runs is an error, its evaluators may be unknown: any of its session may have decided."""
        before, after = _list_evaluators(self.before, pair.before), _list_evaluators(self.after, pair.after)
        if "error" not in (pair.before.status, pair.after.status):
            return not is_covered(before, after)
        return bool(before and after) and set(before.split(",")).isdisjoint(after.split(","))


def _list_evaluators(session: ScoredSession, run: ScoredRun) -> str:
    """The checksums of the code that decided on a run, or may have done so, joined by commas."""
    return session.evaluators if run.status == "error" else session.evaluators_of(run)


def list_changed_libraries(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """The libraries with other versions, as `name 1.0 to 2.0`, sorted."""
    for name in sorted((before.keys() | after.keys()) - {OWN_NAME}):
        if before.get(name) != after.get(name):
            versions = (truncate(each.get(name, "none"), LONGEST_NAME) for each in (before, after))
            yield f"{truncate(name, LONGEST_NAME)} {' to '.join(versions)}"


def _list_digest_causes(pair: RunPair) -> Iterator[Cause]:
    before, after = pair.before.digests, pair.after.digests
    for cause, name in _BY_DIGEST.items():
        is_known = bool(before and after) and (cause is Cause.JUDGE or name in before.keys() & after.keys())
        if is_known and before.get(name) != after.get(name):
            yield cause
