"""How much memory a run needs that is as large as the limits allow: `python -m tests.benchmarks.peak_memory`.

Each row of the table in `docs/reference/limits.md` is one of these runs. With a share as argument, such as 0.1, limits
and runs are so much smaller.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from pytest_webeval.safety.limits import USUAL, Limits
from tests.support import recorded
from tests.support.runs import HOME, Runs, navigation, visited

ROOT = Path(__file__).parents[2]
MEBIBYTE = 2**20
PROGRAM = """
import json, sys
from pathlib import Path
from pytest_webeval import Limits, score_runs
for result in score_runs("runs", output="out", limits=Limits(**json.loads(sys.argv[1])), timeout=0):
    print(result.status, (result.error_msg or "")[:120], file=sys.stderr)
print(int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024)
"""
SCALED = ("file_size", "answer_size", "entries", "values", "string_length", "archive_members", "body_size")
POSTED = visited("__SHOPPING__/form")
POSTED["expected"] |= {"http_method": "POST", "post_data": {"items": "another text"}}
WIDE = "\N{GRINNING FACE}"  # in a text with it, Python keeps each character in four bytes
TEXT = "lorem ipsum dolor sit amet consectetur adipisici elit. "


def scale(share: float) -> Limits:
    """The usual limits, of which those that bound memory are smaller."""
    values = asdict(USUAL)
    return Limits(**values | {name: int(values[name] * share) for name in SCALED})


def write_nothing(path: Path, limits: Limits) -> None:
    """Leave an ordinary run as it is."""


def write_har(path: Path, limits: Limits) -> None:
    """A HAR of large texts that reaches `file_size`."""
    _write_entries(path / "network.har", limits.file_size, 2**20)


def write_entries(path: Path, limits: Limits) -> None:
    """A HAR with as many ordinary entries as `entries` allows."""
    entry = json.dumps(navigation())
    (path / "network.har").write_text(f'{{"log": {{"entries": [{",".join([entry] * limits.entries)}]}}}}')


def write_trace(path: Path, limits: Limits) -> None:
    """A trace whose log, unpacked, reaches `file_size` and is far smaller in its archive."""
    (path / "network.har").unlink()
    archive = zipfile.ZipFile(path / "trace.zip", "w", zipfile.ZIP_DEFLATED)
    with archive, archive.open("trace.network", "w") as file:
        for line in _list_lines(limits.file_size - 2**20, 2**20):
            file.write(line)


def write_members(path: Path, limits: Limits) -> None:
    """A trace with as many members as `archive_members` allows."""
    (path / "network.har").unlink()
    with zipfile.ZipFile(path / "trace.zip", "w") as archive:
        archive.writestr("trace.network", b"".join(_list_lines(2**12, 2**10)))
        for number in range(limits.archive_members - 1):
            archive.writestr(f"resources/{number:040d}.html", b"")


def write_answer(path: Path, limits: Limits) -> None:
    """An answer of `answer_size` with as many items as `values` allows."""
    response = json.loads((path / "agent_response.json").read_text())
    count = min(limits.answer_size // 3, limits.values // 2) - 100
    text = json.dumps(response | {"retrieved_data": "ITEMS"}).replace('"ITEMS"', f"[{','.join(['[]'] * count)}]")
    (path / "agent_response.json").write_text(text)


def write_body(path: Path, limits: Limits) -> None:
    """A HAR with a body of `body_size` that an expectation compares."""
    items = _encode([f"{TEXT}{WIDE}"] * (limits.body_size // (len(TEXT) + 8) - 1))
    entry = navigation(f"{HOME}form", "POST", 302)
    entry["request"]["postData"] = {"mimeType": "application/json", "text": f'{{"items": {items}}}'}
    (path / "network.har").write_text(_encode({"log": {"entries": [entry]}}))


def write_log(path: Path, limits: Limits) -> None:
    """A trajectory with a log of 64 MiB, the most that is read of one of its files."""
    line = (path / "web_surfer.log").read_text().splitlines()[0][:-1] + f', "wide": "{WIDE}"}}'
    (path / "web_surfer.log").write_text(f"{line}\n" * (_largest(limits) // (len(line.encode()) + 1)))


def write_values(path: Path, limits: Limits) -> None:
    """A trajectory with a JSON file of as many values as `values` allows, or of 64 MiB."""
    for name in ("agent_response.json", "network.har"):
        (path / name).unlink()
    fields = {"task_id": "7", "task": "t", "final_result_response": "lamp", "action_history": []}
    _add_items(path / "result.json", fields, min(_largest(limits) // 3, limits.values // 2))
    (path / "trajectory").mkdir()
    (path / "trajectory/0_full_screenshot.png").write_bytes(b"\x89PNG\r\n\x1a\n")


def write_verdict(path: Path, limits: Limits) -> None:
    """A trajectory with a score file of as many values, as a list of 64 MiB is not read."""
    score = next((path / "scores").glob("*.json"))
    _add_items(score, json.loads(score.read_text()), min(_largest(limits) // 3, limits.values // 2))


def write_line(path: Path, limits: Limits) -> None:
    """A trajectory with a log of one line of as many values."""
    line = json.loads((path / "web_surfer.log").read_text().splitlines()[0])
    _add_items(path / "web_surfer.log", line, min(_largest(limits) // 3, limits.values // 2))


def write_refused(path: Path, limits: Limits) -> None:
    """The same of 64 MiB, which is not read."""
    _add_items(path / "web_surfer.log", {}, _largest(limits) // 3)


def _add_items(path: Path, fields: dict[str, object], count: int) -> None:
    items = f"[{','.join(['[]'] * (count - 100))}]"
    path.write_text(json.dumps(fields | {"other": "ITEMS"}).replace('"ITEMS"', items))


def _largest(limits: Limits) -> int:
    """Bytes that are read of one file of a trajectory."""
    return min(64 * MEBIBYTE, limits.file_size // 8)


def write_hole(path: Path, limits: Limits) -> None:
    """A HAR of `file_size`, nearly all of which is a hole."""
    beginning, end = json.dumps({"log": {"entries": [navigation()]}})[:-2].encode(), b'"}}'
    with (path / "network.har").open("wb") as file:
        file.write(beginning + b', "comment": "')
        file.seek(limits.file_size - len(end))
        file.write(end)


Write = Callable[[Path, Limits], None]
CASES: dict[str, tuple[str, Write]] = {
    "no limit": ("an ordinary run", write_nothing),
    "`file_size`": ("a HAR of that size", write_har),
    "`file_size`, packed": ("a `trace.zip` whose log unpacks to that size", write_trace),
    "`file_size`, sparse": ("a HAR of that size with a hole of more than 16 MiB, which is not read", write_hole),
    "`entries`": ("a HAR with so many ordinary entries", write_entries),
    "`archive_members`": ("a `trace.zip` with so many members", write_members),
    "`answer_size`, `values`": ("an answer with the smallest values", write_answer),
    "`body_size`": ("a JSON body of that size, which is compared", write_body),
    "64 MiB": ("the log of a trajectory of Fara", write_log),
    "64 MiB, `values`": ("one line of that log, with the smallest values", write_line),
    "64 MiB, more values": ("the same with more values than that, which is not read", write_refused),
    "64 MiB, result": ("the file of a trajectory of another format, with the smallest values", write_values),
    "64 MiB, verdict": ("a score file with the smallest values", write_verdict),
}
OF_TRAJECTORIES = (write_log, write_line, write_refused, write_verdict)


def _encode(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _list_lines(size: int, text_size: int) -> Iterator[bytes]:
    for number in range(max(1, size // (text_size + 600))):
        yield _encode({"type": "resource-snapshot", "snapshot": _build_entry(number, text_size)}).encode() + b"\n"


def _build_entry(number: int, text_size: int) -> dict[str, object]:
    entry = navigation(f"{HOME}?page={number}")
    noise = os.urandom(text_size // 64).hex()  # or it would be packed too tightly
    text = (f"{number} {noise} {WIDE} " + TEXT * (text_size // len(TEXT)))[:text_size]
    entry["response"] |= {"content": {"mimeType": "text/html", "text": text}}
    return entry


def _write_entries(path: Path, size: int, text_size: int) -> None:
    with path.open("w") as file:
        file.write('{"log": {"entries": [')
        count = (size - 2**16) // (text_size + 600)
        for number in range(max(1, count)):
            file.write("," * (number > 0) + _encode(_build_entry(number, text_size)))
        file.write("]}}")


def measure(case: str, share: float = 1.0) -> tuple[int, str]:
    """The most bytes that a process had while it scored and redacted such a run, and what it said about the run.

    It asks the kernel, because `ru_maxrss` of a new process is never less than that of the one that started it.
    """
    limits, write = scale(share), CASES[case][1]
    with tempfile.TemporaryDirectory() as directory:
        runs = Runs(Path(directory, "runs"))
        if write in OF_TRAJECTORIES:
            path = recorded.write(runs.root / recorded.RUN / "7")
        else:
            path = runs.add(7, expects=(POSTED if write is write_body else visited(),))
        write(path, limits)
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
        command = [sys.executable, "-c", PROGRAM, json.dumps(asdict(limits))]
        done = subprocess.run(command, cwd=directory, env=environment, check=True, capture_output=True, text=True)
    return int(done.stdout), done.stderr.strip()


if __name__ == "__main__":
    for name, (description, _) in CASES.items():
        peak, outcome = measure(name, *map(float, sys.argv[1:]))
        print(f"| {name} | {description} | {peak // MEBIBYTE} MiB |", flush=True)
        print(outcome, file=sys.stderr)
