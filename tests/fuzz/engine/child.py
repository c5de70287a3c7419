"""The child process: it feeds a target, and tells what it does before it does it."""

from __future__ import annotations

import faulthandler
import random
import resource
import signal
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection

from tests.fuzz.engine.corpus import Corpus
from tests.fuzz.engine.findings import Finding, of_crash
from tests.fuzz.engine.progress import Progress
from tests.fuzz.targets.definition import memory

ADDRESSES = 8 * 2**30  # bytes of address space: beyond the limit for memory, so that the parent sees who was hungry


@dataclass(frozen=True, slots=True)
class Work:
    """The inputs that a child reads: from a number on, as many as there are before the time is up."""

    corpus: Corpus
    first: int
    count: int
    seconds: float
    memory: int


def peak_memory() -> int:
    """Bytes that this process, or a child of its own, had at most."""
    own, others = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return max(own, others) * 1024


def work(task: Work, progress: Progress, told: Connection, stacks: int) -> None:
    """Read all inputs. What each target finds goes through the connection; the last message is the peak of memory."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    faulthandler.enable(stacks)
    faulthandler.register(signal.SIGUSR1, stacks, all_threads=False)
    random.seed(0)
    warnings.simplefilter("ignore")  # as where tasks are scored
    memory.cache_clear()  # that of the parent is not ours
    began, known = time.monotonic(), set()
    for number in range(task.first, task.count):
        if time.monotonic() - began > task.seconds:
            break
        for found in _feed(task, number, progress):
            if found.signature not in known:
                known.add(found.signature)
                told.send(found)
    told.send(peak_memory())


def _feed(task: Work, number: int, progress: Progress) -> Iterator[Finding]:
    target, content = task.corpus.target, task.corpus.numbered(number)
    began = time.monotonic()
    progress.begin(number, began, content)
    try:
        target.feed(content)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (whatever it is, it is what is sought)
        yield of_crash(target.name, error, content)
    progress.end(number, time.monotonic() - began)
    if peak_memory() > task.memory:  # for a moment, between two looks of the parent
        yield Finding(target.name, "memory", "memory", f"at most {peak_memory():,} bytes", content)
