"""Feeds readers with damaged input until the time is up: `python -m tests.fuzz.run --seconds 600 har response`.

Without names, all targets that need no session of pytest for each input. Prints a line for each; exits with 1 where
one crashed, took longer than it may for one input (5 seconds; a session 60), or more than 512 MiB.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.fuzz.engine.corpus import Corpus
from tests.fuzz.engine.findings import Finding
from tests.fuzz.targets.table import SLOW, TARGETS
from tests.fuzz.targets.target import Target


def asked() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="target", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=float, default=600, help="for each target; default 600")
    parser.add_argument("--inputs", type=int, default=10**9, help="for each target; default as many as time allows")
    parser.add_argument("--seed", type=int, default=0, help="other inputs for another number")
    parser.add_argument("--engine", choices=("own", "atheris"), default="own")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"), help="where inputs are kept")
    parser.add_argument(
        "--reproduce", type=Path, help="read this one input by the one target named, and show what happens"
    )
    options = parser.parse_args()
    if unknown := set(options.targets) - TARGETS.keys():
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    if options.reproduce and len(options.targets) != 1:
        parser.error("--reproduce needs the name of one target")
    return options


def main() -> int:
    """Feed the targets; the exit code."""
    options = asked()
    names = options.targets or [name for name in TARGETS if name not in SLOW]
    if options.reproduce:
        return reproduce(TARGETS[names[0]], options.reproduce)
    return int(any([fuzz(TARGETS[name], options) for name in names]))  # noqa: C419  (all of them)


def fuzz(target: Target, options: argparse.Namespace) -> bool:
    """Whether something was found."""
    corpus = Corpus(target, options.seed)
    if options.engine == "atheris":
        from tests.fuzz.engine.guided import guided  # which needs atheris

        report = guided(corpus, options.inputs, options.seconds)
    else:
        from tests.fuzz.engine.watch import watched

        report = watched(corpus, options.inputs, options.seconds)
    print(report.line, flush=True)
    for finding in report.findings.values():
        tell(finding, options.findings)
    return bool(report.findings)


def tell(finding: Finding, directory: Path) -> None:
    """Keep a finding, and say how to see it again."""
    path = finding.save(directory)
    print(f"  {finding.kind}: {finding.signature}", flush=True)
    print(f"    python -m tests.fuzz.run {finding.target} --reproduce {path}", flush=True)


def reproduce(target: Target, path: Path) -> int:
    """Read one input; what it raises is shown as Python shows it."""
    refusal = target.feed(path.read_bytes())
    print(f"{target.name} refused it: {refusal}" if refusal else f"{target.name} read it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
