"""Scores a batch of runs with stores: they are fetched ahead, and results for a store uploaded on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from pytest_webeval.sessions.placement.other_machines import lay_out_objects, move_path
from pytest_webeval.sessions.runs.record_payload import RecordPayload
from pytest_webeval.sessions.runs.run_scoring import RunScorer, RunToScore
from pytest_webeval.sessions.settings.settings import Settings
from pytest_webeval.stores.mirror import PART, Ahead
from pytest_webeval.stores.store import StoredObject


def add_objects(targets: Iterable[RunToScore], settings: Settings) -> Iterator[RunToScore]:
    """Runs with the objects of each, for workers that cannot see the listing of this machine."""
    for target in targets:
        mirror = settings.mirror_of(Path(target.path))
        objects = () if mirror is None else tuple(mirror.objects_below(Path(target.path)))
        yield replace(target, objects=objects)


def score_with_stores(
    scorer: RunScorer, batch: Sequence[RunToScore], settings: Settings, *, is_local: bool
) -> list[RecordPayload | None]:
    """What the session is told of each run. `settings` are those of the session, perhaps on another machine."""
    if is_local:
        return StoreBatch(scorer, is_local).score(batch)
    own = scorer.workspace.settings
    places = {there.path: here.path for there, here in zip(settings.mirrors, own.mirrors, strict=True)}
    moved = [replace(target, path=str(move_path(Path(target.path), places))) for target in batch]
    lay_out_objects(own, _sort_objects(batch, settings), (Path(target.path) for target in moved))
    return StoreBatch(scorer, is_local).score(moved)


def _sort_objects(batch: Iterable[RunToScore], settings: Settings) -> Mapping[str, list[StoredObject]]:
    objects: dict[str, list[StoredObject]] = {}
    for target in batch:
        if (mirror := settings.mirror_of(Path(target.path))) is not None:
            objects.setdefault(mirror.store.location, []).extend(target.objects)
    return objects


class StoreBatch(Struct, frozen=True, eq=False):
    """A batch in a worker process."""

    scorer: RunScorer
    is_local: bool

    def score(self, batch: Sequence[RunToScore]) -> list[RecordPayload | None]:
        """Score the runs, while others are fetched and uploaded."""
        payloads: list[RecordPayload | None] = []
        uploads = []
        ahead = Ahead([Path(target.path) for target in batch], self._fetch, PART)
        with closing(ahead), ThreadPoolExecutor(1, "webeval-uploads") as pool:
            for start in range(0, len(batch), PART):
                part = batch[start : start + PART]
                payloads += (self._score_run(target, ahead) for target in part)
                uploads.append(pool.submit(self._upload, part))
        problems = {path: problem for upload in uploads for path, problem in upload.result().items()}
        if self.is_local or not problems:  # the session uploads what is left
            return payloads
        pairs = zip(payloads, batch, strict=True)
        return [payload and self._describe_lost(payload, Path(target.path), problems) for payload, target in pairs]

    @property
    def _with_pictures(self) -> bool:
        """Whether the pages of a report show them, or a judge or evaluators of users may look at them."""
        return self.scorer.workspace.settings.shows_pictures or self.scorer.has_own_code

    def _fetch(self, paths: Sequence[Path]) -> None:
        for mirror in self.scorer.workspace.settings.mirrors:
            mirror.prefetch(filter(mirror.holds, paths), with_pictures=self._with_pictures)

    def _score_run(self, target: RunToScore, ahead: Ahead) -> RecordPayload | None:
        path = Path(target.path)
        ahead.reach(path)
        mirror = self.scorer.workspace.settings.mirror_of(path)
        with nullcontext() if mirror is None else mirror.using(path, with_pictures=self._with_pictures):
            payload = self.scorer.score(target)
            if payload is not None and self.scorer.workspace.settings.is_unread(path, target.problem):
                payload = payload.mark_unread()
        if mirror is not None:
            mirror.release(path)
        return payload

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
