"""Processor time and memory of engines: `python -m tests.executors.measure_engines [SECONDS_PER_ITEM] [ITEMS]`."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

from pytest_webeval.executors.batches import map_batches
from pytest_webeval.executors.dask_executor import LocalDaskExecutor
from pytest_webeval.executors.processes import ProcessExecutor
from tests.support import batch_functions
from tests.support.batch_functions import name_loss, name_version

ENGINES = {"process": lambda: ProcessExecutor(2), "local": lambda: LocalDaskExecutor(2, name_version)}
SIZES = 10, 100, 300, 1000


def use(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def measure(name, seconds, number, size):
    """Processor time of this process and of all that it has started and that have ended, and the memory of this one."""
    began = time.monotonic()
    results = map_batches(
        ENGINES[name](), batch_functions.work, seconds, iter(range(number)), size=size, lost=name_loss
    )
    assert all(item == result for item, result in enumerate(results))
    usage = use(resource.RUSAGE_SELF), use(resource.RUSAGE_CHILDREN)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"session": usage[0], "workers": usage[1], "wall": time.monotonic() - began, "memory": memory}


def measure_alone(name, seconds, number, size):
    """The same in a process of its own."""
    command = [sys.executable, "-m", "tests.executors.measure_engines", name, str(seconds), str(number), str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=500)
    return json.loads(done.stdout)


def main(seconds=0.001, number=20000):
    print("engine   size  session  workers  total    wall     memory")
    for name in ENGINES:
        for size in SIZES:
            measured = measure_alone(name, seconds, number, size)
            total = measured["session"] + measured["workers"]
            print(
                f"{name:8}{size:5}{measured['session']:8.2f}s{measured['workers']:8.2f}s{total:8.2f}s"
                f"{measured['wall']:8.2f}s{measured['memory']:7.0f} MB",
                flush=True,
            )


if __name__ == "__main__":
    if len(sys.argv) == 5:
        print(json.dumps(measure(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))))
    else:
        main(*(float(argument) if index == 0 else int(argument) for index, argument in enumerate(sys.argv[1:])))
