"""Scoring from Python, without pytest."""

from __future__ import annotations

import os
import pickle
import time
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from contextlib import closing, nullcontext, suppress
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_webeval.errors import RecordingError, RunExcluded, SettingsError, StoreError, TaskDefinitionError
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.recordings import formats as run_formats
from pytest_webeval.recordings.run import BrokenRun, Run, RunFormat
from pytest_webeval.recordings.run_tree import Kind
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.results import TaskResult
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rules import AUTO, find_rules
from pytest_webeval.safety.files import CACHE_TREE
from pytest_webeval.safety.limits import USUAL, Limits
from pytest_webeval.safety.run_directory import open_run_directory
from pytest_webeval.safety.text import name_first, sanitize, shorten_repr
from pytest_webeval.scoring.definition import Definition, build_case, find_task
from pytest_webeval.scoring.score import SECONDS
from pytest_webeval.scoring.score import score as evaluate
from pytest_webeval.scoring.task_result import build_excluded_result
from pytest_webeval.sessions.placement.batch_scoring import (
    SessionSeed,
    build_scorer,
    choose_session_executor,
    refuse_lost_run,
    remove_unfinished,
    score_here,
    score_results,
)
from pytest_webeval.sessions.placement.score_settings import ScoreSettings
from pytest_webeval.sessions.runs.run_scoring import RunScorer, RunToScore
from pytest_webeval.sessions.workspace.workspace import Workspace
from pytest_webeval.stores.store import find_key_problem, is_remote, name_object
from pytest_webeval.summary.results.redacted_results import parse_policy
from pytest_webeval.tasks.dataset import TaskSet
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.values.base import present_day

if TYPE_CHECKING:
    from pytest_webeval.stores.mirror import Mirror
    from pytest_webeval.stores.store import Store

BATCH = 200  # runs that are sent to a worker, or fetched from a store, at once
NESTED_NAMED, NESTED_LENGTH = 8, 80  # of runs inside other runs, in a warning
_NO_DIRECTORY, _NO_RUN = "directory not found", "no such run"


def find_runs(
    root: str | Path,
    rules: str = AUTO,
    limits: Limits = USUAL,
    *,
    tasks: TaskSet | None = None,
    formats: Iterable[RunFormat] = (),
) -> Iterator[Run]:
    """Each run at or below a directory, in the order of the directories' names. Opens no recording.

    They are the runs that a session counts. Reading a broken one raises `RecordingError`, as does scoring it: a
    directory that is named after one of the `tasks`, by default those of `tasks.json`, and has no files of a run, or
    one that cannot be listed. `formats` of your own come before the built-in ones. By the rules `auto`, tasks that
    WebArena-Verified has published are judged by `default`, all others by `strict`. `root` may be the location of a
    store, whose runs are fetched one by one. Raises `RecordingError` if the first directory itself cannot be
    listed.
    """
    settings = ScoreSettings(tasks=tasks, rules=rules, limits=limits, formats=tuple(formats))
    mirror = _find_mirror(root, None, limits)
    top = _find_top(root, mirror)
    try:
        workspace = _open(settings, top, mirror=mirror)
    except TaskDefinitionError:  # whoever scores a run says so
        workspace = _open(settings, top, mirror=mirror, has_tasks=False)
    for target in _list_runs(workspace, top):
        path = Path(target.path)
        if target.problem is None:
            workspace.fetch([path])
        yield _load(workspace, path, target.problem).below(top)


def _load(workspace: Workspace, path: Path, problem: str | None) -> Run:
    """A run of a directory. Reading a broken one raises `RecordingError`."""
    if problem is None:
        try:
            return workspace.load(path)
        except RecordingError as error:  # it may have changed since it was listed
            problem = str(error)
    return BrokenRun.at(path, workspace.labels.of(path), workspace.settings.rules, problem)


def load_run(path: str | Path, rules: str = AUTO, limits: Limits = USUAL, *, formats: Iterable[RunFormat] = ()) -> Run:
    """The run in a directory. Raises `RecordingError` if no format knows its layout."""
    _require_directory(Path(path), _NO_RUN)
    return run_formats.load_run(Path(path), find_rules(rules), own=tuple(formats)).within(limits)


