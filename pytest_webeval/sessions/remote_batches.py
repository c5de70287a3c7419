"""Scores a batch of runs with stores: they are fetched ahead, and results for a store uploaded on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from pytest_webeval.sessions.other_machines import mirror_objects, move_path
from pytest_webeval.sessions.record_payload import RecordPayload
from pytest_webeval.sessions.remote_roots import find_mirror, is_of_store, prefetch, release, root_of, take_failure
from pytest_webeval.sessions.run_scoring import RunScorer, RunToScore
from pytest_webeval.sessions.settings import Settings
from pytest_webeval.stores.mirror import Mirror, attach
from pytest_webeval.stores.prefetching import fetch_in_parts
from pytest_webeval.stores.store import StoredObject


def add_objects(targets: Iterable[RunToScore], settings: Settings) -> Iterator[RunToScore]:
    """Runs with the objects of each, for workers that cannot see the listing of this machine."""
    mirrors = list(map(attach, settings.mirrors))
    for target in targets:
        mirror = find_mirror(mirrors, Path(target.path))
        objects = () if mirror is None else tuple(mirror.objects_below(Path(target.path)))
        yield replace(target, objects=objects)


def score_with_stores(
    scorer: RunScorer, batch: Sequence[RunToScore], settings: Settings, *, is_local: bool
) -> list[RecordPayload | None]:
    """What the session is told of each run. `settings` are those of the session, perhaps on another machine."""
    own = scorer.workspace.settings
    if is_local:
        return StoreBatch(scorer, list(map(attach, own.mirrors)), is_local).score(batch)
    places = dict(zip(map(root_of, settings.mirrors), map(root_of, own.mirrors), strict=True))
    moved = [replace(target, path=str(move_path(Path(target.path), places))) for target in batch]
    paths = (Path(target.path) for target in moved)
    with mirror_objects(own, _sort_objects(batch, settings), paths) as mirrors:
        return StoreBatch(scorer, mirrors, is_local).score(moved)


def _sort_objects(batch: Iterable[RunToScore], settings: Settings) -> Mapping[str, list[StoredObject]]:
    objects: dict[str, list[StoredObject]] = {}
    for target in batch:
        for each in settings.mirrors:
            if Path(target.path).is_relative_to(root_of(each)):
                objects.setdefault(each.store.location, []).extend(target.objects)
    return objects


class StoreBatch(Struct, frozen=True, eq=False):
    """A batch in a worker process with the mirrors of its runs."""

    scorer: RunScorer
    mirrors: Sequence[Mirror]
    is_local: bool

    def score(self, batch: Sequence[RunToScore]) -> list[RecordPayload | None]:
        """Score the runs in parts, while others are fetched and uploaded."""
        payloads: list[RecordPayload | None] = []
        uploads = []
        take_failure()
        with ThreadPoolExecutor(1, "webeval-uploads") as pool:
            for part in fetch_in_parts(batch, self._fetch):
                payloads += map(self._score_run, part)
                uploads.append(pool.submit(self._upload, part))
        problems = {path: problem for upload in uploads for path, problem in upload.result().items()}
        if self.is_local or not problems:  # the session uploads what is left
            return payloads
        pairs = zip(payloads, batch, strict=True)
        return [payload and self._describe_lost(payload, Path(target.path), problems) for payload, target in pairs]

    def _fetch(self, part: Sequence[RunToScore]) -> None:
        has_pages = self.scorer.workspace.settings.report is not None
        prefetch(self.mirrors, (Path(target.path) for target in part), with_pictures=has_pages)

    def _score_run(self, target: RunToScore) -> RecordPayload | None:
        path = Path(target.path)
        payload = self.scorer.score(target)
        has_failed = take_failure() or is_of_store(target.problem, (mirror.description for mirror in self.mirrors))
        release(self.mirrors, path)
        return payload.mark_unread() if payload is not None and has_failed else payload

    def _upload(self, part: Sequence[RunToScore]) -> dict[Path, str]:
        workspace = self.scorer.workspace
        if workspace.settings.staging is None:
            return {}
        paths = (workspace.result_path(Path(target.path)) for target in part)
        return workspace.settings.staging.upload(path for path in paths if path.is_file())

    def _describe_lost(self, payload: RecordPayload, path: Path, problems: Mapping[Path, str]) -> RecordPayload:
        """The error of a run whose result did not leave this machine."""
        problem = problems.get(self.scorer.workspace.result_path(path))
        return payload if problem is None else self.scorer.describe_lost(path, problem)
