"""Judges as text: who judged how many runs, what that cost, and how far people agree with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_webeval.reports.rates_text import format_rate
from pytest_webeval.reports.tables import align, clean_lines, note_part
from pytest_webeval.safety.text import name_first, pluralize, sanitize, truncate

NO_CERTIFICATE = "no certificate: how far people agree with this judge is unknown; run webeval calibrate"
_LONGEST_JUDGE, _LONGEST_LINE = 80, 300
_MOST_RUNS = 3
_SHARES = ("accuracy", "precision", "recall", "specificity", "base_rate")
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


def format_judging(judging: Mapping[str, Any]) -> list[str]:
    """A line about the judges of a session, one about runs without a verdict, and one about the certificate."""
    names = ", ".join(map(format_judge, judging["judges"])) or "of requests"
    parts = [f"{pluralize(judging['judged'], 'run')} judged"] if judging["judges"] else []
    parts += [pluralize(judging["proposals"], "proposal")] if judging["proposals"] else []
    tokens = sum(usage.get("prompt", 0) + usage.get("completion", 0) for usage in judging["usage"].values())
    cost = "cost unknown" if judging["cost_usd"] is None else f"${judging['cost_usd']:.4f}"
    parts += [pluralize(judging["calls"], "reply", "replies"), f"{tokens:,} tokens", cost]
    if judging["agreement"] is not None:
        parts.append(f"votes agree {judging['agreement']:.1%}")
    lines = [f"judge {names}: {', '.join(parts)}"]
    if failures := judging["not_judged"]:
        lines.append(f"not judged: {_list_counts(failures)}")
        for name, row in judging["reasons"].items():  # an example, without the words that all begin with
            text = str(row["text"]).removeprefix("not scored: ")
            lines.append(truncate(f"  {name.replace('_', ' ')}: {row['run']}: {text}", _LONGEST_LINE))
    if degraded := judging["degraded"]:
        runs = _format_fallbacks(judging.get("fallbacks", {}))
        lines.append(truncate(f"steps of the judge with a fallback: {runs}{_list_counts(degraded)}", _LONGEST_LINE))
    if judging["judges"]:
        lines.append(format_certificate(judging.get("certificate")))
    return clean_lines(lines)


def _list_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in counts.items())


def _format_fallbacks(fallbacks: Mapping[str, int]) -> str:
    """In how many runs there is no verdict for that, and those with the most fallbacks."""
    if not fallbacks:
        return ""
    most = sorted(fallbacks, key=lambda run: (-fallbacks[run], run))[:_MOST_RUNS]
    more = ", …" if len(fallbacks) > len(most) else ""
    listed = ", ".join(f"{truncate(run, _LONGEST_JUDGE)} {fallbacks[run]}" for run in most)
    return f"{sum(fallbacks.values())} in {pluralize(len(fallbacks), 'run')} without a verdict ({listed}{more}): "


def format_judge(identity: Mapping[str, Any]) -> str:
    """Model, method and version: `gpt-5 (rubric 1)`."""
    models = " and ".join(str(name) for name in (identity["model"], identity["text_model"]) if name)
    votes = f", {identity['votes']} votes" if identity["votes"] != 1 else ""
    return truncate(f"{models} ({identity['method']} {identity['version']}{votes})", _LONGEST_JUDGE)


def format_certificate(certificate: Mapping[str, Any] | None) -> str:
    """What a certificate says of the judge, or why it says nothing."""
    if certificate is None:
        return NO_CERTIFICATE
    if certificate["problem"] is not None:
        return f"certificate not valid: {certificate['problem']}"
    accuracy, kappa = certificate["accuracy"], certificate["kappa"]["value"]
    share = "unknown" if accuracy["value"] is None else format_rate(accuracy["value"], accuracy["interval_95"])
    text = f"certificate: agrees with people on {share} of {certificate['labelled']} runs"
    text += f", kappa {'undefined' if kappa is None else f'{kappa:.2f}'}"
    corrected = certificate["corrected_success_rate"]
    if corrected["value"] is not None:
        rate = format_rate(corrected["value"], corrected["interval_95"])
        text += f", success rate corrected for its errors {rate}"
    return text


def format_calibration(content: Mapping[str, Any]) -> str:
    """The calibration in lines: the judge, the confusion table, shares with intervals, groups and what does not fit."""
    table = content["table"]
    rows = [
        ("", "label success", "label failure"),
        ("verdict success", f"{table['true_positive']:,}", f"{table['false_positive']:,}"),
        ("verdict failure", f"{table['false_negative']:,}", f"{table['true_negative']:,}"),
    ]
    files = [file["name"] for file in content["labels"]]
    labelled = f"{content['labelled_count']:,} of {pluralize(content['judged_count'], 'judged run')}"
    unjudged = f"; {content['unjudged_count']:,} without a verdict of a judge" if content["unjudged_count"] else ""
    names = name_first(files, _NAMES_SHOWN, _LONGEST_NAME, len(files))
    lines = [*_format_judges(content["judges"]), f"{labelled} compared with {names}{unjudged}", ""]
    lines += [f"{name:<{_WIDTH}}{first:>14}{second:>15}" for name, first, second in rows]
    lines += ["", *(_format_line(name.replace("_", " "), _format_share(table[name])) for name in _SHARES)]
    kappa = "undefined"
    if table["kappa"] is not None:
        low, high = table["kappa"]["interval_95"]
        kappa = f"{table['kappa']['value']:.2f} (95% interval {low:.2f} to {high:.2f})"
    lines += [_format_line("kappa", kappa), *_format_ceiling(content)]
    corrected = format_rate_interval(content["corrected_success_rate"])
    lines += [
        "",
        _format_line("success rate", f"{_format_share(content['raw_success_rate'])}: as the judge has it"),
        _format_line("corrected", f"{corrected}: without the judge's errors"),
    ]
    for name, label in _GROUPS.items():
        if groups := content[name]:
            largest = sorted(groups, key=lambda group: -group["total"])[:GROUPS_SHOWN]
            part = note_part(len(largest), len(groups), ", most labels first")
            lines += ["", f"by {label}{part}:", *align([(label, *_GROUP_HEADS), *map(_list_cells, largest)])]
    return "\n".join(clean_lines([*lines, *_format_notes(content)]))


def _format_judges(judges: Sequence[Mapping[str, Any] | None]) -> Iterator[str]:
    if judges == [None]:
        yield "judge: not named by the results"
        return
    for judge in judges[:_NAMES_SHOWN]:
        if judge is None:
            yield "judge: not named by some results"
            continue
        models = judge["model"] if judge["text_model"] is None else f"{judge['model']} and {judge['text_model']}"
        method = f"method {judge['method']}, version {judge['version']}"
        yield f"judge: {models}, {method}, {pluralize(judge['votes'], 'vote')}, threshold {judge['threshold']}"
    if len(judges) > 1:
        yield f"note: the verdicts are those of {len(judges)} judges"


def _format_line(label: str, text: str) -> str:
    return f"{label:<{_WIDTH}}{text}"


def _format_share(share: Mapping[str, Any]) -> str:
    counts = "" if share["value"] is None else f", {share['count']:,} of {share['total']:,}"
    return f"{format_rate_interval(share)}{counts}"


def format_rate_interval(estimate: Mapping[str, Any] | None) -> str:
    """A rate with its interval, such as `72.2% (95% interval 56.0% to 84.2%)`."""
    if estimate is None or estimate["value"] is None:
        return "undefined"
    rate = format_rate(estimate["value"], estimate["interval_95"])
    return rate if estimate["interval_95"] is not None else f"{rate} (no interval)"


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


def _list_cells(group: Mapping[str, Any]) -> tuple[str, ...]:
    values = [group[name]["value"] for name in ("accuracy", "precision", "recall", "base_rate")]
    *shares, base = ("-" if value is None else f"{value:.1%}" for value in values)
    kappa = "-" if group["kappa"] is None else f"{group['kappa']['value']:.2f}"
    name = truncate(sanitize(group["name"]), _LONGEST_NAME) or "(none)"
    return name, f"{group['total']:,}", *shares, kappa, base


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
