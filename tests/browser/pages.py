"""Reports of made-up sessions, as large and as odd as a test asks for."""

# ruff: noqa: E501  (rows of data and scripts of the page read best in one line)

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pytest_webeval.reports.html.index_page import build_agents
from pytest_webeval.reports.html.index_rows import COLUMNS as INDEX_COLUMNS
from pytest_webeval.reports.html.writer import data_name, write_events, write_page, write_task
from pytest_webeval.summary.statistics import wilson

COLUMNS = list(INDEX_COLUMNS)
SITES = ["shopping", "shopping_admin", "gitlab", "reddit", "map", "wikipedia"]
TYPES = ["retrieve", "navigate", "mutate"]
EVALUATORS = ["AgentResponseEvaluator", "NetworkEventEvaluator"]
WARNINGS = ["bodies_missing", "page_from_cache"]
INTENTS = [
    "Show me the most recent pending order of the customer who spent most",
    "How many commits did Kilian make to a11yproject on 3/5/2023?",
    "Get the total payment amount of the last 5 completed orders",
    "Post in the forum for books a question about what to read next",
    "Find the fastest route by car from the museum to the airport",
]
GROUPS = [
    ("AgentResponseEvaluator", "retrieved_data", "different", "retrieved_data is different"),
    ("NetworkEventEvaluator", "", "missing", "no event of the right place"),
    ("NetworkEventEvaluator", "query_params", "different", "query_params is different"),
    ("AgentResponseEvaluator", "status", "different", "status is different"),
    ("NetworkEventEvaluator", "post_data", "missing", "post_data lacks something"),
    ("AgentResponseEvaluator", "retrieved_data", "malformed", "the answer cannot be read"),
    ("", "recording", "error", "the recording cannot be read"),
]
REASONS = [
    'retrieved_data: expected ["$34.99", "$12.50"]; found ["$34.90", "$12.50"]',
    "missing_navigation_event: no event fits; nearest is event 17 of 240",
    "query_params: expected sort=price&dir=asc; found sort=price&dir=desc; nearest is event 17 of 240",
    "status: expected SUCCESS; found NOT_FOUND_ERROR",
    "post_data: expected quantity 3; found nothing",
    "retrieved_data: expected a list of money; found a text",
    "network.har: ends in the middle of entry 12; re-record the run",
]


JUDGING = ["Judge gpt-5 (rubric 1): 3 runs judged", "No certificate: how far people agree with this judge is unknown"]
BASELINE = {
    "time": "2026-01-30 12:00", "before": 0.7, "after": 0.668, "sentence": "Worse: 66.8% after 70.0%.",
    "facts": [["Difference", "-3.2% over 395 tasks that both judged"]], "notes": ["the rules are others"],
}  # fmt: skip
ATTEMPTS = {
    "agents": [
        {"agent": agent, "tasks": 100, "runs": 300, "mean": mean, "interval_95": [mean - 0.1, mean + 0.1], "flaky": {"count": 14},
         "pass@k": {str(k): {"mean": mean ** (1 / k), "tasks": 100} for k in (1, 2, 3)},
         "pass^k": {str(k): {"mean": mean**k, "tasks": 100} for k in (1, 2, 3)},
         "attempts": [{"attempt": f"try-{k}", "runs": 100, "rated": 100, "success_count": 50 + k, "success_rate_interval_95": [0.4, 0.6]} for k in (1, 2, 3)]}
        for agent, mean in (("runs/large", 0.7), ("runs/small", 0.4))
    ]
}  # fmt: skip


def distributions() -> list[dict[str, Any]]:
    return [
        {"name": name, "count": 300, "runs": 400, "end": "40 or more",
         "lines": [{"name": "all", "count": 300, "figures": ["12", "31", "140"]}, {"name": "succeeded", "count": 200, "figures": ["9", "20", "40"]}],
         "paths": {status: "".join(f"M{5 * at + half} 40h2v-{38 - 2 * at}h-2z" for at in range(18)) for half, status in enumerate(("success", "failure"))}}
        for name in ("Steps", "Duration", "Tokens")
    ]  # fmt: skip


