"""The process that forks workers, as the session sees it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from tempfile import TemporaryFile
from typing import IO, Any, cast

from pytest_webeval.errors import ExecutorError
from pytest_webeval.executors.job import Job
from pytest_webeval.executors.placement import LONGEST_REASON
from pytest_webeval.executors.starter import EXIT_REPORT, MAX_SOCKETS
from pytest_webeval.safety.text import to_line

# -P: nothing is imported from the current directory, which may be a run.
PROGRAM = (
    "import sys; sys.path[:] = {path!r}; from pytest_webeval.executors.starter import main; "
    "main({handle}, {modules}, {name!r})"
)
SHUTDOWN_SECONDS = 5  # for processes to end
LAST_BYTES = 4096  # of what processes wrote about their own failure
MOST_ERROR_BYTES = 2**20  # that are in a file until only the last are kept: a library may warn of each run


class StartError(ExecutorError):
    """No process can be started. `reason` is what the system or the process said, if it said something.

    `exit_code` is that of a process which could not even load the job, or else None.
    """

    def __init__(self, reason: str, exit_code: int | None = None) -> None:
        """With a message for people."""
        text = reason or describe_exit(exit_code)
        super().__init__(f"cannot start worker processes ({text}); check the installation, or use fewer")
        self.reason, self.exit_code = reason, exit_code

    def __reduce__(self) -> tuple[Any, ...]:
        return StartError, (self.reason, self.exit_code)


class Starter:
    """The process that forks workers. It knows how they ended, since they are its children."""

    def __init__(self, modules: tuple[str, ...], job: Job) -> None:
        """Start the process. Raises `OSError`."""
        self.control, theirs = socket.socketpair()
        self.control.settimeout(SHUTDOWN_SECONDS)
        self._errors: IO[bytes] = TemporaryFile()  # noqa: SIM115  (it is open as long as the process)
        self._exit_codes: dict[int, int] = {}
        self._started = 0
        self.is_alive = True  # as far as anybody has noticed
        path = [entry for entry in sys.path if isinstance(entry, str) and entry]
        program = PROGRAM.format(path=path, handle=theirs.fileno(), modules=modules, name=job.name)
        try:
            self._process = subprocess.Popen(  # noqa: S603  (our own program)
                [sys.executable, "-P", "-c", program],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                pass_fds=[theirs.fileno()],
            )
        except OSError:
            self._close_files()
            raise
        finally:
            theirs.close()
        with suppress(BrokenPipeError), cast("IO[bytes]", self._process.stdin) as stream:
            stream.write(job.content)  # if it has ended, that is noticed when it shall fork

    @property
    def failure(self) -> int | None:
        """The exit code if it ended by itself: the next one would, too."""
        code = self._process.returncode
        return code if code is not None and code > 0 else None

    def fork(self, count: int) -> list[tuple[int, Connection]]:
        """The numbers and connections of so many more workers, or of as many as one message can order.

        Raises `OSError` if the process has ended.
        One message for each worker would fill the socket while the process still loads the job.
        """
        pairs = [Pipe() for _ in range(min(count, MAX_SOCKETS))]
        try:
            socket.send_fds(self.control, [b"+"], [theirs.fileno() for _, theirs in pairs])
        except OSError:
            self._notice_end()
            raise
        finally:
            for _, theirs in pairs:
                theirs.close()
        first, self._started = self._started, self._started + len(pairs)
        return [(number, ours) for number, (ours, _) in enumerate(pairs, first)]

    def exit_code(self, number: int) -> int | None:
        """The exit code of a worker that has ended, negative for a signal; None if nobody knows."""
        with suppress(TimeoutError):
            while self.is_alive and number not in self._exit_codes:
                self.receive_exit_code()
        return self._exit_codes.pop(number, None)

    def has_seen_end(self, number: int) -> bool:
        """Whether the exit code of a worker has come."""
        return number in self._exit_codes

    def receive_exit_code(self) -> None:
        """Wait for the exit code of any worker, or for the end of the process."""
        try:
            report = self.control.recv(EXIT_REPORT.size, socket.MSG_WAITALL)
        except ConnectionResetError:  # it was killed before it had read everything
            report = b""
        if len(report) < EXIT_REPORT.size:
            self._notice_end()
        else:
            ended, code = EXIT_REPORT.unpack(report)
            self._exit_codes[ended] = code

    def _notice_end(self) -> None:
        """It has closed its end, so it has ended or does in a moment."""
        self.is_alive = False
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(SHUTDOWN_SECONDS)

    @property
    def last_words(self) -> str:
        """The last line that it or a worker wrote about its own failure; empty without one."""
        lines = [line for line in self._read_last_errors().decode(errors="replace").splitlines() if line.strip()]
        return to_line(lines[-1], LONGEST_REASON) if lines else ""

    def _read_last_errors(self) -> bytes:
        handle = self._errors.fileno()
        return os.pread(handle, LAST_BYTES, max(os.fstat(handle).st_size - LAST_BYTES, 0))

    def limit_errors(self) -> None:
        """Let what the processes wrote to the standard error not fill the disk: keep its end."""
        handle = self._errors.fileno()
        if os.fstat(handle).st_size > MOST_ERROR_BYTES:
            last = self._read_last_errors()
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)  # of all who write to it
            os.write(handle, last)

    def terminate(self) -> None:
        """Let the process kill its workers, and end."""
        self._process.terminate()

    def end(self) -> None:
        """Kill the workers, and end the process."""
        self.terminate()
        try:
            self._process.wait(SHUTDOWN_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._close_files()

    def _close_files(self) -> None:
        self.control.close()
        self._errors.close()


def describe_exit(code: int | None) -> str:
    """How a process ended, for people."""
    if code is None:
        return "of an unknown cause"
    return f"signal {-code}" if code < 0 else f"exit code {code}"