def score(  # noqa: PLR0913  (all but the run are optional)
    run: Run,
    tasks: TaskSet | None = None,
    sites: Sites | None = None,
    evaluators: Iterable[Evaluator] | None = None,
    *,
    today: date | None = None,
    policy: VerdictPolicy | None = None,
    only: Iterable[str] = (),
    redact: str = "default",
) -> TaskResult:
    """The result of a run. Raises `RecordingError` or `TaskDefinitionError` where it cannot be scored at all.

    `today` completes dates that leave something open, such as ``March 2022``; by default it is the present day. A
    trajectory needs no `tasks`, and `policy` says how its stored verdict is read; one that says nothing about the agent
    has a result that is excluded from every count. `only` names the evaluators that score it, as in
    `only=["response"]`; by default all do. Secrets in the result are replaced, unless `redact` is ``"off"``.
    """
    redacting = Redacting(parse_policy(redact), is_leaving=True)
    own = None if evaluators is None else tuple(evaluators)
    settings = ScoreSettings(tasks=tasks, sites=sites, evaluators=own, only=_list_names(only))
    with open_run_directory(run.path, run.inputs.root):
        chosen = run.choosing(settings.choice).for_task(find_task(run, tasks))
        definition = Definition.of(chosen, tasks)
        checksum, origin = definition.checksum, definition.origin
        case = build_case(
            chosen,
            definition,
            sites=sites or Sites(),
            today=today or present_day(),
            policy=policy or VerdictPolicy(),
            tasks_origin=None if tasks is None else tasks.origin,
        )
        try:
            result = evaluate(case, settings.list_evaluators(), checksum, origin)
        except RunExcluded as error:
            parts = chosen, case.task, sanitize(str(error)), error.kind
            result = build_excluded_result(*parts, data_checksum=checksum, source=origin)
        return redacting.redact_for_file(result, run)


def score_run(
    store: Store | str | Path,
    key: str = "",
    settings: ScoreSettings | None = None,
    *,
    cache: str | Path | None = None,
    redact: str = "default",
) -> TaskResult:
    """The result of the run in the directory `key` of a store, which may be a path or URL. Writes no result.

    It can be sent to any process, as can its arguments. A run that cannot be scored is an error. Tasks are by default
    those of `tasks.json` in a store on the disk; for any other one, pass them. The files of a run in a bucket are kept
    in `cache`. Secrets in the result are replaced, unless `redact` is ``"off"``. Raises `RecordingError` if there is no
    run, `StoreError` if the store cannot be listed, and `SettingsError` for settings that no run can be scored with.
    """
    from pytest_webeval.stores.choice import LocalStore, open_store  # for who asks

    opened = open_store(str(store)) if isinstance(store, str | Path) else store
    returning = parse_policy(redact)
    settings, key = settings or ScoreSettings(), key.rstrip("/")
    settings.check_choice()
    _check_key(opened, key)
    if isinstance(opened, LocalStore):
        top = _make_absolute(opened.root)
        _require_directory(top / key, _NO_RUN, name_object(opened.location, key))
        workspace = _open(settings, top, is_run=not key)
        return _score_alone(build_scorer(SessionSeed.of(workspace, own=settings, returning=returning)), top / key)
    from pytest_webeval.stores.mirror import Mirror

    directory, objects = Path(cache) if cache is not None else None, list(opened.list(key))
    if not objects:
        raise RecordingError(f"there are no objects at {name_object(opened.location, key)}; check the location")
    mirror = Mirror.of_objects(opened, objects, directory, settings.limits, complete={key})
    path = mirror.path / key
    workspace = _open(settings, mirror.path, mirror=mirror, is_run=not key, has_tasks=False)
    scorer = build_scorer(SessionSeed.of(workspace, own=settings, returning=returning))
    with mirror.naming_location(), mirror.using(path, with_pictures=scorer.has_own_code):
        _require_directory(path, _NO_RUN, name_object(opened.location, key))
        return _score_alone(scorer, path)


