"""Damage as disks, crashes and strangers do it: seeded, and never so much that a directory is no trajectory."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.support import recorded

VALUES = (
    None,
    True,
    0,
    -1,
    1e308,
    10**400,
    "",
    "x" * 2000,
    "\ud800",
    "../../x",
    [],
    [[]],
    {},
    {"a": {"b": []}},
    [None, 1],
)
NAMES = ("web_surfer.log", "times.json", "core.log", "scores/mmrubric_0.8-5-3.json", "task_data.json")
JUNK = (
    b"",
    b"\n",
    b"\xff\xfe",
    b"\x00" * 50,
    b"\xef\xbb\xbf{}",
    b"[" * 100_000,
    b"{}",
    b"[]",
    b"null",
    b"NaN",
    b'{"a": 1e999999999}',
)


def damaged(directory: Path, name: str, random: Random, *, outcome: bool) -> Path:
    """A trajectory that was complete, judged with that outcome, and met one to four accidents."""
    path = recorded.write(directory / name, scores=recorded.score_file(recorded.payload(outcome=outcome)))
    recorded.put(path / "task_data.json", {"task_summary": "t", "precomputed_rubric": {"items": [recorded.item(2, 1)]}})
    for accident in random.choices(ACCIDENTS, k=random.randint(1, 4)):
        accident(path, random)
    return path


def _file(path: Path, random: Random) -> Path | None:
    names = [*NAMES, *(one.name for one in path.iterdir() if one.is_file() and one.suffix == ".json")]
    found = path / random.choice(sorted(set(names)))
    return found if found.is_file() and not found.is_symlink() else None


def _truncate(path: Path, random: Random) -> None:
    if found := _file(path, random):
        content = found.read_bytes()
        found.write_bytes(content[: random.randint(0, len(content))])


def _flip(path: Path, random: Random) -> None:
    if (found := _file(path, random)) and (content := bytearray(found.read_bytes())):
        for _ in range(random.randint(1, 8)):
            content[random.randrange(len(content))] = random.randrange(256)
        found.write_bytes(bytes(content))


def _replace(path: Path, random: Random) -> None:
    if found := _file(path, random):
        found.write_bytes(random.choice(JUNK))


def _shuffle_lines(path: Path, random: Random) -> None:
    if found := _file(path, random):
        lines = found.read_bytes().split(b"\n")
        random.shuffle(lines)
        found.write_bytes(b"\n".join(lines))


def _insert_line(path: Path, random: Random) -> None:
    if found := _file(path, random):
        lines = found.read_bytes().split(b"\n")
        lines.insert(random.randint(0, len(lines)), random.choice(JUNK))
        found.write_bytes(b"\n".join(lines))


def _change_value(path: Path, random: Random) -> None:
    """Another value of another type somewhere in a JSON file, or in the JSON inside its texts."""
    if found := _file(path, random):
        try:
            tree = json.loads(found.read_bytes())
        except (ValueError, RecursionError):
            return
        text = json.dumps(_changed(tree, random))
        found.write_text(text)


def _changed(tree, random: Random):
    if isinstance(tree, str) and tree.startswith("{"):
        return json.dumps(_changed(json.loads(tree), random))
    if not isinstance(tree, dict | list) or not tree or random.random() < 0.15:
        return random.choice(VALUES)
    keys = list(tree) if isinstance(tree, dict) else range(len(tree))
    key = random.choice(list(keys))
    tree[key] = _changed(tree[key], random)
    return tree


def _remove(path: Path, random: Random) -> None:
    if found := _file(path, random):
        found.unlink()


def _link_out(path: Path, random: Random) -> None:
    if found := _file(path, random):
        found.unlink()
        found.symlink_to("/etc/hostname")


def _put_directory(path: Path, random: Random) -> None:
    if found := _file(path, random):
        found.unlink()
        found.mkdir()


def _second_answer(path: Path, random: Random) -> None:
    recorded.put(path / random.choice(("other_final_answer.json", "x_answer.json")), random.choice(JUNK))


def _second_score(path: Path, random: Random) -> None:
    if (path / "scores").is_dir():
        name = random.choice(("gpt_eval.json", "mmrubric_0.9-5-3.json", "x.json", "0.8-5-3.json"))
        recorded.put(path / "scores" / name, random.choice(JUNK))


def _no_scores(path: Path, random: Random) -> None:
    if (path / "scores").is_dir() and random.random() < 0.5:
        shutil.rmtree(path / "scores")


def _screenshots(path: Path, random: Random) -> None:
    for shot in sorted(path.glob("screenshot*.png")):
        if random.random() < 0.5 and not shot.is_dir():
            shot.unlink()


ACCIDENTS: tuple[Callable[[Path, Random], None], ...] = (
    _truncate,
    _flip,
    _replace,
    _shuffle_lines,
    _insert_line,
    _change_value,
    _change_value,
    _change_value,
    _remove,
    _link_out,
    _put_directory,
    _second_answer,
    _second_score,
    _no_scores,
    _screenshots,
)
