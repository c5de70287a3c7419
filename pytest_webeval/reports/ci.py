"""A summary as Markdown for the job page of GitHub: totals first, then failures with their rerun commands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_webeval.reports.failure_text import list_known, split_known
from pytest_webeval.reports.rates_text import (
    attempt_tables,
    count_successes,
    format_excluded,
    format_other_rates,
    self_report_table,
)
from pytest_webeval.reports.rerun import RerunCommands
from pytest_webeval.reports.tables import count_more, plain, table
from pytest_webeval.reports.terminal import describe_rules
from pytest_webeval.results import Summary
from pytest_webeval.safety.text import pluralize, sanitize
from pytest_webeval.summary.task_identity import describe_sample


def annotation(summary: Summary, title: str) -> str:
    """The totals: a notice if all gates passed, or without gates if no failure is new; otherwise an error.

    It is an error, too, if a task regressed, also where the gates allow that.
    """
    webeval = summary.webeval
    text = f"{summary.success_count} of {summary.total} succeeded"
    if webeval["success_rate"] is not None:
        text += f" ({webeval['success_rate']:.1%})"
    text += f", {summary.failed_count} failed, {pluralize(summary.error_count, 'error')}"
    if flips := webeval.get("baseline"):
        text += f"; since {flips['timestamp'][:10]} {len(flips['regressed'])} regressed, {len(flips['fixed'])} fixed"
    if gates := webeval.get("gates"):
        text += f"; {sum(gate['passed'] for gate in gates)} of {pluralize(len(gates), 'gate')} passed"
        is_good = all(gate["passed"] for gate in gates)
    else:
        known = sum(group["count"] for group in webeval["failures"] if group.get("known"))
        is_good = summary.success_count + known == summary.total
    worse = ("regressed", "newly_erring", *(() if webeval["partial"] else ("gone",)))  # gone: without a run
    has_regressed = flips is not None and any(flips.get(name) for name in worse)
    return workflow_command("notice" if is_good and not has_regressed else "error", text, title=title)


def workflow_command(kind: str, text: str, **properties: object) -> str:
    """A message for GitHub: `::error title=...::text`. Properties without a value are dropped."""
    texts = {name: _escape(raw) for name, raw in properties.items() if raw is not None}
    pairs = (f"{name}={text.replace(':', '%3A').replace(',', '%2C')}" for name, text in texts.items())
    return f"::{kind} {','.join(pairs)}::{_escape(text)}"


def _escape(text: object) -> str:
    return sanitize(str(text)).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


SITES_SHOWN, GROUPS_SHOWN, COMMANDS_SHOWN, TASKS_SHOWN = 50, 20, 3, 1_000


def fenced(command: str) -> str:
    """A command as a fenced code block that its text cannot close."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", command)), default=0))
    return f"{fence}sh\n{sanitize(command)}\n{fence}\n"


def markdown(summary: Summary, reruns: RerunCommands, room: int) -> str:
    """The page in at most `room` bytes: omits failed tasks first, and is empty where not even the totals fit."""
    webeval = summary.webeval
    rate = webeval["success_rate"]
    title = f"## Web-agent runs: {'no scored runs' if rate is None else f'{rate:.1%} success'}\n"
    head = f"{title}\n{_counts(summary)}"
    blocks = [title, *_checks(webeval, reruns), _counts(summary), *_sites(summary)]
    if attempts := webeval.get("attempts"):
        blocks += attempt_tables(attempts)
    if report := webeval.get("self_report"):
        blocks.append(self_report_table(report))
    page = "\n".join([*blocks, *_groups(webeval, reruns), *_warnings(webeval)])
    if _size(page) > room:
        return head if _size(head) <= room else ""
    return page + _tasks(summary, room - _size(page))


def _size(text: str) -> int:
    return len(text.encode("utf-8", "backslashreplace"))


def _counts(summary: Summary) -> str:
    webeval = summary.webeval
    low, high = webeval["success_rate_interval_95"]
    denominator = webeval["success_rate_denominator"]
    counts = (
        f"**{summary.success_count} of {summary.total} succeeded**, {summary.failed_count} failed, "
        f"{pluralize(summary.error_count, 'error')}, {format_excluded(webeval)}"
    )
    sample = describe_sample(webeval["success_rate_task_count"], denominator) or f" for the {denominator} that count"
    rate = f"; 95% interval {low:.1%} to {high:.1%}{sample}" if denominator else ""
    notes = ["This session is partial."] if webeval["partial"] else []
    notes += [f"Stopped: {plain(webeval['stopped'])}."] if webeval["stopped"] else []
    scores = [f"{text[:1].upper()}{text[1:]}." for text in format_other_rates(webeval)]
    return " ".join([f"{counts}{rate}.", *scores, f"Rules {plain(describe_rules(webeval))}.", *notes]) + "\n"


