"""`webeval new-task RUN`: propose a task definition from golden runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pytest_webeval.api import load_run
from pytest_webeval.authoring.proposal.proposal import propose
from pytest_webeval.commands.command import REDACT, argument, print_text, read_sites
from pytest_webeval.errors import SettingsError
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.safety.text import pluralize, sanitize
from pytest_webeval.scoring.score import SECONDS, limit_time
from pytest_webeval.storage import to_json_bytes, write_text

HELP = "propose a task definition from recordings of the task done right"
ARGUMENTS = (
    argument("runs", "RUN", "the directory of a run that did the task", nargs="+"),
    argument("--intent", "TEXT", "what the agent is asked to do"),
    argument("--config", "FILE", "the site URLs of the recordings (default: inferred)"),
    argument("--id", "ID", "the id of the task (default: the name of the first directory)"),
    argument("--output", "FILE", "write the definition to a new FILE (default: print it)"),
    REDACT,
)


def run(arguments: argparse.Namespace) -> int:
    """Write the definition, and to stderr what to check in it. Returns the exit code: 1 if a run does not pass.

    Raises `WebEvalError` for a run that cannot be used.
    """
    output = Path(arguments.output) if arguments.output is not None else None
    if output is not None and output.exists():
        raise SettingsError(f"cannot write {output}: the file exists; choose a new file with --output")
    if arguments.intent is not None and not arguments.intent.strip():
        raise SettingsError("invalid intent ''; use a sentence")
    sites = read_sites(arguments.config)
    runs = [load_run(path) for path in arguments.runs]
    policy = RedactionPolicy(arguments.redact)
    with limit_time(SECONDS * len(runs)):
        proposal = propose(runs, sites, intent=arguments.intent, task_id=arguments.id, policy=policy)
    text = sanitize(to_json_bytes(proposal.definition).decode())  # what it escapes are the escapes of JSON
    if output is None:
        print_text(text.rstrip("\n"))
    else:
        write_text(output, text, advice="choose another file with --output")
    lines = [f"check: {note}" for note in proposal.notes]
    lines += [f"ERROR: {problem}" for problem in proposal.problems]
    if not proposal.problems:
        passes = "passes" if len(runs) == 1 else "pass"
        lines.append(f"{pluralize(len(runs), 'golden run')} {passes} under this definition")
    for line in lines:
        sys.stderr.write(f"{sanitize(' '.join(line.split()))}\n")
    return 1 if proposal.problems else 0
