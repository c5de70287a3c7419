"""Seeds of whole runs of each format, and of files of verdicts and labels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.fuzz.engine.parts import of_files
from tests.fuzz.targets.recorded_run import name_target
from tests.support.agentlab import find_experiment
from tests.support.recorded_runs import find_run
from tests.support.stagehand import sample

LARGEST_PICTURE = 200  # bytes
UNREAD = ("package_versions.txt", "*.har")  # a HAR is read where a task asks for it; it has targets of its own
GATES = {"judgeOutcomeSuccess": True, "outcomeSuccess": False, "outcomeGates": ["final_state_check"]}
REPLY = "Thoughts: the page says\nStatus: success\nbut the lamp is red.\nStatus: failure"


def _said(text: str, **fields: Any) -> bytes:
    return json.dumps([{"role": "assistant", "content": text, **fields}]).encode()


def _files(path: Path, **more: bytes) -> bytes:
    """The files of a run that its reader reads, without large pictures; `__` in a name of `more` is a slash."""
    entries = [entry for entry in sorted(path.rglob("*")) if entry.is_file() and not any(map(entry.match, UNREAD))]
    contents = {entry.relative_to(path).as_posix(): entry.read_bytes() for entry in entries}
    small = {
        name: content
        for name, content in contents.items()
        if len(content) < LARGEST_PICTURE or not name.endswith(".png")
    }
    return of_files(small | {name.replace("__", "/").replace("_json", ".json"): text for name, text in more.items()})


def runs() -> Mapping[str, list[bytes]]:
    """Runs by the name of their format."""
    mind2web, atif, voyager = "online-mind2web", "atif", "webvoyager"
    return {
        mind2web: [
            _files(find_run(mind2web, name))
            for name in ("lamp_success", "lamp_failure", "lamp_no_answer", "lamp_second_success")
        ],
        "stagehand": [
            _files(sample("05", "failure")),
            _files(sample("06", "success"), scores__gates_json=json.dumps(GATES).encode()),
            _files(sample("09", "judged")),
        ],
        atif: [
            _files(find_run(atif, "shop-success"), verifier__reward_json=b'{"reward": 1.0, "style": 0.5}'),
            _files(find_run(atif, "shop-multi-step")),
            _files(find_run(atif, "shop-exit-code")),
        ],
        voyager: [
            _files(find_run(voyager, "taskShop--0"), eval_res_json=_said("Verdict: SUCCESS", success=1)),
            _files(find_run(voyager, "taskShop--1"), eval_res_json=_said("NOT SUCCESS", success=0)),
            _files(find_run(voyager, "taskShop--2")),
            _files(find_run(voyager, "taskText--0"), eval_res_json=_said("content_filter")),
        ],
        "agentlab": [_files(find_experiment(name)) for name in ("success", "reported-error")],
        "browser-use": [_files(find_run("browser-use", "shop-judged-success"))],
    }


def _line(task_id: str, reply: str, **fields: Any) -> str:
    return json.dumps({"task_id": task_id, "evaluation_details": {"response": reply}, **fields})


def _reward_bench(reply: str) -> bytes:
    record = [{"Response": "**Score**: 4", "Score": 4}]
    return json.dumps(
        {"response": {"choices": [{"message": {"content": reply}}]}, "image_judge_record": record}
    ).encode()


def documents() -> dict[str, list[bytes]]:
    """All seeds by the name of their target."""
    lines = "\n".join((_line("7", REPLY, predicted_label=0), _line("8", 'Status: "success"', predicted_label=1)))
    labels = [{"task_id": "7", "Ours_human_label": "1", "Theirs_human_label": 2}, {"task_id": 8, "Ours_human_label": 0}]
    return {
        **{name_target(name): seeds for name, seeds in runs().items()},
        "verdict_file": [
            lines.encode(),
            _line("7", REPLY).encode(),
            of_files({"7.json": _reward_bench(REPLY), "8.json": _reward_bench("Status: success")}),
        ],
        "label_file": [json.dumps(labels).encode(), json.dumps(labels[1:], indent=1).encode()],
    }
