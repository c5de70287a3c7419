"""A history of sessions as text for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_webeval.reports.rates_text import format_interval
from pytest_webeval.reports.tables import align, clean_lines, count_more, note_part, plain, table
from pytest_webeval.results import SUMMARY
from pytest_webeval.safety.text import pluralize, sanitize, truncate
from pytest_webeval.summary.comparison.history import parse_time

FLIPS_SHOWN = 20
WIDTH = 100  # columns of a terminal
SITES_SHOWN, PROBLEMS_SHOWN = 12, 8
_BAR, _DIGITS, _STRIP = 10, 40, 32  # columns for a rate, and for sessions of sites and of tasks: the latest
_LONGEST_NAME = 24
_SESSION_HEADS = ("#", "time", "rate", "interval", "succeeded", "errors", "", "session")
_SITE_HEADS = ("site", "first", "last", "interval", "rates")
_FLIP_HEADS = ("task", "site", "changes", "same inputs", "outcomes")
_DIGITS_MEANING = "a digit is the rate of a session in tenths: 7 is 70% to 79%, 9 is 90% or more"


def label_sessions(sessions: Sequence[Mapping[str, Any]]) -> list[str]:
    """Short names: paths without what all of them have in common, and without the usual file name."""
    paths = [session["name"].removesuffix(f"/{SUMMARY}").split("/") for session in sessions]
    long = [path for path in paths if len(path) > 1]
    shared = 0
    while long and all(len(path) > shared + 1 and path[shared] == long[0][shared] for path in long):
        shared += 1
    return ["/".join(path[shared:]) if len(path) > 1 else path[0] for path in paths]


def format_time(timestamp: str) -> str:
    """The time of a session to the minute, in UTC; what is written there if it is not a time."""
    time = parse_time(timestamp)
    return f"{time:%Y-%m-%d %H:%M}" if time is not None else truncate(sanitize(timestamp), len("2026-01-31 12:00"))


def format_rate(group: Mapping[str, Any] | None) -> str:
    """The success rate, or a dash where nothing was judged."""
    return f"{group['success_rate']:.1%}" if group is not None and group["judged_count"] else "-"


def describe_tasks(tasks: Mapping[str, int]) -> str:
    """How many tasks there are, and how many of them are solved always, never and sometimes."""
    kinds = {name: tasks[name] for name in ("always_solved", "never_solved", "sometimes_solved", "never_judged")}
    counts = [f"{count:,} {name.replace('_', ' ')}" for name, count in kinds.items() if count]
    return f"{pluralize(tasks['count'], 'task')}: {', '.join(counts)}" if counts else "no task"


def describe_legend(legend: Mapping[str, str]) -> str:
    """What the characters of the outcomes mean."""
    return ", ".join(f"{character} {meaning}" for character, meaning in legend.items())


Series = tuple[str, list[Mapping[str, Any] | None]]  # the name of a group, and its counts by session


def list_series(content: Mapping[str, Any], group: str) -> list[Series]:
    """The counts of each site, type, template or run folder by session, those first that cost most successes.

    That is what the last session lost, and then what all sessions lost. Empty where no run has such a name, and for
    run folders if each session has only one: then they say no more than the rate of the session.
    """
    names = content.get(group, [""])
    if names == [""] or (group == "folders" and all(len(session[group]) < 2 for session in content["sessions"])):
        return []
    series = [(name, [session[group].get(name) for session in content["sessions"]]) for name in names]

    def rank(one: Series) -> tuple[int, ...]:
        lost = [count_lost(counts) for counts in one[1]]
        return -lost[-1], -sum(lost), -sum(counts["judged_count"] for counts in one[1] if counts)

    return sorted(series, key=rank)


def count_lost(counts: Mapping[str, Any] | None) -> int:
    """How many judged runs did not succeed."""
    return counts["judged_count"] - counts["success_count"] if counts is not None else 0


def format_history(content: Mapping[str, Any], flips_shown: int) -> str:
    """The history in lines of at most 100 columns: sessions, what decided, sites, and the tasks that changed."""
    lines = [describe_sessions(content), describe_tasks(content["tasks"]), ""]
    lines += align([_SESSION_HEADS, *_list_sessions(content)], left=(6, 7))
    notes = _list_notes(content["sessions"])
    lines += ["compare with care the rates before and after these sessions:"] if notes else []
    lines += [f"  {number:>3}  {note}" for number, note in notes]
    if rows := _list_sites(content):
        lines += ["", f"by site ({_DIGITS_MEANING}):", *align([_SITE_HEADS, *rows], left=(0, 4))]
        lines += _count_more_sites(content)
    if rows := _list_flips(content, flips_shown):
        lines += ["", f"{_title_flips(content, len(rows))}:", *align([_FLIP_HEADS, *rows], left=(0, 1, 4))]
        lines += [f"  {describe_legend(content['legend'])}"]
    lines += [f"note: {problem}" for problem in _list_problems(content["problems"])]
    return "\n".join(truncate(line, WIDTH) for line in clean_lines(lines))


def describe_sessions(content: Mapping[str, Any]) -> str:
    """How many sessions there are, and their times."""
    timestamps = [session["timestamp"] for session in content["sessions"]]
    times = [format_time(timestamp) for timestamp in timestamps if parse_time(timestamp) is not None]
    period = f", {' to '.join(dict.fromkeys((times[0], times[-1])))}" if times else ""
    return f"{pluralize(len(content['sessions']), 'session')}{period}"


def _list_sessions(content: Mapping[str, Any]) -> list[tuple[str, ...]]:
    sessions = content["sessions"]
    return [
        (
            str(number),
            format_time(session["timestamp"]),
            format_rate(session),
            format_interval(session),
            f"{session['success_count']:,} of {session['judged_count']:,}",
            f"{session['error_count']:,}",
            ("#" * round((session["success_rate"] or 0) * _BAR)).ljust(_BAR, "."),
            path if len(path := sanitize(label)) <= _LONGEST_NAME else f"…{path[1 - _LONGEST_NAME :]}",
        )
        for number, (session, label) in enumerate(zip(sessions, label_sessions(sessions), strict=True), 1)
    ]


def _list_notes(sessions: Sequence[Mapping[str, Any]]) -> list[tuple[int, str]]:
    """Why rates before and after a session may not be comparable, with its number."""
    return [(number, note) for number, session in enumerate(sessions, 1) for note in session["notes"]]


def _list_sites(content: Mapping[str, Any]) -> list[tuple[str, ...]]:
    return [
        (
            truncate(sanitize(name), _LONGEST_NAME) or "(none)",
            *map(format_rate, find_ends(counts)),
            format_interval(find_ends(counts)[-1]),
            "".join(
                str(min(9, int(each["success_rate"] * 10))) if each is not None and each["judged_count"] else "."
                for each in counts[-_DIGITS:]
            ),
        )
        for name, counts in list_series(content, "sites")[:SITES_SHOWN]
    ]


def find_ends(counts: Sequence[Mapping[str, Any] | None]) -> tuple[Mapping[str, Any] | None, ...]:
    """The counts of the first session that judged a run of the site, and of the last session; None if it did not."""
    judged = [each for each in counts if each is not None and each["judged_count"]]
    last = counts[-1] if counts else None
    return (judged[0] if judged else None, last if last is not None and last["judged_count"] else None)


def _count_more_sites(content: Mapping[str, Any]) -> Iterator[str]:
    if len(content["sites"]) > SITES_SHOWN:
        yield f"  … and {pluralize(len(content['sites']) - SITES_SHOWN, 'site')} more with fewer runs"


def _list_flips(content: Mapping[str, Any], shown: int) -> list[tuple[str, ...]]:
    return [
        (
            truncate(sanitize(str(flip["task_id"])), _LONGEST_NAME),
            truncate(sanitize(flip["site"]), _LONGEST_NAME),
            str(flip["flips"]),
            str(flip["flips_same_inputs"]),
            outcomes if len(outcomes := flip["outcomes"]) <= _STRIP else f"…{outcomes[-_STRIP:]}",
        )
        for flip in content["flips"][: shown or None]
    ]


def _title_flips(content: Mapping[str, Any], shown: int) -> str:
    return f"tasks whose verdict changed most often{note_part(shown, len(content['flips']))}"


def _list_problems(problems: Sequence[str]) -> list[str]:
    return [*problems[:PROBLEMS_SHOWN], *count_more(len(problems), PROBLEMS_SHOWN, indent="")]


def format_history_markdown(content: Mapping[str, Any], flips_shown: int) -> str:
    """The same as Markdown, with all texts of the sessions as code."""
    blocks = [f"## {describe_sessions(content)}\n", f"{describe_tasks(content['tasks'])}\n"]
    sessions = [  # without their bars
        (number, plain(time), *numbers, plain(label)) for number, time, *numbers, _, label in _list_sessions(content)
    ]
    blocks.append(table(_SESSION_HEADS[:6] + _SESSION_HEADS[7:], sessions))
    blocks += [f"- session {number}: {plain(note)}" for number, note in _list_notes(content["sessions"])]
    if rows := _list_sites(content):
        sites = [(plain(name), *numbers, plain(rates)) for name, *numbers, rates in rows]
        blocks += [f"\n### By site\n\n{_DIGITS_MEANING}\n", table(_SITE_HEADS, sites)]
        blocks += _count_more_sites(content)
    if rows := _list_flips(content, flips_shown):
        title = _title_flips(content, len(rows)).capitalize()
        legend = ", ".join(f"{plain(character)} {meaning}" for character, meaning in content["legend"].items())
        cells = [(plain(row[0]), plain(row[1]), *row[2:4], plain(row[4])) for row in rows]
        blocks += [f"\n### {title}\n\n{legend}\n", table(_FLIP_HEADS, cells)]
    blocks += [f"- {plain(problem)}" for problem in [*content.get("skipped", ()), *_list_problems(content["problems"])]]
    return "\n".join(blocks)
