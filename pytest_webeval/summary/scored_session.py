"""A finished session, as far as it can be compared: read from its summary, or from the results of its runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal, TypeVar

from msgspec import Meta, Struct, ValidationError, convert, field, structs

from pytest_webeval.errors import SettingsError
from pytest_webeval.results import SCHEMA_VERSION, SUMMARY, Summary, find_version_problem
from pytest_webeval.safety.json import format_validation_error, get_member
from pytest_webeval.safety.text import escape_surrogates, pluralize
from pytest_webeval.summary.result_facts import parse_digests
from pytest_webeval.summary.run_folders import find_run_folder
from pytest_webeval.summary.statistics import group, wilson_over_tasks
from pytest_webeval.summary.store.shared_values import SharedValues
from pytest_webeval.summary.store.spooled_list import LongList
from pytest_webeval.summary.task_identity import count_tasks

PROBLEMS_NAMED = 3
_OLDER = "has no checksums of its runs, so causes of changes are unknown; score again to get them"


class ScoredRun(Struct, frozen=True, kw_only=True):
    """A row of a summary. Fields that are not named here may hold anything.

    `rules`, `evaluators` and `libraries` are empty where they are those of the session.
    """

    run: str
    task_id: int | str
    status: Literal["success", "failure", "partial_match", "error", "excluded"]
    sites: list[str] = field(default_factory=list)
    template: int = field(name="intent_template_id", default=-1)
    type: str | None = None
    reason: str | None = None
    tags: list[str] = field(default_factory=list)
    checksums: str | None = None
    today: str | None = None
    wall_time: float = 0.0
    rules: str | None = None
    evaluators: str | None = None
    libraries: dict[str, str] | None = None
    format: Any = None  # and benchmark: see `TaskRun`
    benchmark: Any = None
    is_named_by_run: bool = False
    excluded_as: str | None = None  # what an excluded run is counted as
    group: str | None = None  # the level, web site or split of a benchmark that has one
    evaluator_choice: list[str] = []  # by which alone it was scored; empty for all, or those of the session
    partial_score: Annotated[float, Meta(ge=0, le=1)] | None = None  # the mean of its evaluators, if one grades

    @property
    def attempt(self) -> str:
        """The run folder, which names the attempt or agent."""
        return find_run_folder(self.run, is_named_by_run=self.is_named_by_run)

    @property
    def digests(self) -> dict[str, str]:
        """The digests of recording, judge files and task that are known."""
        return parse_digests(self.checksums)

    @property
    def is_success(self) -> bool:
        """Whether the task is solved."""
        return self.status == "success"

    @property
    def is_judged(self) -> bool:
        """Whether the run counts in rates: all do that are not excluded, errors included."""
        return self.status != "excluded"

    @property
    def site_key(self) -> str:
        """Sites sorted and joined by ``-``."""
        return "-".join(sorted(self.sites))


_UNLIKE = ("run", "task_id", "checksums")  # fields that few rows have in common


class _Details(Struct, frozen=True):
    """The fields of a summary under `webeval`."""

    schema_version: int = SCHEMA_VERSION  # a summary without it was written before there were versions
    rules: str = ""
    partial: bool = False
    libraries: dict[str, str] = field(default_factory=dict)
    policy: dict[str, Any] = field(default_factory=dict)
    subset: dict[str, Any] | None = None
    evaluator_choice: list[str] = []
    unscored_count: int = 0
    deselected_count: int = 0

    @property
    def left_out(self) -> int:
        """How many runs of the tasks in question the session did not score."""
        outside = (self.subset or {}).get("outside_count", 0)
        return self.unscored_count + self.deselected_count - (outside if isinstance(outside, int) else 0)


class _SummaryFile(Struct, frozen=True):
    timestamp: str
    task_results: list[Any]
    webarena_verified_evaluator_checksum: str = ""
    webarena_verified_data_checksum: str = ""
    webeval: _Details = field(default_factory=_Details)


class ScoredSession(Struct, frozen=True, dict=True):
    """The runs of a session and what decided their verdicts. `problems` name what could not be read."""

    name: str
    runs: list[ScoredRun]
    timestamp: str = ""
    rules: str = ""
    evaluators: str = ""
    tasks: str = ""  # checksum of the definitions
    libraries: dict[str, str] = field(default_factory=dict)
    policy: dict[str, Any] = field(default_factory=dict)
    subset: str | None = None  # its name and the beginning of its checksum
    partial: bool = False
    problems: list[str] = field(default_factory=list)
    evaluator_choice: list[str] = []
    left_out: int = 0  # runs of a partial session that it did not score, or whose rows are of no use

    @cached_property
    def judged(self) -> list[ScoredRun]:
        """The runs that count in rates."""
        return [run for run in self.runs if run.is_judged]

    def select(self, task_ids: Iterable[int | str]) -> ScoredSession:
        """The same session with the runs of some tasks."""
        selected = set(map(str, task_ids))
        return structs.replace(self, runs=[run for run in self.runs if str(run.task_id) in selected])

    def rules_of(self, run: ScoredRun) -> str:
        """The name of the rules by which a run was scored."""
        return run.rules or self.rules

    def choice_of(self, run: ScoredRun) -> list[str]:
        """The names of the evaluators that alone scored a run; empty for all."""
        return run.evaluator_choice or self.evaluator_choice

    @cached_property
    def choices(self) -> str:
        """The evaluators that scored the runs, or `all`; several choices are joined by semicolons."""
        return "; ".join(sorted({", ".join(self.choice_of(run)) or "all" for run in self.runs})) or "all"

    def evaluators_of(self, run: ScoredRun) -> str:
        """The checksum of the code that decided on a run."""
        return run.evaluators or self.evaluators

    def libraries_of(self, run: ScoredRun) -> dict[str, str]:
        """The versions of the libraries that decided."""
        return self.libraries if run.libraries is None else run.libraries


def is_covered(before: str, after: str) -> bool:
    """Whether one of two lists of checksums, joined by commas, has all of the other.

    Then nothing is known to be another: runs of another kind, and those with an error, have another checksum or none.
    """
    first, second = (set(filter(None, checksums.split(","))) for checksums in (before, after))
    return first <= second or second <= first


def have_same_rules(before: ScoredSession, after: ScoredSession) -> bool:
    """Whether the same rules judged the tasks of two sessions, each of which may have several for its tasks."""
    if before.rules == after.rules:
        return True
    if not (before.rules and after.rules and is_covered(before.rules, after.rules)):
        return False
    earlier, later = _find_rules_by_task(before), _find_rules_by_task(after)
    return all(earlier[task_id] == later[task_id] for task_id in earlier.keys() & later.keys())


def _find_rules_by_task(session: ScoredSession) -> dict[str, set[str]]:
    """The rules of each task. An error may be of a run whose task could not be read."""
    by_task = group((run for run in session.runs if run.status != "error"), lambda run: str(run.task_id))
    return {task_id: set(map(session.rules_of, runs)) for task_id, runs in by_task.items()}


def find_differences(before: ScoredSession, after: ScoredSession) -> dict[str, tuple[str, str]]:
    """What decided the verdicts of two sessions and is known to be another, by its name, with both values."""
    differences = {}
    if before.subset != after.subset:
        differences["subset"] = before.subset or "none", after.subset or "none"
    if before.choices != after.choices:
        differences["choices"] = before.choices, after.choices
    if not have_same_rules(before, after):
        differences["rules"] = before.rules or "unknown", after.rules or "unknown"
    if before.policy != after.policy and before.policy and after.policy:
        differences["policy"] = str(before.policy), str(after.policy)
    if not is_covered(before.evaluators, after.evaluators):
        differences["evaluators"] = before.evaluators, after.evaluators
    if not is_covered(before.tasks, after.tasks):
        differences["tasks"] = before.tasks, after.tasks
    return differences


Row = TypeVar("Row", bound=ScoredRun)

# Names of groups of runs that have a rate of their own, by the name of their table.
GROUPS: Mapping[str, Callable[[ScoredRun], str]] = {
    "sites": lambda run: run.site_key,
    "types": lambda run: run.type or "",
    "templates": lambda run: str(run.template) if run.template >= 0 else "",
}


def count_successes(runs: Iterable[ScoredRun]) -> int:
    """How many runs succeeded."""
    return sum(run.is_success for run in runs)


def compute_rate_interval(judged: Sequence[ScoredRun]) -> tuple[float, float]:
    """The 95 % interval of the success rate."""
    return wilson_over_tasks(count_successes(judged), len(judged), count_tasks(judged))


def success_share(runs: Sequence[ScoredRun]) -> float:
    """The share of runs that succeeded."""
    return count_successes(runs) / len(runs)


def count_runs(runs: Sequence[ScoredRun]) -> dict[str, Any]:
    """Successes, judged runs and all runs, and the success rate of the judged ones with its interval."""
    judged = [run for run in runs if run.is_judged]
    return {
        "success_count": count_successes(judged),
        "judged_count": len(judged),
        "run_count": len(runs),
        "success_rate": success_share(judged) if judged else None,
        "success_rate_interval_95": list(compute_rate_interval(judged)),
        "judged_task_count": count_tasks(judged),
    }


def parse_summary(raw: object, source: str) -> ScoredSession:
    """The session in a summary. Rows that cannot be read are left out and named. Raises `SettingsError`."""
    rows = get_member(raw, "task_results")
    is_long = isinstance(rows, LongList)
    content = raw | {"task_results": []} if isinstance(raw, dict) and is_long else raw
    try:
        summary = convert(content, _SummaryFile)
    except ValidationError as error:
        message = f"invalid {SUMMARY} {source}: {format_validation_error(error)}"
        raise SettingsError(f"{message}; use a file that an earlier session wrote") from error
    if problem := find_version_problem(summary.webeval.schema_version):
        raise SettingsError(f"cannot read {source}: {problem}")
    runs, problems = convert_rows(rows if is_long else summary.task_results, ScoredRun)
    details = summary.webeval
    is_old = any(run.is_judged for run in runs) and not any(run.checksums for run in runs)
    return ScoredSession(
        source,
        runs,
        summary.timestamp,
        details.rules,
        summary.webarena_verified_evaluator_checksum,
        summary.webarena_verified_data_checksum,
        details.libraries,
        details.policy,
        _name_subset(details.subset),
        details.partial or bool(problems),
        format_problems(problems, source) + ([f"{source} {_OLDER}"] if is_old else []),
        details.evaluator_choice,
        details.left_out + len(problems),
    )


def _name_subset(subset: Mapping[str, Any] | None) -> str | None:
    if not subset:
        return None
    lengths = {"name": 80, "checksum": 12}
    return " ".join(str(subset[name])[:length] for name, length in lengths.items() if name in subset)


def convert_rows(rows: Iterable[Any], row_type: type[Row]) -> tuple[list[Row], list[str]]:
    """The rows that are valid, each label once, and what is wrong with the others."""
    runs: dict[str, Row] = {}
    problems = []
    shared = SharedValues([name for name in ScoredRun.__struct_fields__ if name not in _UNLIKE])
    for position, raw in enumerate(rows):
        try:
            run = convert(raw, row_type)
        except ValidationError as error:
            problems.append(f"{format_validation_error(error)} @ task_results[{position}]")
            continue
        except UnicodeEncodeError:  # half of a surrogate pair where no text belongs
            problems.append(f"a text is not Unicode @ task_results[{position}]")
            continue
        if run.run in runs:
            problems.append(f"run {run.run!r:.80} is listed twice @ task_results[{position}]")
            continue
        runs[run.run] = shared.share(run)
    return list(runs.values()), problems


def format_problems(problems: Sequence[str], source: str) -> list[str]:
    """A line for the first few problems, which says how many there are."""
    if not problems:
        return []
    more = f"; … and {len(problems) - PROBLEMS_NAMED} more" if len(problems) > PROBLEMS_NAMED else ""
    listed = "; ".join(problems[:PROBLEMS_NAMED])
    return [f"{pluralize(len(problems), 'row')} of {source} cannot be used: {listed}{more}"]


def session_of(summary: Summary, name: str = "this session") -> ScoredSession:
    """The session of a summary that was just made, of whose long lists only the rows are read."""
    webeval = {field: summary.webeval[field] for field in _Details.__struct_fields__ if field in summary.webeval}
    raw = summary.with_changes(task_results=[], per_site_summary={}, webeval=webeval).to_json()
    try:
        return parse_summary(raw | {"task_results": summary.task_results}, name)
    except UnicodeEncodeError:  # half of a surrogate pair in the text of an agent
        return parse_summary(escape_surrogates(raw) | {"task_results": summary.task_results}, name)