def _score_alone(scorer: RunScorer, path: Path) -> TaskResult:
    """The result of a run. Raises `RecordingError` if there is none."""
    with (
        suppress(StoreError),
        scorer.workspace.open_run(path),
    ):  # over a file that tells the format: an error of the run
        scorer.workspace.load(path)
    return scorer.score_unwritten(path)


def _check_key(store: Store, key: str) -> None:
    """Raise `RecordingError` for a key that leads out of a store."""
    from pytest_webeval.stores.choice import LocalStore  # for who asks

    problem = find_key_problem(key) if key else None
    if problem is None and isinstance(store, LocalStore):
        top = store.root.resolve()
        problem = None if (top / key).resolve() == top / key else "it is behind a link"
    if problem is not None:
        raise RecordingError(f"cannot score {name_object(store.location, key)}: {problem}; use the directory of a run")


def score_runs(  # noqa: PLR0913  (all but the root are optional)
    root: str | Path,
    tasks: TaskSet | None = None,
    sites: Sites | None = None,
    evaluators: Iterable[Evaluator] | None = None,
    *,
    output: str | Path | None = None,
    rules: str = AUTO,
    limits: Limits = USUAL,
    today: date | None = None,
    policy: VerdictPolicy | None = None,
    timeout: float = SECONDS,
    only: Iterable[str] = (),
    executor: Executor | str | None = None,
    batch_size: int = BATCH,
    cache: str | Path | None = None,
    formats: Iterable[RunFormat] = (),
    redact: str = "default",
) -> Iterator[TaskResult]:
    """Score each run at or below a directory, write its `eval_result.json`, and yield its result.

    Runs and files are those of a session of pytest, but for what a `conftest.py` adds: pass `evaluators` and `formats`.
    `tasks` are by default those of `tasks.json` in the directory. With `output`, the files are written below that
    directory, without secrets. A run that cannot be scored, or takes longer than `timeout` seconds (0 for no limit), is
    an error, and the others are scored. `only` names the evaluators that score the runs, as in `only=["response"]`; by
    default all do. Secrets in the results that are yielded are replaced, unless `redact` is ``"off"``.

    `root` may be the location of a store, such as ``s3://bucket/runs``, whose files are kept in `cache`. With
    `executor`, the runs are scored there in batches of `batch_size`, and the results still come in the order of the
    runs. It is an executor of `concurrent.futures`, one with that interface, or a text as in
    ``executor="process:4"``. Workers need the same paths, and settings that can be pickled. A run that kills two of
    them is an error.

    Raises `RecordingError` if the directory cannot be listed, `TaskDefinitionError` if its tasks cannot be read, and
    `SettingsError` for invalid settings, and if a result cannot be written.
    """
    returning = parse_policy(redact)
    if batch_size < 1:
        raise SettingsError(f"invalid batch_size {batch_size}; use a number from 1")
    settings = ScoreSettings(
        tasks=tasks,
        sites=sites,
        evaluators=None if evaluators is None else tuple(evaluators),
        rules=rules,
        limits=limits,
        today=today or present_day(),
        policy=policy,
        timeout=timeout,
        only=_list_names(only),
        formats=tuple(formats),
    )
    settings.check_choice()
    if output is None and is_remote(str(root)):
        raise SettingsError("results of runs in a store need a directory; pass output=DIR")
    mirror = _find_mirror(root, cache, limits)
    with mirror.naming_location() if mirror else nullcontext():
        top = _find_top(root, mirror)
        workspace = _open(settings, top, None if output is None else _make_absolute(output), mirror)
        targets = _list_runs(workspace, top)
        seed = SessionSeed.of(workspace, own=settings, returning=returning)
        if executor is None:
            yield from score_here(seed, targets, batch_size)
        else:
            from pytest_webeval.executors.batches import map_batches  # for who asks

            found, lost = _find_executor(executor), partial(refuse_lost_run, seed)
            on_end = partial(remove_unfinished, workspace)
            contents = map_batches(found, score_results, seed, targets, size=batch_size, lost=lost, on_end=on_end)
            with closing(contents):
                yield from map(pickle.loads, contents)  # from processes of the same session


