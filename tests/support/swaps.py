"""What an agent that still runs may put in the place of a run directory, and moments at which it does so.

A run `g7/7` is swapped for what leads to the run `v7/7`, or for what is no directory. This module is also copied next
to sessions in processes of their own, so it imports nothing of the tests.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any


def _move_aside(path: Path) -> None:
    path.rename(path.with_name(f"aside{path.name}"))


def swap_for_link(path: Path) -> None:
    """Link to another run."""
    _move_aside(path)
    path.symlink_to(f"../v{path.name}/{path.name}")


def swap_group(path: Path) -> None:
    """Link the directory above to that of the other run."""
    _move_aside(path.parent)
    path.parent.symlink_to(f"v{path.name}")


def swap_for_link_to_itself(path: Path) -> None:
    """Link to the link."""
    _move_aside(path)
    path.symlink_to(path.name)


def swap_for_link_to_own(path: Path) -> None:
    """Link to the same directory, which has another name now."""
    _move_aside(path)
    path.symlink_to(f"aside{path.name}")


def swap_for_file(path: Path) -> None:
    """Put a file there."""
    _move_aside(path)
    path.write_text("{}")


def swap_for_pipe(path: Path) -> None:
    """Put a pipe there."""
    _move_aside(path)
    os.mkfifo(path)


def swap_for_directory(path: Path) -> None:
    """Put a copy of the other run there."""
    _move_aside(path)
    shutil.copytree(path.parent.with_name(f"v{path.name}") / path.name, path)


def remove_all(path: Path) -> None:
    """Remove it."""
    shutil.rmtree(path)


# Each with what a message says of a directory that was swapped before it was opened.
SWAPS: dict[Callable[[Path], None], str] = {
    swap_for_link: "it is a link",
    swap_group: r"g\d+ is a link",
    swap_for_link_to_itself: "it is a link",
    swap_for_link_to_own: "it is a link",
    swap_for_file: "Not a directory",
    swap_for_pipe: "Not a directory",
    remove_all: "No such file or directory",
}
MOMENTS = ("opening", "reading", "verdict")


def list_attacks() -> dict[int, tuple[str, Callable[[Path], None]]]:
    """The moment and the swap of each attacked task."""
    every = [(moment, swap) for moment in MOMENTS for swap in SWAPS]
    every += [(moment, swap_for_directory) for moment in MOMENTS[1:]]  # before, it is a run like any other
    return dict(enumerate(every, 101))


def install(marks: Path) -> None:
    """Attack each run of this process once: `marks` is a directory that all processes share."""
    from pytest_webeval.recordings.inputs import RunInputs
    from pytest_webeval.safety import run_directory
    from pytest_webeval.scoring import score

    attacks = list_attacks()

    def attack(moment: str, path: Path) -> None:
        number = int(path.name) if path.name.isdigit() else 0
        if path.parent.name == f"g{number}" and attacks[number][0] == moment and not (marks / path.name).exists():
            (marks / path.name).touch()
            attacks[number][1](path)

    open_directory, read, build = run_directory._open, RunInputs.read, score.build_result

    def attack_and_open(path: Path, root: Path | None) -> Any:
        attack("opening", path)
        return open_directory(path, root)

    def read_and_attack(inputs: RunInputs, *arguments: Any) -> bytes:
        try:
            return read(inputs, *arguments)
        finally:
            attack("reading", inputs.directory)

    def build_and_attack(case: Any, *arguments: Any) -> Any:
        try:
            return build(case, *arguments)
        finally:
            attack("verdict", case.run.path)

    run_directory._open = attack_and_open
    RunInputs.read = read_and_attack  # type: ignore[method-assign,assignment]
    score.build_result = build_and_attack
