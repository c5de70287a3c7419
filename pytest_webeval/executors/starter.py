"""A process that loads a job once and forks the workers that run it.

`python -P -c "..."` calls `main`. The job comes through its standard input. Each byte that comes through the socket
`control` brings the sockets of up to 64 more workers. Back come the number and the exit code of each worker that has
ended. When the session ends, even killed, so do all of them.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import socket
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection, wait
from typing import Any, NoReturn

from pytest_webeval.executors.job import encode_reply, load_job

EXIT_REPORT = struct.Struct("!ii")  # the number of a worker, and its exit code: negative for a signal
MAX_SOCKETS = 64  # that one message may bring


def main(handle: int, modules: Iterable[str], name: str) -> None:
    """Load modules and the job of this name, and fork workers until the session closes its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the session is interrupted, and ends the workers
    for module in modules:
        import_module(module)
    load_job(name, sys.stdin.buffer.read())
    gc.freeze()  # nothing of it is garbage, and to search it would copy the shared memory
    with socket.socket(fileno=handle) as control:
        WorkerFamily(control).serve()


class WorkerFamily:
    """The workers that this process has forked."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._numbers: dict[int, int] = {}  # by process
        self._started = 0

    def serve(self) -> None:
        """Fork and report until the session closes its end. Then kill who is left."""
        awake, wake = socket.socketpair()
        wake.settimeout(0)
        signal.signal(signal.SIGTERM, self._end)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)  # a child that ends ends the wait, too
        while True:
            ready = wait([self._control, awake])
            if awake in ready:
                awake.recv(4096)
                self._report_ended()
            if self._control in ready and not self._start_workers():
                self._end()

    def _start_workers(self) -> bool:
        """Fork a worker for each socket of the next message; false if the session has ended."""
        message, handles, *_ = socket.recv_fds(self._control, MAX_SOCKETS, MAX_SOCKETS)
        for handle in handles:
            os.set_inheritable(handle, False)  # noqa: FBT003  (positional only; for programs that the worker runs)
        while handles:
            handle = handles.pop(0)
            process = os.fork()
            if not process:
                self._control.close()
                for other in handles:  # as long as it is open, the end of its worker is not noticed
                    os.close(other)
                work(handle)
            os.close(handle)
            self._numbers[process] = self._started
            self._started += 1
        return bool(message)

    def _report_ended(self) -> None:
        while self._numbers:
            process, status = os.waitpid(-1, os.WNOHANG)
            if not process:
                return
            report = EXIT_REPORT.pack(self._numbers.pop(process), os.waitstatus_to_exitcode(status))
            with suppress(OSError):  # the session has ended
                self._control.sendall(report)

    def _end(self, *_: object) -> NoReturn:
        for process in self._numbers:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        for process in self._numbers:
            with suppress(ChildProcessError):
                os.waitpid(process, 0)
        os._exit(0)


def work(handle: int) -> NoReturn:
    """Be a worker: send its own process id, then a reply to each call until the socket is closed."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    code = 0
    try:
        with Connection(handle) as connection:
            connection.send_bytes(str(os.getpid()).encode())
            while True:
                connection.send_bytes(encode_reply(partial(_call, connection.recv_bytes())))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
    except BaseException:  # noqa: BLE001  (such as a full memory, or an exit)
        sys.excepthook(*sys.exc_info())
        code = 1
    sys.stderr.flush()
    os._exit(code)


def _call(message: bytes) -> Any:
    function, arguments, named = pickle.loads(message)  # noqa: S301  (from a process of the same session)
    return function(*arguments, **named)
