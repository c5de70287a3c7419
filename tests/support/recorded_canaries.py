"""Recorded runs of each format with a secret behind each of their texts, in all files that are read.

A format is in the tests of redaction by a row in `PLANTED_RUNS`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.agentlab import find_experiment
from tests.support.canaries import canary
from tests.support.recorded_runs import find_run, list_runs
from tests.support.stagehand import sample

# Secrets as any reader of a text sees that they are some.
FORMS = (
    "password={}",
    "https://h.test/?access_token={}&q=lamp",
    "Authorization: Bearer {}",
    "https://joe:{}@h.test/",
    "Cookie: sid={}; lang=en",
    "api_key: {}",
)
# Members whose texts decide how a file is read; a recorder never has an agent's words in them.
TECHNICAL = frozenset(
    {
        *(
            "role",
            "schema_version",
            "source",
            "type",
            "status",
            "screenshot",
            "screenshotPath",
            "path",
            "task_checksum",
        ),
        *("trial_name", "exception_type", "step_name", "verdict", "failure_category", "result_category", "id"),
        *("screenshot_path", "harness", "timestamp"),
    }
)
LINES = (".log", ".txt")


@dataclass
class Planting:
    """Copies of runs of one format with secrets; `places` has the file and the key of each, by the secret's name.

    The same text of the same key has the same secret, so that copies in other files stay copies.
    """

    name: str
    places: dict[str, str] = field(default_factory=dict)
    _texts: dict[tuple[str, str], str] = field(default_factory=dict)

    def copy(self, source: Path, target: Path) -> None:
        """Write a copy of a run with a secret in each text of its files."""
        shutil.copytree(source, target, copy_function=shutil.copyfile)
        for path in sorted(target.rglob("*")):
            where = path.relative_to(target).as_posix()
            if path.suffix == ".json":
                path.write_text(json.dumps(self._plant(json.loads(path.read_bytes()), where)))
            elif path.suffix == ".jsonl":
                lines = path.read_text().splitlines()
                path.write_text("".join(json.dumps(self._plant(json.loads(line), where)) + "\n" for line in lines))
            elif path.suffix in LINES and path.name != "reward.txt":
                with path.open("a") as stream:
                    stream.write(f"\nERROR - the page says {self._hide(where)}\n")

    def _plant(self, value: Any, where: str) -> Any:
        if isinstance(value, dict):
            return {
                key: member if key in TECHNICAL else self._plant(member, f"{where} {key}")
                for key, member in value.items()
            }
        if isinstance(value, list):
            return [self._plant(member, where) for member in value]
        if not isinstance(value, str):
            return value
        key = (where.rpartition(" ")[2], value)
        if key not in self._texts:
            self._texts[key] = f"{value} {self._hide(where)}"
        return self._texts[key]

    def _hide(self, where: str) -> str:
        number = len(self.places)
        name = f"{''.join(filter(str.isalpha, self.name))}n{number}"
        self.places[name] = where
        return FORMS[number % len(FORMS)].format(canary(name))


def _clawbench(name: str) -> Path:
    return next(run for run in list_runs("clawbench") if f"-{name}-" in run.name)


@dataclass(frozen=True)
class PlantedRuns:
    """Runs of a format that are no successes, so that everything is told of them.

    `told` are the keys of texts of which at least one secret is shown where nothing is redacted.
    """

    runs: Callable[[], tuple[Path, ...]]
    told: tuple[str, ...]


PLANTED_RUNS = {
    "online-mind2web": PlantedRuns(
        lambda: (find_run("online-mind2web", "lamp_failure"), find_run("online-mind2web", "lamp_second_no_answer")),
        told=("task", "final_result_response", "reasoning", "thoughts", "action_history"),
    ),
    "stagehand": PlantedRuns(
        lambda: (sample("07", "failure"), sample("07", "over_budget"), sample("07", "judge_failed")),
        told=("instruction", "finalAnswer", "explanation", "reasoning"),
    ),
    "atif": PlantedRuns(
        lambda: (
            find_run("atif", "shop-partial"),
            find_run("atif", "shop-exit-code"),
            find_run("atif", "shop-timeout"),
        ),
        told=("message", "exception_message", "content"),
    ),
    "webvoyager": PlantedRuns(
        lambda: (find_run("webvoyager", "taskShop--1"), find_run("webvoyager", "taskShop--2")),
        told=("content", "agent.log"),
    ),
    "browser-use": PlantedRuns(
        lambda: (find_run("browser-use", "shop-judged-failure"), find_run("browser-use", "shop-failures")),
        told=("text", "reasoning", "failure_reason", "next_goal"),
    ),
    "agentlab": PlantedRuns(
        lambda: (find_experiment("failure"), find_experiment("agent-error")),
        told=("err_msg",),
    ),
    "clawbench": PlantedRuns(
        lambda: (_clawbench("902-shop-judge-mismatch"), _clawbench("904-shop-time-limit")),
        told=("instruction", "reason", "url"),
    ),
}
