"""An executor of processes on this machine, each of which may be killed at any moment."""

from __future__ import annotations

import os
import signal
import socket
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from threading import Lock, Thread
from typing import Any, TypeVar

from msgspec import Struct, field

from pytest_webeval.errors import ExecutorError
from pytest_webeval.executors.job import Job, decode_reply, encode
from pytest_webeval.executors.placement import JobExecutor, WorkerDied
from pytest_webeval.executors.starting import Starter, StartError, describe_exit

T = TypeVar("T")

MAX_UNBLOCKED_BYTES = 2**14  # bytes of a call that fits into a socket, while its worker is busy
MAX_AHEAD = 2  # calls at one worker, so that it need not wait for the next
MAX_STARTS = 50  # in a row without a worker that gets ready


class Call(Struct, eq=False):
    """A function with its arguments, as bytes, and what its reply goes to."""

    message: bytes
    future: Future[Any]

    def settle(self, reply: bytes) -> None:
        """Give the reply to who awaits it."""
        try:
            result = decode_reply(reply)
        except Exception as error:  # noqa: BLE001  (of the function)
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


class ProcessWorker(Struct, eq=False):
    """A process with the calls that it has not answered, the oldest first. `process` is 0 until it is ready."""

    starter: Starter
    number: int
    connection: Connection
    process: int = 0
    calls: deque[Call] = field(default_factory=deque)

    @property
    def has_ended(self) -> bool:
        """Whether the process is known to have ended. What it sent before may not be read yet."""
        return self.starter.has_seen_end(self.number)

    def can_take(self, call: Call) -> bool:
        """Whether a call can be sent without waiting for the process."""
        if not self.process:
            return False
        return not self.calls or (len(self.calls) < MAX_AHEAD and len(call.message) <= MAX_UNBLOCKED_BYTES)

    def kill(self) -> None:
        """Kill the process. It is alive as long as its socket is open."""
        if self.process and not self.connection.closed and not self.connection.poll():
            with suppress(ProcessLookupError):
                os.kill(self.process, signal.SIGKILL)


