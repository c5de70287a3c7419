"""The same session twice: by pytest, and by the command `score`. What each leaves can be compared byte by byte."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.rows import count_rows

TIMES = frozenset({"slowest", "timestamp", "wall_time"})
# A command on a page that scores its run again. `score` names runs, for it does not know all tasks when it writes one.
COMMAND = re.compile(r"(?<=\"command\":\")pytest (?:\\.|[^\"\\])*")
# A number of seconds, and a point in time, as a report shows them.
SHOWN_TIMES = re.compile(
    r"(?<=[\"l],)\d+\.\d+(?=,(\"task-|null))|\"seconds\":[\d.]+|'sha256-[^']+'|sha256-[\w+/=]{43,}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[\d.]*(Z|[+-]\d\d:\d\d)|\"(wall_time|duration)\":[\d.e-]+"
)
INI = " -c pytest.ini"  # which pytest alone has
IGNORED_DIRECTORIES = frozenset({".pytest_cache", "__pycache__"})


@dataclass(frozen=True)
class Session:
    """What a session left. `files` are those that it made or changed, without times, by their place."""

    code: int
    output: str
    files: dict[str, str]

    @property
    def section(self) -> list[str]:
        """The lines about the runs in the terminal, without a line for the slowest."""
        lines = self.output.splitlines()
        starts = [number for number, line in enumerate(lines) if re.fullmatch(r"=+ webeval =+", line)]
        if starts:
            rest = lines[starts[0] + 1 :]
            lines = rest[: next(number for number, line in enumerate(rest) if line.startswith("==="))]
        return [line for line in lines if line and not line.startswith(("slowest:", "webeval: "))]


def run_both(place: Path, *sessions: Callable[[], tuple[int, str]]) -> list[Session]:
    """Run sessions one after the other over equal trees, all of them at `place`."""
    original = place.with_name(f"{place.name}-original")
    shutil.copytree(place, original, symlinks=True)
    try:
        results = []
        for session in sessions:
            restore(original, place)
            before = read_tree(place)
            code, output = session()
            after = read_tree(place)
            files = {name: content for name, content in after.items() if before.get(name) != content}
            results.append(Session(code, output, {**files, **dict.fromkeys(before.keys() - after.keys(), "removed")}))
        return results
    finally:
        shutil.rmtree(original)


def restore(original: Path, place: Path) -> None:
    """Replace what is in a directory, which itself stays, by what is in another."""
    for path in place.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    shutil.copytree(original, place, symlinks=True, dirs_exist_ok=True)


def read_tree(place: Path) -> dict[str, str]:
    """All files below a directory without times, and what is not a file by its mode."""
    return dict(_read_tree(place))


def _read_tree(place: Path) -> Iterator[tuple[str, str]]:
    for folder, folders, names in os.walk(place):
        folders[:] = [name for name in folders if name not in IGNORED_DIRECTORIES]
        for path in (Path(folder, name) for name in (*folders, *names)):
            mode = path.lstat().st_mode
            name = os.fsencode(path.relative_to(place)).decode("utf-8", "backslashreplace")
            yield name, _read_file(path) if stat.S_ISREG(mode) else str(mode)


def _read_file(path: Path) -> str:
    content = path.read_bytes()
    if path.suffix == ".json":
        try:
            return json.dumps(drop_times(json.loads(content)), indent=1)
        except (ValueError, RecursionError):
            return repr(content)
    if path.suffix == ".sqlite":
        return f"{count_rows(path)} rows"  # with the identities of files, which differ from copy to copy
    return SHOWN_TIMES.sub("TIME", content.decode("utf-8", "backslashreplace"))


def drop_times(value: Any) -> Any:
    """A JSON value without its times."""
    if isinstance(value, dict):
        return {key: drop_times(member) for key, member in value.items() if key not in TIMES}
    return [drop_times(each) for each in value] if isinstance(value, list) else value


def list_differences(expected: Session, actual: Session) -> list[str]:
    """How the second session differs from the first."""
    lines = []
    if expected.code != actual.code:
        lines.append(f"exit code {expected.code} -> {actual.code}: {actual.output[-2000:]}")
    for name in sorted(expected.files.keys() | actual.files.keys()):
        before, after = (side_of(session.files.get(name), name) for session in (expected, actual))
        if before != after:
            lines.append(f"{name}: {first_difference(before, after)}")
    sections = [[line.replace(INI, "") for line in each.section] for each in (expected, actual)]
    if sections[0] != sections[1]:
        lines += [f"terminal: {first_difference(*map(chr(10).join, sections))}"]
    return lines


def side_of(content: str | None, name: str) -> str:
    """A file in a comparison."""
    if content is None:
        return "missing"
    content = content.replace(INI, "")
    return COMMAND.sub("COMMAND", content) if is_page(name) else content


def is_page(name: str) -> bool:
    """Whether a file is the page of one run in a report."""
    return name.startswith("report/") and name != "report/index.html"


def first_difference(before: str, after: str, around: int = 200) -> str:
    """The place where two texts begin to differ."""
    if before == "missing" or after == "missing":
        return f"{before[:around]!r} -> {after[:around]!r}"
    start = next((number for number, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), 0)
    start = start or min(len(before), len(after))
    low = max(0, start - around)
    return f"{before[low : start + around]!r} -> {after[low : start + around]!r}"
