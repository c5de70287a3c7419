"""Which images belong to a run, in which order, and to which steps (`fara_webeval.md` §2.3)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from pytest_webeval.recordings.trajectory.step import IMAGES, Screenshot, Step
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.safety.run_directory import is_link
from pytest_webeval.safety.warning_log import WarningLog

_FIXED = "screenshot_scaled.png"  # where old agents kept a copy of the last image
_SEPARATOR = re.compile(r"[/\\]")
_ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:[/\\]")
_ALIGNMENTS = {0: "n", 1: "n+1", -1: "n-1"}


class Screenshots(Struct, frozen=True):
    """The images of a run in order, those that are listed and missing, and the warnings about the list of them."""

    all: tuple[Screenshot, ...] = ()
    missing: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def find_screenshots(
    listed: Sequence[str],
    is_rel_paths: bool,  # noqa: FBT001  (a field of the answer file)
    names_on_disk: Sequence[str],
    directory: Path,
) -> Screenshots:
    """The screenshots that an answer lists, or those in the directory if it lists none. Opens no file."""
    folder = _Folder(directory, frozenset(names_on_disk), is_rel_paths)
    by_status: dict[str, list[str]] = {"missing": [], "refused": [], "here": [], "moved": [], "twice": []}
    used: dict[str, None] = {}  # in the order of the list
    for entry in listed:
        status, name = folder.look_up(entry)
        by_status["twice" if name in used else status].append(name)
        if status in ("here", "moved"):
            used[name] = None
    unlisted = _sort_names(name for name in sorted(folder.names) if name not in used and folder.is_step(name))
    by_status["unlisted" if listed else "not listed at all"] = unlisted
    warnings = WarningLog("screenshots")
    for status, text in _WARNING_TEXTS.items():
        if entries := by_status.get(status):
            warnings.add(f"{len(entries)} {text}, such as {entries[0]!r:.80}")
    return Screenshots(
        all=tuple(Screenshot(name, number_of(name)) for name in (_sort_names(used) if listed else unlisted)),
        missing=tuple(by_status["missing"]),
        warnings=warnings.texts,
    )


class _Folder(Struct, frozen=True):
    path: Path
    names: frozenset[str]
    is_rel_paths: bool

    def look_up(self, entry: str) -> tuple[str, str]:
        """The status of an entry, and the name by which it goes there."""
        parts = [part for part in _SEPARATOR.split(entry) if part not in ("", ".")]
        if not entry.lower().endswith(IMAGES) or ".." in parts:
            return "refused", entry
        exact = entry if entry in self.names else self._relative_path(entry, parts)
        name = exact if exact and self._exists(exact) else parts[-1]
        if not self._exists(name):
            return "missing", name
        if self._is_unsafe(name):
            return "refused", entry
        return "here" if name == exact else "moved", name

    def is_step(self, name: str) -> bool:
        """Whether a name in the directory is that of an image of a step; verifiers leave links there (Q13)."""
        is_named_so = name.startswith("screenshot") and name.endswith(".png") and name != _FIXED
        return is_named_so and not self._is_unsafe(name)

    def _relative_path(self, entry: str, parts: Sequence[str]) -> str:
        if _ABSOLUTE.match(entry):
            absolute = os.path.abspath(self.path)  # noqa: PTH100  (not its target)
            own = [part for part in _SEPARATOR.split(absolute) if part]
            return "/".join(parts[len(own) :]) if parts[: len(own)] == own else ""
        return "/".join(parts) if self.is_rel_paths or len(parts) == 1 else ""

    def _exists(self, name: str) -> bool:
        return name in self.names or ("/" in name and exists_no_follow(self.path / name))

    def _is_unsafe(self, name: str) -> bool:
        parts = name.split("/")
        places = ("/".join((str(self.path), *parts[:count])) for count in range(1, len(parts) + 1))
        return not name.isprintable() or any(map(is_link, places))


def number_of(name: str) -> int:
    """The integer that a screenshot's name ends in; that before `_pre` or `_post`; 0 if there is none."""
    stem = PurePosixPath(name).stem.removesuffix("_pre").removesuffix("_post")
    digits = stem[len(stem.rstrip("0123456789")) :]
    return int(digits[-18:] or 0)  # more digits than any clock has


def _sort_names(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (number_of(name), _parse_moment(name) == "post"))


def _parse_moment(name: str) -> str:
    """`pre` or `post` if the name says on which side of its action an image was taken."""
    last = PurePosixPath(name).stem.rpartition("_")[2]
    return last if last in ("pre", "post") else ""


_WARNING_TEXTS = {
    "moved": "listed with another path, and read from the run's directory by name",
    "missing": "listed, but not in the run's directory; copy the run again",
    "refused": "listed, but not a regular image file inside the run's directory; ignored",
    "unlisted": "in the run's directory, but not listed; ignored",
    "not listed at all": "in the run's directory, and used although the answer file lists no screenshots",
    "twice": "listed more than once; used once",
}


def count_states(names: Sequence[str]) -> int:
    """How many states of the page images show: those before and after one action, if named so, are of one number."""
    is_explicit = any("_pre" in name or "_post" in name for name in names)
    return len({number_of(name) for name in names}) if is_explicit else len(names)


def align(steps: Sequence[Step], shots: Sequence[Screenshot]) -> tuple[tuple[Step, ...], str]:
    """Steps with the images before and after each, and how many images there are for n steps.

    That is `n`, `n+1`, `n-1` or `misaligned`; where names tell the side of the action, images of one step are one.
    """
    before, after, count = dict(enumerate(shots, 1)), dict(enumerate(shots)), len(shots)
    if any(_parse_moment(shot.name) for shot in shots):
        # By the number in the name, which is that of the step, unless there is an image after an action 0.
        posts = {shot.number: shot for shot in shots if _parse_moment(shot.name) == "post"}
        shift, count = 1 if 0 in posts else 0, len({shot.number for shot in shots})
        before = {shot.number + shift: shot for shot in shots if posts.get(shot.number) is not shot}
        after = {number + shift: shot for number, shot in posts.items()}
    aligned = [replace(step, before=before.get(index), after=after.get(index)) for index, step in enumerate(steps, 1)]
    return tuple(aligned), _ALIGNMENTS.get(count - len(steps), "misaligned")
