"""Functions that workers run in tests of engines. Workers import this module, so it imports little."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from threading import Lock


def multiply(factor, batch):
    return [factor * item for item in batch]


def name_loss(item, deaths):
    """The result of an item that killed its workers."""
    return item, deaths.message


def echo(shared, batch):
    return batch


def name_length(shared, batch):
    return [len(item) for item in batch]


def drop_last(shared, batch):
    return batch[:-1]


def kill_itself(killer, batch):
    """Multiply, but the process dies at the item `killer`."""
    results = []
    for item in batch:
        if item == killer:
            os.kill(os.getpid(), signal.SIGKILL)
        results.append(2 * item)
    return results


def leave_a_process(path, batch):
    """Die, while a process that was forked lives on."""
    child = os.fork()
    if not child:
        time.sleep(60)
        os._exit(0)
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(f"{child}\n")
    os.kill(os.getpid(), signal.SIGKILL)


def name_process(shared, batch):
    return [os.getpid() for _ in batch]


def leave(code, batch):
    os._exit(code)


def kill_all(shared, batch):
    os.kill(os.getpid(), signal.SIGKILL)


def divide_by(shared, batch):
    return [shared / item for item in batch]


class Uncopyable(Exception):
    """An exception that no library can pickle."""

    def __init__(self, first, second):
        super().__init__(f"{first} {second}")
        self.lock = Lock()


def raise_uncopyable(shared, batch):
    raise Uncopyable("left", "right")


def leave_trace(path, batch):
    """Note each item and the process in a file that all processes append to, slowly."""
    with Path(path).open("a", encoding="utf-8") as file:
        for item in batch:
            time.sleep(0.0005)
            file.write(f"{os.getpid()} {item}\n")
    return [item + 1 for item in batch]


def sleep(seconds, batch):
    time.sleep(seconds)
    return batch


def sleep_and_echo(shared, batch):
    time.sleep(0.01)
    return batch


def work(seconds, batch):
    """Use processor time for each item."""
    for _ in batch:
        until = time.process_time() + seconds
        while time.process_time() < until:
            pass
    return list(batch)


def is_interruptible(shared, batch):
    """Whether this is the main thread, where time limits work."""
    return [threading.current_thread() is threading.main_thread() for _ in batch]


class Counted:
    """Settings that note in a file each process which loads them."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return load_counted, (self.path,)


def load_counted(path):
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(f"{os.getpid()}\n")
    return Counted(path)


def name_version():
    """The identity of this process: that of the environment variable, as if its code differed."""
    return os.environ.get("TEST_IDENTITY", "same")


def list_imported(shared, batch):
    """Files of modules that come from the current directory."""
    here = str(Path.cwd())
    files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
    return [[file for file in files if file.startswith(here)] for _ in batch]


def complain(size, batch):
    """Write so many bytes about each item to the standard error. Gives how many are there by then."""
    for item in batch:
        sys.stderr.write("x" * size + f"\nthe last words on {item}\n")
        sys.stderr.flush()
    return [os.fstat(sys.stderr.fileno()).st_size] * len(batch)
