"""Dask clusters of this machine in processes of their own, as an operator would start them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECONDS = 60


class Cluster:
    """A scheduler and its workers, each a process with its children in a group."""

    def __init__(self, directory):
        self.directory, self.workers = directory, []
        self.scheduler_file = directory / "scheduler.json"
        options = "--host=127.0.0.1", "--port=0", "--no-dashboard", "--dashboard-address=127.0.0.1:0"
        options = *options, f"--scheduler-file={self.scheduler_file}", "--idle-timeout=90s"
        self.scheduler = self._start("scheduler", *options)
        self.address = self._wait_for_line(self.scheduler, r"Scheduler at:\s*(tcp://\S+)")

    def start_worker(self, *options, **environment):
        options = "--nthreads=1", "--no-dashboard", "--host=127.0.0.1", "--death-timeout=20", *options
        self.workers.append(self._start("worker", self.address, *options, **environment))
        self._wait_for_line(self.workers[-1], r"Registered to:\s*(tcp://\S+)")
        return self.workers[-1]

    def _start(self, *arguments, **environment):
        log = self.directory / f"{arguments[0]}-{len(self.workers)}.log"
        with log.open("w") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:]],
                env=os.environ | {"PYTHONPATH": str(ROOT), **environment},
                cwd=self.directory,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        process.log = log
        return process

    def _wait_for_line(self, process, pattern):
        until = time.monotonic() + SECONDS
        while time.monotonic() < until and process.poll() is None:
            if match := re.search(pattern, process.log.read_text()):
                return match[1]
            time.sleep(0.05)
        raise AssertionError(process.log.read_text())

    def end(self):
        for process in (*self.workers, self.scheduler):
            kill(process)


def kill(process):
    """Kill a process and all of its children."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def start_cluster(directory, workers=2, *options):
    with ExitStack() as stack:
        cluster = Cluster(directory)
        stack.callback(cluster.end)
        for _ in range(workers):
            cluster.start_worker(*options)
        yield cluster
