"""Environments of their own for tools of others: their libraries must not touch ours."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.parity.harness.reference_environment import COMPLETE, INSTALL_SECONDS, NotInstallable, ReferenceEnvironment

NEWEST = 14
VERSION = "import sys; print(*sys.version_info[:2])"


@dataclass(frozen=True)
class Tool:
    """A package with its version, the oldest Python 3 that it runs on, and others that it is used with."""

    requirement: str
    minor: int
    others: tuple[str, ...] = ()

    @property
    def requirements(self) -> tuple[str, ...]:
        """All packages to install."""
        return (self.requirement, *self.others)


TOOLS = {
    "every_eval_ever": Tool("every_eval_ever==0.3.0", 12),
    "inspect": Tool("inspect_ai==0.3.285", 10),
    "harbor": Tool("harbor==0.26.0", 12),
}


@dataclass(frozen=True)
class ToolEnvironment(ReferenceEnvironment):
    """Where a tool lives: a directory of a cache, one for each version of it and of Python."""

    tool: Tool
    base: Path

    @classmethod
    def of(cls, tool: Tool, cache: Path) -> ToolEnvironment:
        """The environment for a tool. Nothing is installed yet. Raises `NotInstallable` without a Python for it."""
        base = find_python(tool.minor)
        wanted = " ".join((*tool.requirements, str(base))).encode()
        return cls(cache / hashlib.sha256(wanted).hexdigest()[:16], tool, base)

    def _install(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)
        run(str(self.base), "-m", "venv", str(self.directory))
        pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input")
        run(str(self.python), *pip, *self.tool.requirements)
        (self.directory / COMPLETE).touch()


def run(*command: str) -> None:
    """Run an installing command. Raises `NotInstallable` with its last line."""
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        lines = str(error.stderr or error.stdout or "no output").strip().splitlines()
        problem = f"{' '.join(command[:4])} failed: {lines[-1] if lines else error}"
        raise NotInstallable(f"{problem}; run once where pip reaches a package index") from error


def find_python(minor: int) -> Path:
    """This interpreter if it is new enough, or else another of this machine. Raises `NotInstallable`."""
    if sys.version_info >= (3, minor):
        return Path(sys.executable)
    for candidate in list_pythons(minor):
        done = subprocess.run([candidate, "-c", VERSION], check=False, capture_output=True, text=True)
        if done.returncode == 0 and int(done.stdout.split()[1]) >= minor:  # shims of pyenv may lead nowhere
            return candidate
    raise NotInstallable(f"no Python 3.{minor} or newer on this machine; install one to check this export")


def list_pythons(minor: int) -> Iterator[Path]:
    """Interpreters of such versions on the path and of pyenv, newest first."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for each in range(NEWEST, minor - 1, -1):
        on_path = shutil.which(f"python3.{each}")
        if on_path:
            yield Path(on_path)
        yield from sorted(root.glob(f"versions/3.{each}.*/bin/python"))
