"""What the terminal says of failures and warnings: their kinds, how to score each again, and what changed since."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from pytest_webeval.plugin.workspace import SUMMARY
from pytest_webeval.reports.failure_text import harmless
from pytest_webeval.reports.rerun import Reruns
from pytest_webeval.warning_kinds import warning_groups

GROUPS_SHOWN, COMMANDS_SHOWN, TASKS_NAMED, WARNINGS_SHOWN = 5, 3, 5, 4
LONGEST_COMMAND, LONGEST_NAME, LONGEST_WARNING = 300, 80, 400  # characters
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
    return _cut(name, LONGEST_NAME)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def warnings(by_run: Mapping[str, Sequence[str]]) -> list[str]:
    """Kinds of warnings with an example each, first those that decided verdicts, which must not drown."""
    groups = warning_groups(by_run)
    if not groups:
        return []
    shown = f" ({WARNINGS_SHOWN} of {len(groups)} kinds)" if len(groups) > WARNINGS_SHOWN else ""
    total = sum(group["count"] for group in groups)
    lines = [f"{_number(total, 'warning')} in {_number(len(by_run), 'run')}, by kind{shown}:"]
    for group in groups[:WARNINGS_SHOWN]:
        decided = f" decided {_number(group['decided'], 'verdict')}" if group["decided"] else ""
        example = f"{group['example']['run']}: {group['example']['text']}"
        lines.append(f"  {group['count']:>5}  {group['kind']}{decided}; first: {_cut(example, LONGEST_WARNING)}")
    return [harmless(line.replace("\n", " ")) for line in lines]


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
    return [harmless(f"Python tests scored {count} as a failure: {listed(runs[:TASKS_NAMED], len(runs))}")]


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
