"""`webeval calibrate RESULTS --labels FILE`: verdicts of a judge against labels of people."""

from __future__ import annotations

import argparse
import json
import os
from contextlib import suppress
from pathlib import Path

from pytest_webeval.commands.command import argument, print_text, write_content
from pytest_webeval.errors import SettingsError
from pytest_webeval.judges.certificates import Certificate, read_certificate, write_certificate
from pytest_webeval.judges.label_files import IN_WORDS, LabelColumns, load_label_file, parse_coding
from pytest_webeval.recordings.verdict_files import CODINGS
from pytest_webeval.reports.judging_text import format_calibration
from pytest_webeval.safety.text import pluralize, sanitize
from pytest_webeval.storage import write_text
from pytest_webeval.summary.judges.calibration import calibrate, certify
from pytest_webeval.summary.judges.judged_runs import read_judged_runs

HELP = "compare verdicts of a judge with labels of people, and write its certificate"
_USUAL = LabelColumns()
ARGUMENTS = (
    argument("results", "RESULTS", "a directory of results, or eval_summary.json", nargs="+"),
    argument(
        "--labels",
        "FILE",
        "labels in .csv, .json or .jsonl; a file of adjudicated disagreements outweighs others (repeatable)",
        action="append",
        required=True,
    ),
    argument("--id-column", "NAME", "task ids or names of runs (default: task_id)", default=_USUAL.id),
    argument("--label-column", "NAME", "the labels (default: label)", default=_USUAL.label),
    argument("--annotator-column", "NAME", "who gave the label (default: annotator, if any)"),
    argument("--coding", "CODING", f"{', '.join(CODINGS)}, or e.g. 1=success,0=failure,2=excluded"),
    argument("--certificate", "FILE", "write the certificate of the judge to FILE"),
    argument("--disagreements", "FILE", "write the runs to adjudicate to FILE, as JSON lines"),
    argument("--json", "FILE", "also write all numbers to FILE as JSON"),
)


def run(arguments: argparse.Namespace) -> int:
    """Calibrate, print, and write the files that the user names. Raises `SettingsError`."""
    columns = LabelColumns(arguments.id_column, arguments.label_column, arguments.annotator_column)
    coding = parse_coding(arguments.coding)
    files = [load_label_file(Path(name), columns, coding) for name in dict.fromkeys(arguments.labels)]
    calibration = calibrate(read_judged_runs(map(Path, dict.fromkeys(arguments.results))), files)
    certificate = certify(calibration) if arguments.certificate else None
    queue = Path(arguments.disagreements) if arguments.disagreements else None
    if queue is not None and os.path.lexists(queue) and load_label_file(queue, LabelColumns(), IN_WORDS).labels:
        advice = "pass it as --labels, and choose another file for --disagreements"
        raise SettingsError(f"{queue} has adjudications, which would be lost; {advice}")
    print_text(format_calibration(calibration.to_json()))
    write_content(arguments.json, calibration.to_json())
    if queue is not None:
        rows = calibration.list_disagreements()
        lines = [f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows]
        write_text(queue, "".join(lines), advice="choose another --disagreements")
        print_text(sanitize(f"{queue}: {pluralize(len(rows), 'disagreement')} to adjudicate"))
    if certificate is not None:
        _replace_certificate(Path(arguments.certificate), certificate)
    return 0


def _replace_certificate(path: Path, certificate: Certificate) -> None:
    """Write the certificate, and say what changed since the one that was there."""
    change = None
    if os.path.lexists(path):
        with suppress(SettingsError):
            change = read_certificate(path).explain_staleness(certificate.judge)
    write_certificate(path, certificate)
    note = f"; the one before was stale: {change}" if change else ""
    print_text(sanitize(f"{path}: certificate of {certificate.judge}{note}"))
