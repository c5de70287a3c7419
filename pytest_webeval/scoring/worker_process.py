"""Starts and ends the processes of a worker pool."""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from contextlib import ExitStack
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.connection import Pipe
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from msgspec import Struct
from msgspec import field

from pytest_webeval.safety.text import sanitize
from pytest_webeval.safety.text import truncate
from pytest_webeval.scoring.worker import WorkerSettings

# -P: what lies in the current directory, which may be a run, is not imported.
PROGRAM = "import sys; sys.path[:] = {path!r}; from pytest_webeval.scoring.worker import main; main(*{handles})"
SHUTDOWN_SECONDS = 5  # for processes to end
LONGEST_REASON = 200  # characters


class Starter(Struct, eq=False):
    """A process that forks workers. It knows how they ended, since they are its children."""

    process: subprocess.Popen[bytes]
    control: Connection
    errors: IO[bytes]  # what it and its workers write about their own failure
    _exit_codes: dict[int, int] = field(default_factory=dict)

    def exit_code(self, number: int) -> int | None:
        """The exit code of a worker that has ended, or else that of its starter; negative for a signal."""
        with suppress(EOFError, OSError):
            while number not in self._exit_codes and self.control.poll(SHUTDOWN_SECONDS):
                ended, code = self.control.recv()
                self._exit_codes[ended] = code
        if number not in self._exit_codes:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(SHUTDOWN_SECONDS)
        return self._exit_codes.get(number, self.process.returncode)

    @property
    def last_words(self) -> str:
        """The last line that it or a worker wrote before it ended by itself, after a colon; empty without one."""
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").split("\n")
        line = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f": {sanitize(truncate(line, LONGEST_REASON))}" if line else ""

    def end(self) -> None:
        """End the process and its workers."""
        self.process.terminate()
        try:
            self.process.wait(SHUTDOWN_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()  # its workers end when they have nothing to read
            self.process.wait()
        self.control.close()
        self.errors.close()


class Worker(Struct, eq=False):
    """A process with the requests that it has not answered, the oldest first. `number` is that among its siblings."""

    starter: Starter
    number: int
    connection: Connection
    requests: deque[tuple[Path, bytes]] = field(default_factory=deque)

    @property
    def exit_code(self) -> int | None:
        """How the process ended; negative for a signal, such as where a run takes too much memory."""
        return self.starter.exit_code(self.number)


def start_workers(count: int, settings: WorkerSettings) -> list[Worker]:
    """Start `count` worker processes. Raises `OSError` if there is no process or no file left for them."""
    control, *pairs = [Pipe() for _ in range(count + 1)]
    handles = [theirs.fileno() for _, theirs in (control, *pairs)]
    path = [entry for entry in sys.path if isinstance(entry, str) and entry]  # Python ignores others as well
    program = PROGRAM.format(path=path, handles=handles)
    with ExitStack() as unstarted:  # what nobody else closes if there is no process
        errors = unstarted.enter_context(TemporaryFile())
        process = subprocess.Popen(  # noqa: S603  (our own program)
            [sys.executable, "-P", "-c", program],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            pass_fds=handles,
        )
        unstarted.pop_all()
    for _, theirs in (control, *pairs):
        theirs.close()
    starter = Starter(process, control[0], errors)
    workers = [Worker(starter, number, ours) for number, (ours, _) in enumerate(pairs)]
    for worker in workers:
        with suppress(OSError):  # it has died, which is noticed when its answer is awaited
            worker.connection.send(settings)
    return workers
