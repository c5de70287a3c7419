"""The calibration of a judge as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_webeval.safety.text import name_first, pluralize, sanitize, truncate

_SHARES = {
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "specificity": "specificity",
    "base_rate": "base rate",
}
_GROUPS = {"sites": "site", "benchmarks": "benchmark"}
_GROUP_HEADS = ("labelled", "accuracy", "precision", "recall", "kappa", "base rate")
_NOTES = {
    "ties": ("label is a tie and does not count", "labels are ties and do not count"),
    "excluded": ("run is excluded by its label", "runs are excluded by their labels"),
    "unmatched": ("label matches no judged run", "labels match no judged run"),
    "ambiguous": (
        "task id is that of several runs; label them by name",
        "task ids are those of several runs; label them by name",
    ),
}
GROUPS_SHOWN, _NAMES_SHOWN, _PROBLEMS_SHOWN = 12, 5, 8
_LONGEST_NAME = 40
_WIDTH = 18  # columns of a name


def format_calibration(content: Mapping[str, Any]) -> str:
    """The calibration in lines: the judge, the confusion table, shares with intervals, groups and what does not fit."""
    lines = [*_format_judges(content["judges"]), _format_counts(content), "", *_format_table(content["table"]), ""]
    lines += [_format_line(label, _format_share(content["table"][name])) for name, label in _SHARES.items()]
    lines += [_format_line("kappa", _format_kappa(content["table"]["kappa"])), *_format_ceiling(content)]
    lines += ["", *_format_rates(content)]
    for name, label in _GROUPS.items():
        lines += _format_groups(label, content[name])
    lines += _format_notes(content)
    return "\n".join(sanitize(line.replace("\n", " ")) for line in lines)


def _format_judges(judges: Sequence[Mapping[str, Any] | None]) -> Iterator[str]:
    if judges == [None]:
        yield "judge: not named by the results"
        return
    for judge in judges[:_NAMES_SHOWN]:
        yield f"judge: {'not named by some results' if judge is None else _format_judge(judge)}"
    if len(judges) > 1:
        yield f"note: the verdicts are those of {len(judges)} judges"


def _format_judge(judge: Mapping[str, Any]) -> str:
    models = judge["model"] if judge["text_model"] is None else f"{judge['model']} and {judge['text_model']}"
    method = f"method {judge['method']}, version {judge['version']}"
    return f"{models}, {method}, {pluralize(judge['votes'], 'vote')}, threshold {judge['threshold']}"


def _format_counts(content: Mapping[str, Any]) -> str:
    names = name_first(
        [file["name"] for file in content["labels"]], _NAMES_SHOWN, _LONGEST_NAME, len(content["labels"])
    )
    unjudged = f"; {content['unjudged_count']:,} without a verdict of a judge" if content["unjudged_count"] else ""
    labelled = f"{content['labelled_count']:,} of {pluralize(content['judged_count'], 'judged run')}"
    return f"{labelled} compared with {names}{unjudged}"


def _format_table(table: Mapping[str, Any]) -> Iterator[str]:
    rows = [("", "label success", "label failure")]
    rows.append(("verdict success", f"{table['true_positive']:,}", f"{table['false_positive']:,}"))
    rows.append(("verdict failure", f"{table['false_negative']:,}", f"{table['true_negative']:,}"))
    yield from (f"{name:<{_WIDTH}}{first:>14}{second:>15}" for name, first, second in rows)


def _format_line(label: str, text: str) -> str:
    return f"{label:<{_WIDTH}}{text}"


def _format_share(share: Mapping[str, Any]) -> str:
    if share["value"] is None:
        return "undefined"
    return f"{format_rate_interval(share)}, {share['count']:,} of {share['total']:,}"


def format_rate_interval(estimate: Mapping[str, Any] | None) -> str:
    """A rate with its interval, such as `72.2% (95% interval 56.0% to 84.2%)`."""
    if estimate is None or estimate["value"] is None:
        return "undefined"
    interval = estimate["interval_95"]
    text = "no interval" if interval is None else f"95% interval {interval[0]:.1%} to {interval[1]:.1%}"
    return f"{estimate['value']:.1%} ({text})"


def _format_kappa(kappa: Mapping[str, Any] | None) -> str:
    if kappa is None:
        return "undefined"
    low, high = kappa["interval_95"]
    return f"{kappa['value']:.2f} (95% interval {low:.2f} to {high:.2f})"


def _format_ceiling(content: Mapping[str, Any]) -> Iterator[str]:
    annotators, consistency = content["annotators"], content["self_consistency"]
    if annotators is None:
        yield _format_line("annotators", "one label of each run: the ceiling is unknown")
    else:
        kappa = annotators["mean_kappa"]
        parts = [f"agree in {annotators['agreement']:.1%}", f"kappa {'undefined' if kappa is None else f'{kappa:.2f}'}"]
        if annotators["fleiss_kappa"] is not None:
            complete = pluralize(annotators["complete_count"], "run")
            parts.append(f"Fleiss' kappa {annotators['fleiss_kappa']:.2f} over {complete}")
        yield _format_line("annotators", f"{', '.join(parts)} (the ceiling)")
    if consistency is not None:
        counts = f"{consistency['unanimous']:,} of {pluralize(consistency['run_count'], 'run')} unanimous"
        yield _format_line("self-consistency", f"{consistency['value']:.1%} of votes, {counts}")


def _format_rates(content: Mapping[str, Any]) -> Iterator[str]:
    yield _format_line("success rate", f"{_format_share(content['raw_success_rate'])}: as the judge has it")
    corrected = format_rate_interval(content["corrected_success_rate"])
    yield _format_line("corrected", f"{corrected}: without the judge's errors")


def _format_groups(label: str, groups: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not groups:
        return
    largest = sorted(groups, key=lambda group: -group["total"])[:GROUPS_SHOWN]
    rows = [(label, *_GROUP_HEADS), *map(_list_cells, largest)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    more = f" ({len(largest)} of {len(groups)}, most labels first)" if len(largest) < len(groups) else ""
    yield from ("", f"by {label}{more}:")
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        yield f"  {'  '.join(cells)}"


def _list_cells(group: Mapping[str, Any]) -> tuple[str, ...]:
    shares = [_format_short(group[name]["value"]) for name in ("accuracy", "precision", "recall")]
    kappa = "-" if group["kappa"] is None else f"{group['kappa']['value']:.2f}"
    name = truncate(sanitize(group["name"]), _LONGEST_NAME) or "(none)"
    return name, f"{group['total']:,}", *shares, kappa, _format_short(group["base_rate"]["value"])


def _format_short(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _format_notes(content: Mapping[str, Any]) -> Iterator[str]:
    notes = []
    for name, nouns in _NOTES.items():
        if names := content[name]:
            listed = name_first(names, _NAMES_SHOWN, _LONGEST_NAME, len(names))
            notes.append(f"{pluralize(len(names), *nouns)}: {listed}")
    if content["task_count"] < content["judged_count"]:
        tasks = pluralize(content["task_count"], "task")
        notes.append(f"{content['judged_count']:,} runs are of {tasks}; intervals take runs as independent")
    notes += content["problems"][:_PROBLEMS_SHOWN]
    if notes:
        yield ""
    yield from (f"note: {note}" for note in notes)