def row(number: int) -> list[Any]:
    """One task: every third no success, every hundredth an error, every 97th excluded."""
    group = -1 if number % 3 else (6 if number % 300 == 0 else number // 3 % 6)
    status = "success" if group < 0 else "error" if group == 6 else "failure"
    if number % 97 == 5:
        status, group = "excluded", -1
    run = f"runs/{number:05d}"
    found = [] if group < 0 or group == 6 else [EVALUATORS.index(GROUPS[group][0])]
    warnings = [number % 2] if number % 11 == 0 else []
    flip = {0: "regressed", 1: "fixed"}.get(number % 150)
    reason = REASONS[group] if group >= 0 else "the agent gave up" if status == "excluded" else None
    return [
        run, number, status, float(status == "success"), SITES[number // 5 % 6], TYPES[number // 7 % 3], 100 + number // 2 % 60, group,
        found, warnings, reason, f"{INTENTS[number % 5]}, case {number}", number % 89 / 1000, data_name(run), flip,
    ]  # fmt: skip


def index(count: int, **changes: Any) -> dict[str, Any]:
    """The index of a session of so many tasks."""
    rows = [row(number) for number in range(1, count + 1)]
    statuses = Counter(one[2] for one in rows)
    scored = count - statuses["excluded"]
    totals = {name: statuses[name] for name in ("success", "failure", "error", "excluded")}
    rate = statuses["success"] / scored if scored else None
    totals |= {"total": scored, "missing": 0, "unscored": 0, "denominator": scored, "rate": rate}
    totals["sample"] = ""
    totals["interval"] = None if rate is None else [max(0, rate - 0.01), min(1, rate + 0.01)]
    return {
        "version": "0.1.0", "title": "nightly agent, webarena-verified", "timestamp": "2026-01-31T12:00:00Z",
        "rules": "default", "partial": False, "embedded": False, "stopped": None, "totals": totals,
        "headings": {
            "site": {"one": "Site", "many": "Sites", "none": "no site"},
            "type": {"one": "Kind", "many": "Kinds of task", "none": "unknown"},
        },
        "sites": shares(rows, 4), "templates": [one | {"text": f"Show me {{{{things}}}} of {one['name']}"} for one in shares(rows, 6)],
        "types": shares(rows, 5), "groups": groups(rows), "evaluators": EVALUATORS, "warnings": WARNINGS,
        "flips": {flip: sum(one[14] == flip for one in rows) for flip in ("fixed", "regressed")},
        "distributions": distributions(), "attempts": build_agents(ATTEMPTS), "baseline": BASELINE, "judging": JUDGING, "columns": COLUMNS, "rows": rows,
    } | changes  # fmt: skip


def shares(rows: list[list[Any]], column: int) -> list[dict[str, Any]]:
    total = Counter(one[column] for one in rows)
    success = Counter(one[column] for one in rows if one[2] == "success")
    rates = [
        {"name": str(name), "total": total[name], "success": success[name], "lost": total[name] - success[name],
         "interval": [round(end, 4) for end in wilson(success[name], total[name])]}
        for name in sorted(total)
    ]  # fmt: skip
    return sorted(rates, key=lambda rate: (-rate["lost"], -rate["total"], rate["name"]))


def groups(rows: list[list[Any]]) -> list[dict[str, Any]]:
    counts = Counter(one[7] for one in rows)
    names = ("evaluator", "field", "kind", "text")
    rerun = "pytest --webeval-runs=runs -k '[00003] or [00021]'"
    return [dict(zip(names, one, strict=True), count=counts[at], rerun=rerun) for at, one in enumerate(GROUPS)]


def task(number: int, **changes: Any) -> dict[str, Any]:
    """What the page shows of one task, with something in every part of it."""
    _, task_id, status, score, site, kind, template, *_, reason, intent, seconds, _, _ = row(number)
    return {
        "run": f"runs/{number:05d}", "task_id": task_id, "status": status, "score": score, "reason": reason, "error": None,
        "sentence": None if status == "success" else f'The answer lacks "$8.00" in task {number}.',
        "answer": {"fields": [*pairs(task_type="RETRIEVE", status="SUCCESS"), {"name": "retrieved_data", "value": ["$34.90", "$12.50"]}], "more": 0},
        "definition": {"task_id": task_id, "intent": intent, "eval": [{"evaluator": "AgentResponseEvaluator"}]},
        "intent": intent, "start_urls": ["http://localhost:7770/sales/order/history?page=1"],
        "template": "Show me {{things}} of {{whom}}", "template_id": template, "sites": [site], "type": kind,
        "evaluators": [answer_evaluator(), network_evaluator()],
        "network": {
            "total": 340, "assets": 100, "left_out": 0, "detailed": 240, "events": [event(at) for at in range(240)],
        },
        "steps": [step(at) for at in range(1, 13)],
        "rubric": rubric(),
        "warnings": [{"kind": "bodies_missing", "text": "12 of 240 events have no body: record with bodies"}],
        "checksums": {"inputs": {"network.har": "a3f1" * 16, "agent_response.json": "77b0" * 16}, "tasks": "9c" * 32},
        "commands": [
            {"label": "run this task again", "command": f"pytest --webeval-runs=runs -k '[{number:05d}]'"},
            {"label": "open the trace", "command": f"npx playwright show-trace runs/{number:05d}/trace.zip"},
        ],
        "links": [{"label": "eval_result.json", "href": f"../runs/{number:05d}/eval_result.json"}],
        "about": {"format": "webarena-verified", "rules": "default", "seconds": seconds, "libraries": {"pint": "0.25"}},
    } | changes  # fmt: skip


def answer_evaluator() -> dict[str, Any]:
    expected = {"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": ["$34.99", "$12.50", "$8.00"]}
    actual = {"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": ["$34.90", "$12.50"]}
    return {
        "name": "AgentResponseEvaluator", "status": "failure", "score": 0.0, "error": None,
        "expected": expected, "actual": actual,
        "assertions": [
            {"name": "retrieved_data_mismatch", "status": "failure", "messages": ["expected 3 elements, found 2"]},
            {"name": "task_type", "status": "success", "messages": []},
            {"name": "status", "status": "success", "messages": []},
        ],
        "differences": [
            {"path": "retrieved_data[0]", "kind": "different", "expected": "$34.99", "actual": "$34.90"},
            {"path": "retrieved_data[2]", "kind": "missing", "expected": "$8.00", "actual": None},
        ],
        "nearest": None, "candidates": [],
    }  # fmt: skip


def network_evaluator() -> dict[str, Any]:
    expected = {
        "url": "__SHOPPING__/catalog",
        "query_params": {"sort": ["price"], "dir": ["asc"]},
        "http_method": "GET",
    }
    actual = {"url": "__SHOPPING__/catalog", "query_params": {"sort": ["price"], "dir": ["desc"]}, "http_method": "GET"}
    return {
        "name": "NetworkEventEvaluator", "status": "failure", "score": 0.0, "error": None,
        "expected": expected, "actual": actual,
        "assertions": [{"name": "query_params_mismatch", "status": "failure", "messages": ["expected dir=asc; found dir=desc"]}],
        "differences": [{"path": "query_params.dir[0]", "kind": "different", "expected": "asc", "actual": "desc"}],
        "nearest": {"index": 117, "of": 240, "method": "GET", "url": event(117)[2], "status": 200},
        "candidates": [17, 117],
    }  # fmt: skip


def event(at: int) -> list[Any]:
    mark = {17: "candidate", 117: "nearest"}.get(at, "")
    method, status = ("POST", 302) if at % 9 == 4 else ("GET", 200)
    url = f"http://localhost:7770/catalog/category/view/id/{at}?sort=price&dir=desc&limit=36"
    return [at, method, url, status, "document" if at % 3 else "xhr", at * 0.37, mark]


def details(at: int, **changes: Any) -> dict[str, Any]:
    """What was sent and received at one of these events."""
    posted = {"type": "application/x-www-form-urlencoded", "length": 11, "form": "fields", "post_data": pairs(qty="2")}
    page = {"type": "text/html", "length": 40, "form": "text", "response_content": {"text": f"<h1>Catalog {at}</h1>"}}
    return {
        "index": at,
        "request": {
            "query_params": pairs(sort="price", dir="desc", limit="36"),
            "headers": pairs(Accept="text/html", Cookie="sid=redacted-0a1b2c3d-26"),
            "body": posted if at % 9 == 4 else None,
        },
        "response": {
            "response_cookies": pairs(lang="en"),
            "headers": [{"name": "Content-Type", "value": "text/html"}, {"name": "X-Page", "value": str(at)}],
            "body": page, "lacks_body": False,
        },
    } | changes  # fmt: skip


def write_details(label: str, events: Iterable[Mapping[str, Any]], directory: Path) -> None:
    """Write the details of events, whose headers are positions in one list in the file."""
    headers: list[dict[str, str]] = []
    written = []
    for event in events:
        sides = {}
        for side in ("request", "response"):
            own, at = event[side].get("headers"), len(headers)
            headers += own or []
            sides[side] = event[side] | {"headers": own and list(range(at, len(headers)))}
        written.append({**event, **sides})
    write_events(label, written, headers, directory)


def pairs(**values: str) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]


def step(at: int) -> dict[str, Any]:
    return {
        "index": at, "action": ["click", "type", "scroll", "goto"][at % 4], "arguments": {"x": 40 * at, "y": 210, "text": "price"},
        "thought": f"The list is sorted by position. I need the price column, so I use control {at}. " * (1 + at % 5),
        "observation": f"The page shows {at} products." if at % 2 else None,
        "url": f"http://localhost:7770/catalog/{at}", "before": f"../runs/shots/{at % 4}.png", "after": None,
        "events": [at * 10, at * 10 + 7],
    }  # fmt: skip


def rubric() -> dict[str, Any]:
    return {
        "criterion": "outcome", "status": "failure", "score": 0, "reason": "2 of 5 points", "source": "scores/judge.json",
        "items": [
            {"text": "Names the order", "earned": 2, "max": 3, "note": "right order, no number", "conditional": False},
            {"text": "Names the amount", "earned": 0, "max": 2, "note": None, "conditional": True},
        ],
        "verdict": {"success": False, "explanation": "The amount is missing."},
    }  # fmt: skip


def write(directory: Path, count: int, tasks: int = 6, **changes: Any) -> Path:
    """A report of so many tasks in a directory, with the details of the first few; its page."""
    write_page(index(count, **changes), directory / "report")
    for number in range(1, tasks + 1):
        write_task(f"runs/{number:05d}", task(number), directory / "report")
        write_details(f"runs/{number:05d}", [details(at) for at in range(200)], directory / "report")
    shots = directory / "runs" / "shots"
    shots.mkdir(parents=True)
    for number in range(3):  # the fourth is missing
        (shots / f"{number}.png").write_bytes(png(640, 400, (90 + 50 * number, 120, 200 - 40 * number)))
    return directory / "report" / "index.html"


def png(width: int, height: int, colour: tuple[int, int, int]) -> bytes:
    """A picture in one colour with a lighter head, as a screenshot is."""
    lines = [
        b"\0" + bytes(min(255, one + (60 if at < height // 8 else 0)) for one in colour) * width for at in range(height)
    ]
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(b"".join(lines))),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in parts
    )
