"""Groups of failures with the commands that score them again, those of new and of known failures apart."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from pytest_webeval.reports.rerun import LONGEST_NAME
from pytest_webeval.reports.rerun import RerunCommands
from pytest_webeval.results import SUMMARY
from pytest_webeval.safety.text import sanitize
from pytest_webeval.safety.text import truncate

GROUPS_SHOWN, COMMANDS_SHOWN = 5, 3
LONGEST_COMMAND = 300  # characters

Groups = Sequence[Mapping[str, Any]]


def split_known(groups: Groups) -> dict[str, Groups]:
    """The groups of new failures and those of known ones, by their heading; those that are empty are left out."""
    parts = {
        "failures by reason": [group for group in groups if not group.get("known")],
        "known failures by reason": [group for group in groups if group.get("known")],
    }
    return {heading: part for heading, part in parts.items() if part}


def list_known(groups: Groups) -> Iterator[str]:
    """The runs whose failure is known."""
    for group in groups:
        if group.get("known"):
            yield from group["runs"]


def failures(groups: Groups, reruns: RerunCommands, source: str = SUMMARY) -> list[str]:
    """Groups of failures, the largest first, and under each of the largest the command that scores it again.

    `source` is the name of the file with all groups.
    """
    lines = []
    for heading, part in split_known(groups).items():
        limit_note = f" ({GROUPS_SHOWN} of {len(part)} kinds)" if len(part) > GROUPS_SHOWN else ""
        lines.append(f"{heading}{limit_note}:")
        for position, group in enumerate(part[:GROUPS_SHOWN]):
            shows_command = position < COMMANDS_SHOWN and not group.get("known")
            lines += _group(group, reruns, source, shows_command=shows_command)
    return [sanitize(line.replace("\n", " ")) for line in lines]


def _group(group: Mapping[str, Any], reruns: RerunCommands, source: str, *, shows_command: bool) -> Iterator[str]:
    runs = group["runs"]
    evaluator = truncate(group["evaluator"].removesuffix("Evaluator"), LONGEST_NAME)
    kind = f"{evaluator}: {group['text']}" if evaluator else group["text"]
    line = f"  {group['count']:>5}  {kind}: {reruns.name_tasks(runs)}"
    if not shows_command:
        yield line
        return
    rerun = reruns.command(runs, LONGEST_COMMAND)
    coverage = f"first {rerun.named} of {rerun.of}; all of them: webeval.failures in {source}"
    yield line if rerun.named == rerun.of else f"{line} ({coverage})"
    yield f"         {rerun.command}"
