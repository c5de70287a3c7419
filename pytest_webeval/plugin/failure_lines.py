"""What the terminal says of failures: their kinds, how to score each kind again, and what an earlier session found."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from pytest_webeval.plugin.workspace import SUMMARY
from pytest_webeval.reports.failure_text import harmless
from pytest_webeval.reports.rerun import Reruns

GROUPS_SHOWN, COMMANDS_SHOWN, TASKS_NAMED = 5, 3, 5
LONGEST_COMMAND, LONGEST_NAME = 300, 80  # characters
SLOWEST_SHOWN, SLOW = 3, 1.0  # seconds


def failures(groups: Sequence[Mapping[str, Any]], reruns: Reruns) -> list[str]:
    """Groups of failures, the largest first, and under each of the largest the command that scores it again."""
    if not groups:
        return []
    shown = f" ({GROUPS_SHOWN} of {len(groups)} kinds)" if len(groups) > GROUPS_SHOWN else ""
    lines = [f"failures by reason{shown}:"]
    for position, group in enumerate(groups[:GROUPS_SHOWN]):
        lines += _group(group, reruns, shows_command=position < COMMANDS_SHOWN)
    return [harmless(line.replace("\n", " ")) for line in lines]


def _group(group: Mapping[str, Any], reruns: Reruns, *, shows_command: bool) -> Iterator[str]:
    runs = group["runs"]
    evaluator = _short(group["evaluator"].removesuffix("Evaluator"))
    kind = f"{evaluator}: {group['text']}" if evaluator else group["text"]
    line = f"  {group['count']:>5}  {kind}: {_ids(runs, reruns)}"
    if not shows_command:
        yield line
        return
    found = reruns.command(runs, LONGEST_COMMAND)
    some = f"first {found.named} of {found.of}; all of them: webeval.failures in {SUMMARY}"
    yield line if found.named == found.of else f"{line} ({some})"
    yield f"         {found.command}"


def _ids(runs: Sequence[str], reruns: Reruns) -> str:
    return listed([reruns.task_ids[run] for run in runs[:TASKS_NAMED]], len(runs))


def listed(task_ids: Sequence[int | str], count: int) -> str:
    """The first few ids of `count` tasks."""
    told = ", ".join(_short(str(one)) for one in task_ids)
    return f"{told}, … and {count - len(task_ids)} more" if count > len(task_ids) else told


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def slowest(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The slowest runs in one line, where somebody would notice."""
    if not rows or rows[0]["wall_time"] < SLOW:
        return []
    told = ", ".join(f"{row['run']} {row['wall_time']:.1f} s" for row in rows[:SLOWEST_SHOWN])
    return [harmless(f"slowest: {told}")]


def doubted(runs: Sequence[str]) -> list[str]:
    """Runs whose tests passed and whose verdicts are none of success all the same, in one line."""
    if not runs:
        return []
    passed = "1 run passed its own test" if len(runs) == 1 else f"{len(runs)} runs passed their own tests"
    shown = listed(runs[:TASKS_NAMED], len(runs))
    return [harmless(f"{passed}, but a Python test recorded a failure: {shown}")]


def recorded(runs: Sequence[str]) -> list[str]:
    """Runs of which Python tests recorded a failure and that have no passed test of their own, in one line."""
    if not runs:
        return []
    count = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
    return [harmless(f"Python tests recorded a failure for {count}: {listed(runs[:TASKS_NAMED], len(runs))}")]


def flips(about: Mapping[str, Any], reruns: Reruns) -> list[str]:
    """What changed since the baseline in one line, and in another why that may not be the agent's doing."""
    found = about.get("baseline")
    if found is None:
        return []
    parts = [f"{len(runs)} {name}: {_ids(runs, reruns)}" for name in ("lost", "gained") if (runs := found[name])]
    parts += [f"{len(found[name])} {name}" for name in ("new", "gone") if found[name] and not about["partial"]]
    day = found["timestamp"][:10]
    lines = [f"since baseline ({day}): {'; '.join(parts) or 'nothing flipped'}"]
    if other := others(found):
        lines.append(f"the baseline was scored with other {' and '.join(other)}, which may be why")
    if found["partial"]:
        lines.append("the baseline is of a partial session, which scored some of the runs")
    return [harmless(line.replace("\n", " ")) for line in lines]


def others(baseline: Mapping[str, Any]) -> list[str]:
    """What was not the same then."""
    words = {
        "same_rules": f"rules ({baseline['rules']})",
        "same_evaluators": "evaluators",
        "same_tasks": "task definitions",
    }
    return [word for name, word in words.items() if not baseline[name]]
