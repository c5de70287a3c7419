"""An environment of its own for webarena-verified: its pins decide verdicts and must not touch ours."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
COMPLETE = "complete"
INSTALL_SECONDS = 900


class NotInstallable(Exception):
    """The environment cannot be made here; the message says why and what to do."""


@dataclass(frozen=True)
class ReferenceEnvironment:
    """Where the reference lives: a directory of a cache, one for each content of requirements.txt."""

    directory: Path

    @classmethod
    def within(cls, cache: Path) -> ReferenceEnvironment:
        """The environment for today's requirements and this Python. Nothing is installed yet."""
        wanted = REQUIREMENTS.read_bytes() + sys.version.encode()
        return cls(cache / hashlib.sha256(wanted).hexdigest()[:16])

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.directory / "bin" / "python"

    def installed(self) -> Path:
        """The interpreter of the finished environment, made on first use. Raises `NotInstallable`."""
        self.directory.parent.mkdir(parents=True, exist_ok=True)
        with _locked(self.directory.with_suffix(".lock")):
            # Written last: an install that was cut short lacks it and is done again.
            if not (self.directory / COMPLETE).exists():
                self._install()
        return self.python

    def _install(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)
        _run(sys.executable, "-m", "venv", str(self.directory))
        # --no-deps: every package is listed and pinned, so nothing is left to choose.
        pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps")
        _run(str(self.python), *pip, "--requirement", str(REQUIREMENTS))
        (self.directory / COMPLETE).touch()


def _run(*command: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        told = str(error.stderr or error.stdout or "no output").strip().splitlines()
        raise NotInstallable(
            f"cannot install webarena-verified: {' '.join(command[:4])} failed: {told[-1] if told else error}; "
            f"run once where pip reaches a package index, or install {REQUIREMENTS.name} from a wheel directory "
            "(PIP_FIND_LINKS)"
        ) from error


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock file, so that of several test processes one installs and the others wait."""
    with path.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
