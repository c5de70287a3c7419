"""What a command and all of its processes cost, also those that outlive their parents, and one that is killed half-way.

    python -m tests.executors.family_cost LOG [--kill-after LINES --journal FILE] -- COMMAND...

Run it as a process of its own: it adopts all processes that the command leaves behind.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of Linux
LOOK_SECONDS = 0.05
TICKS = os.sysconf("SC_CLK_TCK")
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class FamilyCost:
    """Seconds of wall time, of the processor in all processes and in the first one alone; bytes of the first one.

    `killed` are the processes that were killed, `done` the lines that the journal had by then.
    """

    wall: float
    cpu: float
    session_cpu: float
    session_peak: float
    code: int
    killed: list[str]
    done: int = 0


def measure_family(command, directory, log, kill_after=0, journal=None, variables=None):
    """The cost of a command. With `kill_after`, a worker is killed once the journal has so many lines."""
    options = ["--kill-after", str(kill_after), "--journal", str(journal)] if kill_after else []
    launcher = [sys.executable, "-m", "tests.executors.family_cost", str(log), *options, "--", *map(str, command)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | (variables or {})
    done = subprocess.run(launcher, cwd=directory, env=environment, capture_output=True, text=True, check=True)
    return FamilyCost(**json.loads(done.stdout))


def launch(log, command, kill_after, journal):
    """The same in this process, which must have no other children."""
    ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)
    killed, done = [], 0
    with Path(log).open("wb") as printed:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=printed, stderr=subprocess.STDOUT)
        lines = count_lines(journal)
        while kill_after and not killed and has_not_ended(process.pid):
            time.sleep(LOOK_SECONDS)
            done = next(lines)
            if done >= kill_after:
                killed = kill_worker(process.pid)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        wall = time.perf_counter() - began
        session_cpu = read_own_seconds(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
    with suppress(ChildProcessError):
        while True:
            os.wait()
    total = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = os.waitstatus_to_exitcode(status)
    cpu = total.ru_utime + total.ru_stime
    return FamilyCost(wall, cpu, session_cpu, usage.ru_maxrss * 1024, code, killed, done)


def has_not_ended(process):
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None


def read_own_seconds(process):
    """Processor time of one process without its children. It may have ended, if nobody has waited for it."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def count_lines(path):
    """The number of lines of a growing file, again and again. Reads only what is new."""
    while not path.exists():
        yield 0
    count = 0
    with path.open("rb") as file:
        while True:
            count += file.read().count(b"\n")
            yield count


def kill_worker(session):
    """Kill a process that scores, and the Dask worker that it belongs to, if there is one."""
    import psutil  # the suites of executors alone have it

    family = {process.pid: process for process in psutil.Process(session).children(recursive=True)}
    targets = {pid: process for pid, process in family.items() if is_scorer(process)}
    if not targets:
        return []
    scorer = targets[min(targets)]
    names = []
    for process in [scorer, *(each for each in scorer.parents() if each.pid in family and is_dask_worker(each))]:
        os.kill(process.pid, signal.SIGKILL)
        names.append("worker" if process is not scorer else "scorer")
    return names


def is_scorer(process):
    """A process that a starter has forked."""
    import psutil  # same

    with suppress(psutil.Error):
        return "executors.starter" in " ".join(process.parent().cmdline())
    return False


def is_dask_worker(process):
    return "spawn_main" in " ".join(process.cmdline())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log")
    parser.add_argument("--kill-after", type=int, default=0)
    parser.add_argument("--journal", type=Path)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    print(json.dumps(asdict(launch(options.log, options.command, options.kill_after, options.journal))))