def _checks(webeval: Mapping[str, Any], reruns: RerunCommands) -> Iterator[str]:
    """The gates, and what changed since the baseline, if there are any."""
    if "baseline" in webeval or webeval.get("gates"):
        from pytest_webeval.reports.comparison_text import (
            format_baseline_markdown,
            gate_table,
        )  # few sessions have either

        yield from filter(None, [gate_table(webeval.get("gates", ()))])
        if "baseline" in webeval:
            yield from format_baseline_markdown(webeval["baseline"], reruns, has_gaps=not webeval["partial"])


def _sites(summary: Summary) -> Iterator[str]:
    named_sites = {name: rows for name, rows in summary.per_site_summary.items() if name}
    if named_sites:
        cells = []
        for name, rows in list(named_sites.items())[:SITES_SHOWN]:
            good = count_successes(rows)
            cells.append((plain(name), good, len(rows), f"{good / len(rows):.1%}"))
        yield table(("site", "success", "of", "rate"), cells, len(named_sites) - SITES_SHOWN)


def _groups(webeval: Mapping[str, Any], reruns: RerunCommands) -> Iterator[str]:
    for heading, groups in split_known(webeval["failures"]).items():
        yield f"### {heading.capitalize()}\n"
        rows = [(group["count"], plain(group["evaluator"]), plain(group["text"])) for group in groups[:GROUPS_SHOWN]]
        yield table(("count", "evaluator", "reason"), rows, len(groups) - GROUPS_SHOWN)
        for group in groups[:COMMANDS_SHOWN]:
            if group.get("known"):
                continue
            rerun = reruns.command(group["runs"])
            coverage = "" if rerun.named == rerun.of else f" (the first {rerun.named})"
            yield f"Rerun {pluralize(group['count'], 'task')} with {plain(group['text'])}{coverage}:\n"
            yield fenced(rerun.command)


def _warnings(webeval: Mapping[str, Any]) -> Iterator[str]:
    """Kinds of warnings, those that decided verdicts first."""
    groups = webeval.get("warning_kinds") or ()
    if groups:
        yield "### Warnings by kind\n"
        heads, rows = ("count", "kind", "verdicts decided", "first run", "example"), []
        for group in groups[:GROUPS_SHOWN]:
            run, text = plain(group["example"]["run"]), plain(group["example"]["text"])
            rows.append((group["count"], plain(group["kind"]), group["decided"], run, text))
        yield table(heads, rows, len(groups) - GROUPS_SHOWN)


def _tasks(summary: Summary, room: int) -> str:
    """A line for each task that did not succeed and is not known to fail, as many as there is room for."""
    known = set(list_known(summary.webeval["failures"]))
    failed = [
        row for row in summary.task_results if row["status"] not in ("success", "excluded") and row["run"] not in known
    ]
    heading = f"### {pluralize(len(failed), 'task')} without success"
    lines = [f"\n{heading}\n\n| task | site | reason |\n| --- | --- | --- |\n"]
    reserve = 100  # for what follows the table
    room -= _size(lines[0]) + reserve
    for row in failed[:TASKS_SHOWN]:
        line = f"| {plain(row['task_id'])} | {plain('-'.join(sorted(row['sites'])))} | {plain(row['reason'] or '')} |\n"
        room -= _size(line)
        if room < 0:
            break
        lines.append(line)
    more = count_more(len(failed), len(lines) - 1, "more in eval_summary.json", indent="\n")
    return "".join([*lines, *(f"{line}\n" for line in more)]) if len(lines) > 1 else ""


def open_metrics(summary: Summary) -> str:
    """A line for each number, sorted; omits the rate if no run counts."""
    webeval = summary.webeval
    numbers: dict[str, float | None] = {
        "webeval_error": summary.error_count,
        "webeval_excluded": webeval["excluded_count"],
        "webeval_failure": summary.failed_count,
        "webeval_mean_score": webeval.get("scores", {}).get("mean_score"),
        "webeval_success": summary.success_count,
        "webeval_success_rate": webeval["success_rate"],
    }
    numbers |= {
        f'webeval_success_rate{{site="{_label(site)}"}}': count_successes(rows) / len(rows)
        for site, rows in sorted(summary.per_site_summary.items())
        if site
    }
    numbers |= {
        f'webeval_excluded{{reason="{_label(kind)}"}}': count
        for kind, count in webeval.get("excluded_counts", {}).items()
    }
    numbers["webeval_total"] = summary.total
    lines = [f"{name} {round(number, 6)}" for name, number in sorted(numbers.items()) if number is not None]
    return "\n".join([*lines, "# EOF"]) + "\n"


def _label(text: str) -> str:
    """A value between quotation marks, as the specification escapes it."""
    return sanitize(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
