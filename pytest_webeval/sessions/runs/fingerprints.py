"""What decides the verdict on a run but for its files, as one checksum: with the same, a session finds the same."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Iterable
from functools import cached_property
from types import NoneType

from msgspec import Struct, field

from pytest_webeval.evaluators import EVALUATORS
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.recordings.run import Run
from pytest_webeval.safety.files import sha256
from pytest_webeval.scoring.definition import Definition, Trust
from pytest_webeval.scoring.provenance import libraries, record_code_checksum
from pytest_webeval.sessions.workspace.workspace import Workspace
from pytest_webeval.tasks.expectations import RUBRIC_EVALUATOR
from pytest_webeval.tasks.sites import Sites

_SCALARS = (str, int, float, bytes, tuple, frozenset, NoneType)
_ADDRESS = " at 0x"  # in the text of an object that does not describe itself
UNKNOWN = "unknown"  # a state that no other session can compare


class Fingerprints(Struct, eq=False, dict=True):
    """One per process. Only what a task depends on is part of its fingerprint: see `of`."""

    workspace: Workspace
    _sites: dict[tuple[str, ...], str] = field(default_factory=dict)

    def of(self, modules: str | None, run: Run, definition: Definition) -> str:
        """SHA-256 of all that decides a verdict, apart from the files of the run and from the state of evaluators.

        Evaluators of users may use anything. Ours use the day for a task with dates, the options for verdicts for a
        task that a rubric decides, and the addresses of its sites. `modules` is the checksum of modules of
        users that take part, empty without any; the fingerprint is empty where they are unknown.
        """
        task, settings = definition.task, self.workspace.settings
        if modules is None:
            return ""
        is_any = bool(modules)
        is_rubric = any(expectation.evaluator == RUBRIC_EVALUATOR for expectation in run.list_expectations(task))
        facts = (
            self._session,
            self.hooks,
            modules,
            run.format,
            task.checksum,
            repr(settings.rules.choose(is_published=task.is_published)),
            definition.trust,
            str(self.workspace.tasks.origin) if definition.trust is Trust.UNDEFINED else "",
            settings.today.isoformat() if is_any or task.depends_on_day else "",
            self._policy if is_any or is_rubric or settings.judge_requests else "",
            repr((run.external, run.external_problem)),
            self._format_sites(tuple(self.workspace.sites.environments if is_any else task.sites)),
        )
        return sha256("\n".join(facts).encode("utf-8", "backslashreplace"))

    @property
    def hooks(self) -> str:
        """The checksum of modules of users with hooks, which may replace anything."""
        return ""

    @cached_property
    def _policy(self) -> str:
        """How verdicts count, and who gives one to a run that has none."""
        return f"{self.workspace.settings.policy!r} {self.workspace.settings.judging}"

    def _format_sites(self, names: tuple[str, ...]) -> str:
        """The addresses of some sites, and whether there are any at all: without, they are guessed.

        Under rules that refuse sites, all names count.
        """
        if names not in self._sites:
            environments = self.workspace.sites.environments
            addresses = sorted((name, repr(environments.get(name))) for name in names)
            others = [] if self.workspace.settings.rules.any_sites else sorted(environments)
            self._sites[names] = json.dumps([bool(environments), addresses, others])
        return self._sites[names]

    @cached_property
    def _session(self) -> str:
        """What decides on all runs of a session."""
        settings = self.workspace.settings
        facts = [settings.affecting_results(), settings.output is None, libraries(), record_code_checksum()]
        return sha256(json.dumps([*facts, sys.version_info[:2]], sort_keys=True).encode("utf-8", "backslashreplace"))


def describe_evaluators(evaluators: Iterable[Evaluator], sites: Sites | None) -> str:
    """The state of the evaluators that users wrote, and of sites that a fixture gave, as a checksum.

    Empty if there are none; `UNKNOWN` if an object in them does not describe itself.
    """
    ours = set(EVALUATORS.values())
    own = [evaluator for evaluator in evaluators if type(evaluator) not in ours]
    states = [f"{type(each).__module__}.{type(each).__qualname__} {_format_state(each)}" for each in own]
    if sites is not None:
        states.append(repr(sites))
    if any(_ADDRESS in state for state in states):
        return UNKNOWN
    return sha256("\n".join(states).encode("utf-8", "backslashreplace")) if states else ""


def _format_state(evaluator: Evaluator) -> str:
    kinds = [kind for kind in type(evaluator).__mro__ if kind.__module__ != "builtins"]
    slots = [name for kind in kinds for name in getattr(kind, "__slots__", ())]
    state = {name: getattr(evaluator, name) for name in slots if hasattr(evaluator, name)}
    state |= getattr(evaluator, "__dict__", {})
    shared = [(name, value) for kind in kinds for name, value in vars(kind).items() if isinstance(value, _SCALARS)]
    try:  # as well, for an object may describe itself without all of its fields
        pickled = pickle.dumps(sorted(state.items()))
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError):
        return _ADDRESS
    return f"{sorted(state.items())!r} {sorted(shared, key=repr)!r} {sha256(pickled)}"
