"""Recordings of the example suite, grown to any size with traffic that decides nothing, or cut down to what decides."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

from tests.benchmarks.harness.exchanges import Browser, Entry
from tests.benchmarks.harness.traffic import LARGE, SMALL, visits

SUITE = Path(__file__).parents[3] / "example_suite"
RESPONSE, TRACE = "agent_response.json", "network.har"
BIG = 4_000_000  # bytes from which pages, and not only their number, are larger
LEAST = 4_000  # what may remain of a wanted size: less than most entries have
# Of the suite's runs with a HAR these are of no use here: the first has an evaluator of the suite's own, those that
# follow answer in the documented dialect, which the reference refuses, and the last cannot be read.
LEFT_OUT = {105, 103, 114, 201, 206, 302, 310, 307}


@dataclass(frozen=True, slots=True)
class Example:
    """A run of the example suite with its task and the verdict that it deserves."""

    task: dict[str, Any]
    verdict: str
    response: bytes
    log: dict[str, Any]

    def grown(self, number: int, size: int) -> bytes:
        """Its HAR, with other traffic in front of its own entries so that it has about that many bytes.

        Each number has traffic of its own.
        """
        own = self.log["entries"]
        room = size - len(encoded(self.log))
        return self._har([*_fitting(self._traffic(number, size), room), *own])

    def cut(self, _: int = 0) -> bytes:
        """Its HAR with the last two pages alone, and of their responses no more than evaluation reads."""
        pages = [entry for entry in self.log["entries"] if entry["_resourceType"] == "document"]
        return self._har([_without_body(entry) for entry in pages[-2:]])

    def _har(self, entries: list[Entry]) -> bytes:
        return encoded({"log": {**self.log, "entries": entries}})

    def _traffic(self, number: int, size: int) -> Iterator[Entry]:
        random = Random(f"{self.task['task_id']} {number}")
        first = self.log["entries"][0]
        start = first["request"]["url"]
        place = urlsplit(start)
        browser = Browser(random, first["pageref"], first["_frameref"], _cookies(random), start)
        for exchange in visits(random, f"{place.scheme}://{place.netloc}", LARGE if size >= BIG else SMALL):
            yield browser.entry(exchange)


def _fitting(entries: Iterable[Entry], room: int) -> Iterator[Entry]:
    """Those entries for which there is still room, until there is none for most."""
    for entry in entries:
        if room < LEAST:
            return
        taken = len(encoded(entry)) + 1
        if taken <= room:
            room -= taken
            yield entry


def _without_body(entry: Entry) -> Entry:
    response = entry["response"]
    return {**entry, "response": {"status": response["status"], "cookies": response["cookies"]}}


def _cookies(random: Random) -> dict[str, str]:
    return {
        "PHPSESSID": random.randbytes(13).hex(),
        "form_key": random.randbytes(8).hex(),
        "mage-cache-sessid": "true",
        "mage-messages": "",
        "X-Magento-Vary": random.randbytes(20).hex(),
        "private_content_version": random.randbytes(16).hex(),
        "section_data_ids": json.dumps({"cart": random.randrange(10**9, 10**10), "customer": 1770106500}),
    }


def examples() -> list[Example]:
    """Runs whose verdict the reference shares, successes and failures, in the order of their ids."""
    tasks = json.loads((SUITE / "runs" / "tasks.json").read_bytes())
    usable = [task["task_id"] for task in tasks if _is_usable(task["task_id"])]
    return [example(task_id) for task_id in sorted(usable)]


def _is_usable(task_id: int) -> bool:
    return task_id not in LEFT_OUT and (SUITE / "runs" / str(task_id) / TRACE).exists()


def example(task_id: int) -> Example:
    """The run of that task, which must have a HAR."""
    tasks = json.loads((SUITE / "runs" / "tasks.json").read_bytes())
    task = next(task for task in tasks if task["task_id"] == task_id)
    verdict = json.loads((SUITE / "verdicts.json").read_bytes())[str(task_id)]["status"]
    run = SUITE / "runs" / str(task_id)
    return Example(task, verdict, (run / RESPONSE).read_bytes(), json.loads((run / TRACE).read_bytes())["log"])


def encoded(content: Any) -> bytes:
    """JSON as Playwright writes it: without blanks and with every character as it is."""
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()
