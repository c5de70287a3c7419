"""Runs that are derived from recordings of the example suite: other answers, other requests, as HAR directories."""

from __future__ import annotations

import copy
import json
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

SUITE = Path(__file__).parents[2] / "example_suite"
RUNS = SUITE / "runs"
CONFIG = SUITE / "config.json"
_FENCE = re.compile(r"\{.*\}", re.DOTALL)
CHANGING = ("POST", "PUT", "PATCH", "DELETE")


@dataclass
class Derived:
    """The entries of a recording, with all bodies in them, and the answer in its current names."""

    task_id: int
    entries: list[dict[str, Any]]
    answer: dict[str, Any]

    def copy(self) -> Derived:
        """A copy to change."""
        return copy.deepcopy(self)

    def write(self, directory: Path) -> Path:
        """Write the run into a directory that is named by its task. Returns that directory."""
        path = directory / str(self.task_id)
        path.mkdir(parents=True)
        (path / "agent_response.json").write_text(json.dumps(self.answer), "utf-8")
        (path / "network.har").write_text(json.dumps({"log": {"entries": self.entries}}), "utf-8")
        return path

    def answering(self, *data: Any, **fields: Any) -> Derived:
        """The same with other data, or with other fields of the answer."""
        other = self.copy()
        other.answer |= {"retrieved_data": list(data)} if data else {}
        other.answer |= fields
        return other

    def dropping(self, part: str) -> Derived:
        """The same without the changing requests whose URL has this part."""
        kept = [entry for entry in self.entries if not (_is_changing(entry) and part in _url(entry))]
        assert len(kept) < len(self.entries)
        return Derived(self.task_id, copy.deepcopy(kept), dict(self.answer))

    def replacing(self, before: str, after: str) -> Derived:
        """The same with another text in all URLs, headers and posted bodies."""
        other = self.copy()
        for entry in other.entries:
            request = entry["request"]
            request["url"] = request["url"].replace(before, after)
            for header in request["headers"]:
                header["value"] = header["value"].replace(before, after)
            if request.get("postData"):
                request["postData"]["text"] = request["postData"]["text"].replace(before, after)
        assert other != self
        return other

    def refusing(self, part: str) -> Derived:
        """The same with an error of the server for changing requests whose URL has this part."""
        other = self.copy()
        for entry in other.entries:
            if _is_changing(entry) and part in _url(entry):
                entry["response"]["status"] = 500
        assert other != self
        return other

    def changing_field(self, part: str, name: str, value: str = "another") -> Derived:
        """The same with another value of a posted field, which may be a path into JSON."""
        other = self.copy()
        for entry in other.entries:
            if _is_changing(entry) and part in _url(entry):
                body = entry["request"]["postData"]
                body["text"] = _change_body(body["text"], name, value)
        assert other != self
        return other

    def changing_parameter(self, name: str, value: str = "another") -> Derived:
        """The same with another value of a parameter of the last page."""
        other = self.copy()
        page = [entry for entry in other.entries if _is_page(entry)][-1]
        head, _, query = _url(page).partition("?")
        page["request"]["url"] = f"{head}?{urlencode(dict(parse_qsl(query, keep_blank_values=True)) | {name: value})}"
        return other

    def stopping_at_start(self) -> Derived:
        """The same answer after nothing but the start page."""
        pages = [index for index, entry in enumerate(self.entries) if _is_page(entry)]
        return Derived(self.task_id, copy.deepcopy(self.entries[: pages[1]]), dict(self.answer))

    def going_on(self) -> Derived:
        """The same with another visit to the start page at the end."""
        other = self.copy()
        page = copy.deepcopy(next(entry for entry in self.entries if _is_page(entry)))
        page["startedDateTime"] = max(entry["startedDateTime"] for entry in self.entries)  # all in one form
        other.entries.append(page)
        return other

    def making(self, other: Derived, part: str) -> Derived:
        """The same with the changing request of another recording whose URL has this part, before the last page."""
        request = next(entry for entry in other.entries if _is_changing(entry) and part in _url(entry))
        entries = copy.deepcopy(self.entries)
        entries.insert(len(entries) - 1, copy.deepcopy(request))
        return Derived(self.task_id, entries, dict(self.answer))

    def borrowing(self, other: Derived) -> Derived:
        """The recording and the answer of another task."""
        return Derived(self.task_id, copy.deepcopy(other.entries), dict(other.answer))


def derive(task_id: int) -> Derived:
    """The recording of a task of the suite."""
    path = RUNS / str(task_id)
    text = (path / "agent_response.json").read_text("utf-8")
    answer = json.loads(_FENCE.search(text)[0])
    names = {"action": "task_type", "results": "retrieved_data"}
    trace = path / "trace.zip"
    entries = (
        _read_trace(trace) if trace.exists() else json.loads((path / "network.har").read_bytes())["log"]["entries"]
    )
    return Derived(task_id, entries, {names.get(name, name): value for name, value in answer.items()})


def _read_trace(path: Path) -> list[dict[str, Any]]:
    """The entries of a trace with the bodies that lie in files of their own."""
    with zipfile.ZipFile(path) as archive:
        lines = map(json.loads, archive.read("trace.network").decode().splitlines())
        entries = [line["snapshot"] for line in lines if line["type"] == "resource-snapshot"]
        for entry in entries:
            for body in (entry["request"].get("postData"), entry["response"].get("content")):
                name = (body or {}).pop("_file", None)
                if name in archive.namelist():
                    body["text"] = archive.read(name).decode()
    return entries


def _change_body(text: str, name: str, value: str) -> str:
    if not text.startswith("{"):
        fields = dict(parse_qsl(text, keep_blank_values=True))
        assert name in fields
        return urlencode(fields | {name: value})
    document = json.loads(text)
    *steps, last = name.removeprefix("$.").split(".")
    holder = document
    for step in steps:
        holder = holder[step]
    holder[last] = [value] if isinstance(holder[last], list) else value
    return json.dumps(document)


def _url(entry: dict[str, Any]) -> str:
    return entry["request"]["url"]


def _is_changing(entry: dict[str, Any]) -> bool:
    return entry["request"]["method"] in CHANGING


def _is_page(entry: dict[str, Any]) -> bool:
    headers = {header["name"].lower(): header["value"] for header in entry["request"]["headers"]}
    return entry["request"]["method"] == "GET" and headers.get("accept", "").startswith("text/html")
