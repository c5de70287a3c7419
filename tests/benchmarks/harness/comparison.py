"""The command `sessions.py`: options, what they choose, and the table in the end."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from tests.benchmarks.harness.contestants import Contestant
from tests.benchmarks.harness.environments import Environments
from tests.benchmarks.harness.figures import AtMost, figures, table
from tests.benchmarks.harness.line_up import Sizes, line_up
from tests.benchmarks.harness.rounds import measured_in_turns


def main(arguments: Sequence[str] | None = None, about: str = "") -> None:
    """Measure what is asked for and print the table."""
    options = _options(arguments, about)
    chosen = chosen_figures(figures(Sizes()), options.only)
    with _scratch(options.scratch) as scratch:
        known = line_up(Environments.made(scratch / "environments"), Sizes(), scratch)
        costs = measured_in_turns(named_by(chosen, known), options.rounds)
    if options.json:
        told = {name: [asdict(cost) for cost in found] for name, found in costs.items()}
        options.json.write_text(json.dumps(told, indent=2) + "\n")
    print(table(chosen, costs))


def chosen_figures(known: Sequence[AtMost], names: Sequence[str]) -> list[AtMost]:
    """Those of that name, all where none is named. Raises `SystemExit` for a name that none has."""
    found = [figure.name for figure in known]
    if unknown := [name for name in names if name not in found]:
        raise SystemExit(f"no figure is called {', '.join(unknown)}; there are {', '.join(found)}")
    return [figure for figure in known if not names or figure.name in names]


def named_by(chosen: Sequence[AtMost], known: Mapping[str, Contestant]) -> dict[str, Contestant]:
    """The contestants whose costs the figures compare, each once."""
    return {name: known[name] for figure in chosen for name in figure.contestants}


@contextmanager
def _scratch(kept: Path | None) -> Iterator[Path]:
    """Room for five gigabytes of recordings and results."""
    if kept:
        yield kept.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="webeval-benchmarks-") as made:
        yield Path(made)


def _options(arguments: Sequence[str] | None, about: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ", ".join(figure.name for figure in figures(Sizes()))
    parser.add_argument("--rounds", type=int, default=5, help="how often everybody has a turn (default: 5)")
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME", help=f"figures to find out: {names}")
    parser.add_argument("--scratch", type=Path, metavar="DIR", help="keep recordings and the reference there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write each single cost there")
    return parser.parse_args(arguments)
