"""The virtual environments that a measurement compares, made afresh but for the reference's."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.parity.harness.reference_environment import ReferenceEnvironment

PROJECT = Path(__file__).parents[3]


@dataclass(frozen=True, slots=True)
class Environments:
    """Interpreters: with the plugin, without it but otherwise the same, and the reference's."""

    plugin: Path
    bare: Path
    reference: Path

    @classmethod
    def made(cls, directory: Path) -> Environments:
        """New ones in a directory; the reference's, whose packages are pinned, is kept there for the next time."""
        plugin, bare = install(directory / "plugin"), install(directory / "bare")
        _run(bare, "-m", "pip", "uninstall", "--quiet", "--yes", "pytest-webeval")
        return cls(plugin, bare, ReferenceEnvironment.within(directory / "reference").installed())


def install(directory: Path, *packages: str) -> Path:
    """A new environment as a user would make it: not editable, with some extras, and these packages.

    The shop of the example suite, through which recorded walks lead, needs Flask. Buckets are read with obstore, as the
    manual advises for many small files.
    """
    _run(Path(sys.executable), "-m", "venv", "--clear", str(directory))
    python = directory / "bin" / "python"
    named = (f"{PROJECT}[xdist,html,record,remote]", "obstore>=0.8", "flask>=3.1", *packages)
    _run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *named)
    return python


def _run(*command: object) -> None:
    done = subprocess.run([str(part) for part in command], check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stderr or done.stdout}")