def _find_executor(executor: Any) -> Executor:
    """The executor, or the one for a text as `--executor` takes it. Raises `SettingsError`."""
    if isinstance(executor, str):
        return choose_session_executor(executor)
    if not isinstance(executor, Executor):
        problem = f"invalid executor {shorten_repr(executor)}"
        raise SettingsError(f"{problem}; use an executor of concurrent.futures, or a text as in executor='process:4'")
    return executor


def _make_absolute(path: str | Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100  (links are kept)


def _find_top(root: str | Path, mirror: Mirror | None) -> Path:
    """The directory of the runs. Raises `RecordingError` if there is none."""
    if mirror is not None:
        return mirror.path
    _require_directory(Path(root), _NO_DIRECTORY)
    return _make_absolute(root)


def _open(  # noqa: PLR0913  (each has its name at the call)
    settings: ScoreSettings,
    top: Path,
    output: Path | None = None,
    mirror: Mirror | None = None,
    *,
    is_run: bool | None = None,
    has_tasks: bool = True,
) -> Workspace:
    """The runs of a root, whose labels begin below it. `is_run`: whether the root itself is one; None looks.

    Raises `TaskDefinitionError` if its tasks cannot be read; without `has_tasks`, nobody reads them.
    """
    values, here, started = settings.build_settings(top, output, mirror), top, time.time()
    with suppress(OSError):  # it may be gone
        here = Path.cwd()

    def build(rootpath: Path) -> Workspace:
        workspace = settings.build_workspace(values, rootpath, here, started)
        try:
            if not has_tasks:
                workspace.tasks.provide(None, {top: None})
            workspace.tasks.in_root(top)
        except RecordingError:  # of several formats
            workspace.tasks.provide(None, {top: None})
        return workspace

    workspace = build(top.parent if is_run else top)
    if is_run is None and workspace.branch(top).kind is not Kind.GROUP:
        return build(top.parent)
    return workspace


def _list_runs(workspace: Workspace, top: Path) -> Iterator[RunToScore]:
    """The runs and what should be one, in the order of the names. Raises `RecordingError` for the root itself."""
    tree = workspace.branch(top)
    if tree.kind is Kind.UNREADABLE:
        raise RecordingError(tree.problem or "")
    if nested := workspace.nested_runs:
        listed = name_first(nested, NESTED_NAMED, NESTED_LENGTH, len(nested))
        warnings.warn(f"runs inside other runs are not scored: {listed}; move them out", stacklevel=3)
    return (
        RunToScore(str(each.path), None if each.kind is Kind.RUN else each.problem or "") for each in tree.list_items()
    )


def _require_directory(path: Path, problem: str, name: str | None = None) -> None:
    """Raise `RecordingError` for a path at which there is nothing. Messages have its `name`."""
    try:
        path.stat()
    except FileNotFoundError as error:
        raise RecordingError(f"{problem}: {name or path}; check the path") from error
    except OSError:  # who reads it says why it cannot be read
        return


def _find_mirror(root: str | Path, cache: str | Path | None, limits: Limits) -> Mirror | None:
    """The mirror of a store, or that whose path is given; None for another directory.

    Raises `SettingsError` and `StoreError`.
    """
    if is_remote(str(root)):
        from pytest_webeval.sessions.settings.remote_roots import open_mirror  # for runs in stores

        return open_mirror(str(root), Path(cache) if cache is not None else None, limits=limits)
    if Path(root).parent.name != CACHE_TREE:
        return None
    from pytest_webeval.stores.mirror import find_mirror  # for who asks

    mirror = find_mirror(Path(root))
    if mirror is not None:
        mirror.fetch_signs(run_formats.list_signs)
    return mirror


def _list_names(only: Iterable[str]) -> tuple[str, ...]:
    return (only,) if isinstance(only, str) else tuple(only)
