"""Scoring from Python, without pytest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext, suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_webeval.errors import RecordingError, SettingsError, StoreError, TaskDefinitionError
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.recordings.formats import list_signs, recognize
from pytest_webeval.recordings.formats import load_run as read_run
from pytest_webeval.recordings.labels import quote_path
from pytest_webeval.recordings.run import Run, RunFormat, placeholder_run
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.results import TaskResult
from pytest_webeval.root_scoring import RootScoring, RootSearch, open_mirror
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rules import AUTO, find_rules
from pytest_webeval.safety.files import CACHE_TREE, exists_no_follow
from pytest_webeval.safety.limits import USUAL, Limits
from pytest_webeval.safety.run_directory import open_run_directory
from pytest_webeval.scoring.score_settings import SECONDS, ScoreSettings, build_refused_result
from pytest_webeval.stores.store import find_key_problem, is_remote, name_object
from pytest_webeval.summary.redacted_results import parse_policy
from pytest_webeval.tasks.dataset import TASKS, TaskSet, load_untrusted_tasks
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.values.base import present_day

if TYPE_CHECKING:
    from pytest_webeval.stores.mirror import Mirror
    from pytest_webeval.stores.store import Store

BATCH = 200  # runs that are sent to a worker, or fetched from a store, at once
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
    rule_set, mirror = find_rules(rules), _find_mirror(root, None, limits)
    top, own = Path(root) if mirror is None else mirror.path, tuple(formats)
    _require_directory(top, _NO_DIRECTORY)
    if tasks is None:
        with suppress(TaskDefinitionError):  # whoever scores a run says so
            tasks = _load_root_tasks(top, own)
    for directory in RootSearch(top, own, tasks, mirror=mirror).list_directories():
        if mirror is not None and directory.problem is None:
            mirror.fetch([Path(directory.path)], with_pictures=True)
        yield directory.load(top, rule_set, limits, own)


def load_run(path: str | Path, rules: str = AUTO, limits: Limits = USUAL, *, formats: Iterable[RunFormat] = ()) -> Run:
    """The run in a directory. Raises `RecordingError` if no format knows its layout."""
    _require_directory(Path(path), _NO_RUN)
    return read_run(Path(path), find_rules(rules), own=tuple(formats)).within(limits)


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
    settings = ScoreSettings(
        tasks=tasks,
        sites=sites,
        evaluators=None if evaluators is None else tuple(evaluators),
        today=today,
        policy=policy,
        only=_list_names(only),
    )
    return redacting.redact_for_file(settings.score(run), run)


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
    redacting = Redacting(parse_policy(redact), is_leaving=True)
    settings, key = settings or ScoreSettings(), key.rstrip("/")
    settings.check_choice()
    _check_key(opened, key)
    name = name_object(opened.location, key)
    if isinstance(opened, LocalStore):
        tasks = _load_root_tasks(opened.root, settings.formats) if settings.tasks is None else None
        return _score_directory(opened.root, key, settings, redacting, name, tasks=tasks)
    from pytest_webeval.stores.mirror import Mirror

    directory, objects = Path(cache) if cache is not None else None, list(opened.list(key))
    if not objects:
        raise RecordingError(f"there are no objects at {name_object(opened.location, key)}; check the location")
    mirror = Mirror.of_objects(opened, objects, directory, settings.limits, complete={key})
    path = mirror.path / key
    has_own_code = settings.evaluators is not None or bool(settings.formats)
    with mirror.naming_location(), mirror.using(path, with_pictures=has_own_code):
        try:
            return _score_directory(mirror.path, key, settings, redacting, name)
        except StoreError as error:  # over a file that tells the format
            run = placeholder_run(path, quote_path(key or path.name), find_rules(settings.rules))
            return redacting.redact_for_file(build_refused_result(run, settings.tasks, error), run)


def _check_key(store: Store, key: str) -> None:
    """Raise `RecordingError` for a key that leads out of a store."""
    from pytest_webeval.stores.choice import LocalStore  # for who asks

    problem = find_key_problem(key) if key else None
    if problem is None and isinstance(store, LocalStore):
        top = store.root.resolve()
        problem = None if (top / key).resolve() == top / key else "it is behind a link"
    if problem is not None:
        raise RecordingError(f"cannot score {name_object(store.location, key)}: {problem}; use the directory of a run")


def _score_directory(  # noqa: PLR0913  (each of them is about another thing)
    top: Path, key: str, settings: ScoreSettings, redacting: Redacting, name: str, *, tasks: TaskSet | None = None
) -> TaskResult:
    path = top / key
    _require_directory(path, _NO_RUN, name)
    label = quote_path(key or path.absolute().name)
    with open_run_directory(path, top):
        run = read_run(path, find_rules(settings.rules), label, settings.formats).within(settings.limits)
        try:
            return redacting.redact_for_file(settings.score_in_time(run, tasks), run)
        finally:
            run.release()


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
    redaction = parse_policy(redact)
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
        top = Path(root) if mirror is None else mirror.path
        _require_directory(top, _NO_DIRECTORY)
        known_tasks = _load_root_tasks(top, settings.formats) if tasks is None else None
        scoring = RootScoring(
            top, settings, known_tasks, Path(output) if output is not None else None, mirror, redaction
        )
        search = RootSearch(top, settings.formats, known_tasks if tasks is None else tasks, scoring.output, mirror)
        directories = search.list_directories()
        if executor is None:
            yield from scoring.score_all(directories, batch_size)
        else:
            yield from scoring.score_on(executor, directories, batch_size)


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
        return open_mirror(str(root), Path(cache) if cache is not None else None, limits=limits)
    if Path(root).parent.name != CACHE_TREE:
        return None
    from pytest_webeval.stores.mirror import find_mirror  # for who asks

    mirror = find_mirror(Path(root))
    if mirror is not None:
        mirror.fetch_signs(list_signs)
    return mirror


def _list_names(only: Iterable[str]) -> tuple[str, ...]:
    return (only,) if isinstance(only, str) else tuple(only)


def _load_root_tasks(root: Path, own: Sequence[RunFormat] = ()) -> TaskSet | None:
    """The tasks in a root; None for one that is a run itself, in which the agent could have written them."""
    if not exists_no_follow(root / TASKS):
        return None
    try:
        is_run = recognize(root, own=own) is not None
    except RecordingError:  # of several formats
        is_run = True
    return None if is_run else load_untrusted_tasks(root, TASKS, str(root / TASKS))
