"""The engine of processes on this machine, each of which may be killed at any moment."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, Pipe, wait
from tempfile import TemporaryFile
from typing import IO, cast

from msgspec import Struct, field

from pytest_webeval.errors import ExecutorError
from pytest_webeval.executors.engine import LONGEST_REASON, Loss, Workers
from pytest_webeval.executors.job import Job
from pytest_webeval.executors.starter import EXIT_REPORT, MAX_SOCKETS
from pytest_webeval.safety.text import to_line

# -P: nothing is imported from the current directory, which may be a run.
PROGRAM = (
    "import sys; sys.path[:] = {path!r}; from pytest_webeval.executors.starter import main; main({handle}, {modules})"
)
SHUTDOWN_SECONDS = 5  # for processes to end
MAX_UNBLOCKED_BYTES = 2**14  # bytes of a batch that fits into a socket, while its worker is busy
MAX_AHEAD = 2  # batches at one worker, so that it need not wait for the next
MAX_STARTS = 50  # in a row without a worker that gets ready
LAST_BYTES = 4096  # of what processes wrote about their own failure
MOST_ERROR_BYTES = 2**20  # that are in a file until only the last are kept: a library may warn of each run


class ProcessEngine(Struct, frozen=True):
    """So many processes. They share what the modules `preloaded` load."""

    count: int
    preloaded: tuple[str, ...] = ()
    is_local: bool = True

    @contextmanager
    def start(self, job: Job) -> Iterator[Workers]:
        """The processes, which are killed at the end of the block."""
        pool = ProcessPool(self.count, self.preloaded, job.encode())
        try:
            pool.start()
            yield pool
        finally:
            pool.close()


class StartError(ExecutorError):
    """No process can be started. `reason` is what the system or the process said, if it said something.

    `exit_code` is that of a process which could not even load the job, or else None.
    """

    def __init__(self, reason: str, exit_code: int | None = None) -> None:
        """With a message for people."""
        text = reason or describe_exit(exit_code)
        super().__init__(f"cannot start worker processes ({text}); check the installation, or use fewer")
        self.reason, self.exit_code = reason, exit_code


class Starter:
    """The process that forks workers. It knows how they ended, since they are its children."""

    def __init__(self, modules: tuple[str, ...], job: bytes) -> None:
        """Start the process. Raises `OSError`."""
        self.control, theirs = socket.socketpair()
        self.control.settimeout(SHUTDOWN_SECONDS)
        self._errors: IO[bytes] = TemporaryFile()  # noqa: SIM115  (it is open as long as the process)
        self._exit_codes: dict[int, int] = {}
        self._started = 0
        self.is_alive = True  # as far as anybody has noticed
        path = [entry for entry in sys.path if isinstance(entry, str) and entry]
        program = PROGRAM.format(path=path, handle=theirs.fileno(), modules=modules)
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
        with suppress(BrokenPipeError):  # it has ended, which is noticed when it shall fork
            self._send(job)

    def _send(self, job: bytes) -> None:
        stream = cast("IO[bytes]", self._process.stdin)
        with stream:
            stream.write(job)

    @property
    def failure(self) -> int | None:
        """The exit code if it ended by itself: the next one would, too."""
        code = self._process.returncode
        return code if code is not None and code > 0 else None

    def fork(self, count: int) -> list[ProcessWorker]:
        """So many more workers, or as many as one message can order. Raises `OSError` if the process has ended.

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
        return [ProcessWorker(self, number, ours) for number, (ours, _) in enumerate(pairs, first)]

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

    def end(self) -> None:
        """Kill the workers, and end the process."""
        self._process.terminate()
        try:
            self._process.wait(SHUTDOWN_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._close_files()

    def _close_files(self) -> None:
        self.control.close()
        self._errors.close()


class ProcessWorker(Struct, eq=False):
    """A process with the batches that it has not answered, the oldest first. `process` is 0 until it is ready."""

    starter: Starter
    number: int
    connection: Connection
    process: int = 0
    batches: deque[tuple[int, bytes]] = field(default_factory=deque)

    @property
    def has_ended(self) -> bool:
        """Whether the process is known to have ended. What it sent before may not be read yet."""
        return self.starter.has_seen_end(self.number)

    def can_take(self, batch: bytes) -> bool:
        """Whether to send it a batch blocks nobody: a long one waits until the worker reads."""
        if not self.process:
            return False
        return not self.batches or (len(self.batches) < MAX_AHEAD and len(batch) <= MAX_UNBLOCKED_BYTES)

    def kill(self) -> None:
        """Kill the process. It is alive as long as its socket is open."""
        if self.process and not self.connection.closed and not self.connection.poll():
            with suppress(ProcessLookupError):
                os.kill(self.process, signal.SIGKILL)


class ProcessPool(Struct, eq=False):
    """Processes that run batches. One that dies is replaced, and its first batch gets the blame.

    `shortage` says why there are fewer of them than `count`, once none could be started for one that died.
    """

    count: int
    modules: tuple[str, ...]
    job: bytes
    shortage: StartError | None = None
    _starters: list[Starter] = field(default_factory=list)
    _workers: list[ProcessWorker] = field(default_factory=list)
    _queue: deque[tuple[int, bytes]] = field(default_factory=deque)
    _replies: deque[tuple[int, bytes | Loss]] = field(default_factory=deque)
    _starts: int = 0  # since a worker was ready
    _problem: str = ""  # of the last start

    def start(self) -> None:
        """Start the processes that are missing, which load the job meanwhile. Raises `StartError` if there is none."""
        self._fill_up(None)

    def _fill_up(self, failed: Starter | None) -> None:
        """Start what is missing. A worker of `failed` ended before it was ready."""
        try:
            if failed is not None and failed is self._starters[-1]:  # the others are replaced already
                self._note_start(failed)
            while missing := self.count - len(self._workers):
                self._start_workers(missing)
        except StartError as error:
            if not self._workers:
                raise
            self.shortage = error

    def _start_workers(self, count: int) -> None:
        try:
            if not self._starters or not self._starters[-1].is_alive:
                self._note_start(self._starters[-1] if self._starters else None)
                self._starters.append(Starter(self.modules, self.job))
            self._workers += self._starters[-1].fork(count)
        except OSError as error:
            self._problem = error.strerror or str(error)
            self._note_start(None)

    def _note_start(self, dead: Starter | None) -> None:
        """Count a start as failed until a worker is ready. Raises `StartError`."""
        self._starts += 1
        if dead is not None and dead.failure is not None:
            raise StartError(dead.last_words, dead.failure)
        if self._starts > MAX_STARTS:
            raise StartError(self._problem)

    def submit(self, number: int, batch: bytes) -> None:
        """Queue a batch for the next worker that has room."""
        self._queue.append((number, batch))
        self._dispatch()

    def _dispatch(self) -> None:
        while self._queue:
            free = [worker for worker in self._workers if worker.can_take(self._queue[0][1])]
            if not free:
                return
            worker = min(free, key=lambda each: len(each.batches))
            worker.batches.append(self._queue.popleft())
            with suppress(OSError):  # it has died, which is noticed when its reply is awaited
                worker.connection.send_bytes(worker.batches[-1][1])

    def take(self) -> tuple[int, bytes | Loss]:
        """Wait for the next reply."""
        while not self._replies:
            for worker in self._await_workers():  # all: one that is quick must not keep others from getting work
                self._receive(worker)
            self._dispatch()
        return self._replies.popleft()

    def _await_workers(self) -> list[ProcessWorker]:
        """The next workers that have replied or ended.

        The socket of one that has ended stays open as long as a process that it has forked holds it: an evaluator may
        leave one.
        """
        while True:
            workers = {worker.connection: worker for worker in self._workers}
            starters = {starter.control: starter for starter in self._starters if starter.is_alive}
            ready = wait([*workers, *starters])
            if replied := [workers[source] for source in ready if isinstance(source, Connection)]:
                return replied
            for starter in map(starters.__getitem__, ready):  # type: ignore[arg-type]
                starter.receive_exit_code()
            if ended := [worker for worker in self._workers if worker.has_ended]:
                return ended

    def _receive(self, worker: ProcessWorker) -> None:
        if worker.has_ended and not worker.connection.poll():
            self._replace(worker)
            return
        try:
            message = worker.connection.recv_bytes()
        except (EOFError, OSError):
            self._replace(worker)
            return
        worker.starter.limit_errors()
        if worker.process:
            number, _ = worker.batches.popleft()
            self._replies.append((number, message))
        else:
            worker.process = int(message)
            self._starts = 0

    def _replace(self, dead: ProcessWorker) -> None:
        """Start another worker for one that has died, and note the loss of the batch that it ran."""
        code = dead.starter.exit_code(dead.number)
        dead.connection.close()
        self._workers.remove(dead)
        if dead.batches:
            number, _ = dead.batches.popleft()
            self._replies.append((number, Loss(describe_exit(code), is_exact=True, exit_code=code)))
            self._queue.extendleft(reversed(dead.batches))
        if not dead.process:
            self._problem = describe_exit(code)
        self._fill_up(None if dead.process else dead.starter)

    @property
    def last_words(self) -> str:
        """The last line that processes wrote about their own failure; empty without one."""
        return self._starters[-1].last_words if self._starters else ""

    def kill(self) -> None:
        """Kill the workers. Who takes the next reply replaces them."""
        for worker in self._workers:
            worker.kill()

    def close(self) -> None:
        """Kill all processes at once."""
        self.kill()
        for worker in self._workers:
            worker.connection.close()
        for starter in self._starters:
            starter.end()
        self._workers.clear()
        self._starters.clear()


def describe_exit(code: int | None) -> str:
    """How a process ended, for people."""
    if code is None:
        return "of an unknown cause"
    return f"signal {-code}" if code < 0 else f"exit code {code}"