class ProcessExecutor(JobExecutor):
    """So many processes, which share what the modules `preloaded` and the job load.

    One that dies is replaced, and its first call gets the blame. `shortage` says why there are fewer of them than
    `count`, once none could be started for one that died. A thread sends the calls and takes the replies.
    """

    def __init__(self, count: int, preloaded: tuple[str, ...] = ()) -> None:
        self.count, self.preloaded = count, preloaded
        self.shortage: StartError | None = None
        self._failure: Exception | None = None  # why there is no process any more
        self._starters: list[Starter] = []
        self._workers: list[ProcessWorker] = []
        self._waiting: deque[Call] = deque()
        self._starts = 0  # since a worker was ready
        self._problem = ""  # of the last start
        self._is_ending = False
        self._thread: Thread | None = None
        self._lock = Lock()  # of the calls that wait, and the failure

    def load(self, job: Job) -> None:
        """Start the processes, which load the job meanwhile. Raises `StartError` if there is none."""
        self._job, self._is_ending, self._failure = job, False, None
        self._fill_up(None)
        self._awake, self._wake = socket.socketpair()
        self._wake.setblocking(False)  # noqa: FBT003  (positional only)
        self._thread = Thread(target=self._serve, name="webeval-processes", daemon=True)
        self._thread.start()

    def count_workers(self) -> int:
        """The number of processes."""
        return self.count

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Queue a call for the next worker that has room. Raises `StartError` if there is none any more."""
        call = Call(encode((fn, args, kwargs)), Future())
        with self._lock:
            if self._failure is not None:
                raise self._failure
            self._waiting.append(call)
        if any(worker.can_take(call) for worker in self._workers):  # or else the thread looks when one has room
            self._rouse()
        return call.future

    def _rouse(self) -> None:
        """Let the thread look for what is new."""
        with suppress(BlockingIOError):  # it has enough to look at
            self._wake.send(b"!")

    def _serve(self) -> None:
        """Send calls and take replies until there is no process any more."""
        try:
            while not self._is_ending:
                self._dispatch()
                for worker in self._await_workers():  # all: one that is quick must not keep others from getting work
                    self._receive(worker)
        except Exception as error:  # noqa: BLE001  (whoever awaits a reply must hear of it)
            with self._lock:
                self._failure = error
            for call in self._take_calls():
                call.future.set_exception(error)

    def _take_calls(self) -> list[Call]:
        """The calls that nobody will answer."""
        calls = [*self._waiting, *(call for worker in self._workers for call in worker.calls)]
        self._waiting.clear()
        for worker in self._workers:
            worker.calls.clear()
        return [call for call in calls if call.future.running() or call.future.set_running_or_notify_cancel()]

    def _dispatch(self) -> None:
        while self._waiting:
            free = [worker for worker in self._workers if worker.can_take(self._waiting[0])]
            if not free:
                return
            call = self._waiting.popleft()
            if not call.future.running() and not call.future.set_running_or_notify_cancel():
                continue
            worker = min(free, key=lambda each: len(each.calls))
            worker.calls.append(call)
            with suppress(OSError):  # it has died, which is noticed when its reply is awaited
                worker.connection.send_bytes(call.message)

    def _await_workers(self) -> list[ProcessWorker]:
        """The next workers that have replied or ended; none as soon as somebody wakes the thread.

        The socket of one that has ended stays open as long as a process that it has forked holds it: an evaluator may
        leave one.
        """
        while True:
            workers = {worker.connection: worker for worker in self._workers}
            starters = {starter.control: starter for starter in self._starters if starter.is_alive}
            ready = wait([self._awake, *workers, *starters])
            if is_awake := self._awake in ready:
                self._awake.recv(4096)
            if replied := [workers[source] for source in ready if isinstance(source, Connection)]:
                return replied
            for starter in (starters[source] for source in ready if source in starters):
                starter.receive_exit_code()
            ended = [worker for worker in self._workers if worker.has_ended]
            if ended or is_awake:
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
            worker.calls.popleft().settle(message)
        else:
            worker.process = int(message)
            self._starts = 0

    def _replace(self, dead: ProcessWorker) -> None:
        """Start another worker for one that has died, and note the loss of the call that it ran."""
        if self._is_ending:
            return
        code = dead.starter.exit_code(dead.number)
        dead.connection.close()
        self._workers.remove(dead)
        calls = dead.calls
        lost = calls.popleft() if calls else None
        self._waiting.extendleft(reversed(calls))
        if not dead.process:
            self._problem = describe_exit(code)
        try:
            self._fill_up(None if dead.process else dead.starter)
        finally:  # who hears of the loss knows of the shortage
            if lost is not None:
                lost.future.set_exception(WorkerDied(describe_exit(code), exit_code=code, is_exact=True))

    def _fill_up(self, failed: Starter | None) -> None:
        """Start what is missing; raise `StartError` if there is nothing then.

        A worker of `failed` ended before it was ready.
        """
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
                self._starters.append(Starter(self.preloaded, self._job))
            starter = self._starters[-1]
            self._workers += [ProcessWorker(starter, number, ours) for number, ours in starter.fork(count)]
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

    @property
    def last_words(self) -> str:
        """The last line that processes wrote about their own failure; empty without one."""
        return self._starters[-1].last_words if self._starters else ""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:  # noqa: ARG002, FBT001, FBT002
        """Kill all processes at once, whatever they do."""
        self._is_ending = True
        with self._lock:
            self._failure = ExecutorError("the processes were ended; start another executor")
        if self._thread is not None:
            self._rouse()
            for starter in self._starters:
                starter.terminate()
            self._thread.join()
            self._thread = None
            self._awake.close()
            self._wake.close()
        for worker in self._workers:
            worker.kill()
            worker.connection.close()
        for starter in self._starters:
            starter.end()
        for call in self._take_calls():
            call.future.set_exception(self._failure)
        self._workers.clear()
        self._starters.clear()
