"""Trajectories in the Agent Trajectory Interchange Format, as Harbor's trials hold them: `agent/trajectory.json`.

PyPI `harbor` 0.24.0, `models/trajectories/` (ATIF-v1.0 to v1.8; 0.1.2 to 0.4.0 were compared), and the directories of
`models/trial/paths.py`. A task of several steps has one trajectory each, in `steps/<name>/agent/`. Trajectories of
subagents are counted and not read.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from pytest_webeval.recordings.formats import harbor_trial
from pytest_webeval.recordings.recorded_files import JsonFields, RecordedFiles, join_texts
from pytest_webeval.recordings.trajectory.answer import Usage
from pytest_webeval.recordings.trajectory.recorded import Trajectory
from pytest_webeval.recordings.trajectory.step import Screenshot, Step, UnreadableTrajectory, build_step, find_target
from pytest_webeval.safety.json import get_member
from pytest_webeval.safety.text import to_line

TRAJECTORY = "trajectory.json"
VERSION = "ATIF-v1."
MESSAGE = "message"  # the action of a step without a call of a tool
MOST_FOLDERS = 50  # of images


class Call(Struct, frozen=True):
    """A call of a tool with what came of it; `texts` and `images` are those of its results."""

    action: str
    arguments: dict[str, Any]
    texts: Sequence[str] = ()
    images: Sequence[str] = ()


def read(files: RecordedFiles) -> Trajectory:
    """The trajectory of a trial. Raises `UnreadableTrajectory`."""
    result = harbor_trial.read_result(files)
    folders = _list_folders(files, result)
    documents = {folder: _read_document(files, f"{folder}/{TRAJECTORY}") for folder in folders}
    inner = [(folder, name) for folder in folders for name in ("", *files.list_names(folder)[:MOST_FOLDERS])]
    places = [f"{folder}/{name}".rstrip("/") for folder, name in inner if not name or name.isprintable()]
    shots = tuple(shot for place in places for shot in files.list_images(place))
    steps = tuple(_read_steps(documents, {shot.name: shot for shot in shots}))
    first = next(iter(documents.values()), JsonFields({}, harbor_trial.RESULT, files.warnings))
    agent = first.member("agent")
    asked = (step.raw.get("message") for step in first.objects("steps") if step.raw.get("source") == "user")
    outcome = harbor_trial.classify_trial(result, first.member("extra").text("early_termination_reason"))
    return Trajectory(
        inputs=files.inputs,
        outcome=outcome,
        answer=_read_answer(documents),
        is_complete=result is not None
        and any(True for document in documents.values() for _ in _steps_of_agent(document)),
        steps=steps,
        has_steps=bool(documents),
        screenshots=shots,
        judgements=tuple(harbor_trial.read_judgements(files, result, outcome)),
        task_text=next(filter(None, map(join_texts, asked)), ""),
        usage=_total_usage(list(documents.values())),
        duration=harbor_trial.read_duration(result),
        system=_read_name(agent, "name") or (_read_name(result.member("agent_info"), "name") if result else None),
        model=_read_name(agent, "model_name"),
        benchmark=_read_name(result, "source") if result else None,
        last_error=harbor_trial.read_error(result),
        details=_describe(documents) | harbor_trial.describe_trial(result),
    )


def _read_name(fields: JsonFields, key: str) -> str | None:
    return to_line(fields.text(key) or "", harbor_trial.MOST_NAME) or None


def _list_folders(files: RecordedFiles, result: JsonFields | None) -> list[str]:
    folders = ["agent"] if TRAJECTORY in files.list_names("agent") else []
    names = set(files.list_names("steps"))
    order = [step.text("step_name") for step in result.objects("step_results")] if result else []
    steps = [f"steps/{name}/agent" for name in dict.fromkeys(order) if name in names]
    return folders + [folder for folder in steps if TRAJECTORY in files.list_names(folder)]


def _read_document(files: RecordedFiles, name: str) -> JsonFields:
    document = files.read_json(name)
    version = document.text("schema_version")
    if version is not None and not version.startswith(VERSION):
        message = f"{name} is of the version {version[:40]!r}, expected {VERSION}x; convert it"
        raise UnreadableTrajectory("version_unknown", message)
    return document


def _steps_of_agent(document: JsonFields) -> Iterator[JsonFields]:
    """What the agent did, without what was copied from an earlier trajectory for its context."""
    for step in document.objects("steps"):
        if step.raw.get("source") == "agent" and step.raw.get("is_copied_context") is not True:
            yield step


def _read_steps(documents: dict[str, JsonFields], shots: dict[str, Screenshot]) -> Iterator[Step]:
    """One step for each call of a tool; a message without a call is one as well."""
    index, before = 0, None
    for folder, document in documents.items():
        for step in _steps_of_agent(document):
            thought = step.text("reasoning_content") or join_texts(step.raw.get("message"))
            for call in _read_calls(step):
                index += 1
                paths = [posixpath.normpath(f"{folder}/{path}") for path in call.images]
                after = next((shots[path] for path in reversed(paths) if path in shots), None)
                url = call.arguments.get("url")
                yield build_step(
                    index,
                    call.action,
                    call.arguments,
                    thought=thought,
                    url=url if isinstance(url, str) else None,
                    observation="\n".join(call.texts) or None,
                    timestamp=step.text("timestamp"),
                    before=before,
                    after=after,
                    target=find_target(call.action, call.arguments),
                )
                thought, before = "", after or before


def _read_calls(step: JsonFields) -> list[Call]:
    """The calls of a step with their results. What belongs to no call is a result of the last one."""
    calls = step.objects("tool_calls")
    places: dict[str | None, int] = {}
    for place, call in enumerate(calls):
        if (name := call.text("tool_call_id")) is not None:
            places.setdefault(name, place)
    results: list[list[Any]] = [[] for _ in range(max(len(calls), 1))]
    for result in step.member("observation").objects("results"):
        place = places.get(result.text("source_call_id"), len(results) - 1)
        results[place].append(result.raw.get("content"))
    if not calls:
        return [Call(MESSAGE, {}, *_split(results[0]))]
    return [
        Call(call.text("function_name") or "unparsed", dict(call.member("arguments").raw), *_split(contents))
        for call, contents in zip(calls, results, strict=True)
    ]


def _split(contents: list[Any]) -> tuple[list[str], list[str]]:
    texts = [text for content in contents if (text := join_texts(content))]
    return texts, [path for content in contents for path in _list_paths(content)]


def _list_paths(content: object) -> Iterator[str]:
    for part in content if isinstance(content, list) else ():  # since v1.6
        path = get_member(get_member(part, "source"), "path") if get_member(part, "type") == "image" else None
        if isinstance(path, str) and "\0" not in path:
            yield path


def _read_answer(documents: dict[str, JsonFields]) -> str | None:
    """What the agent said last: the format has no member for an answer."""
    for document in reversed(documents.values()):
        for step in reversed(list(_steps_of_agent(document))):
            done = [
                call for call in step.objects("tool_calls") if call.raw.get("function_name") == "mark_task_complete"
            ]
            text = next((text for call in done if (text := call.member("arguments").text("result"))), None)
            if text is not None or (text := join_texts(step.raw.get("message"))).strip():
                return text
    return None


def _total_usage(documents: list[JsonFields]) -> Usage | None:
    totals = [document.member("final_metrics") for document in documents]
    prompt = [total.count("total_prompt_tokens") for total in totals]
    completion = [total.count("total_completion_tokens") for total in totals]
    if not totals or None in prompt or None in completion:
        return None
    return Usage(sum(filter(None, prompt)), sum(filter(None, completion)))


def _describe(documents: dict[str, JsonFields]) -> dict[str, Any]:
    versions = {version for document in documents.values() if (version := document.text("schema_version"))}
    costs = [document.member("final_metrics").number("total_cost_usd") for document in documents.values()]
    facts = {
        "schema_version": to_line(", ".join(sorted(versions)), harbor_trial.MOST_NAME),
        "cost_usd": None if None in costs else sum(filter(None, costs)),
        "subagents": sum(len(document.items("subagent_trajectories")) for document in documents.values()),
    }
    return {name: value for name, value in facts.items() if value}
