"""Documents that the seed corpus is made of, by the target that reads them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.fuzz import seed_runs, seed_tables
from tests.fuzz.engine.parts import of_files
from tests.support import recorded
from tests.support.agentlab import find_experiment
from tests.support.stagehand import sample

BROWSER_USE = Path(__file__).parents[1] / "recorded" / "browser_use"
CLAWBENCH = Path(__file__).parents[1] / "recorded" / "clawbench"
HOME = "http://shop.test:7770"
CONFIG = {"environments": {"__SHOPPING__": {"urls": [HOME]}, "__GITLAB__": {"urls": ["http://git.test:8023"]}}}
ANSWER = {
    "task_type": "RETRIEVE",
    "status": "SUCCESS",
    "retrieved_data": ["$1,149.00", "Blue Mug"],
    "error_details": None,
}


def read_action_lines() -> list[bytes]:
    """The beginning of the log of a recorded trace, without lines that nothing reads."""
    with zipfile.ZipFile(Path(__file__).parents[1] / "recorded/playwright_trace/trace.zip") as archive:
        lines = archive.read("trace.trace").splitlines(keepends=True)
    return [line for line in lines if not line.startswith((b'{"type":"frame-snapshot"', b'{"type":"event"'))][:24]


def text(tree: Any) -> bytes:
    """JSON as a program writes it."""
    return json.dumps(tree).encode()


def pairs(**members: str) -> list[dict[str, str]]:
    """Headers or cookies."""
    return [{"name": name.replace("_", "-"), "value": value} for name, value in members.items()]


def history(name: str) -> bytes:
    """A recorded history of browser-use without the texts that the model was given."""
    document = json.loads((BROWSER_USE / name / "AgentHistory.json").read_bytes())
    for each in document["history"]:
        each.pop("state_message", None)
        each["state"].pop("interacted_element")
        each["state"].pop("tabs")
    return text(document)


# What no version writes together: a message with the task, a base64 image, times that no calendar has, and tokens.
MIXED_HISTORY = {
    "history": [
        {
            "model_output": {"action": [{"wait": None, "done": {"text": "a", "success": False}}, {}], "thinking": "b"},
            "result": [{"error": "c"}, {"is_done": True, "success": False, "judgement": {"verdict": True}}],
            "state": {"url": HOME, "screenshot": "data:image/png;base64,Zm9v", "screenshot_path": "/tmp/step_1.png"},
            "metadata": {"step_start_time": 1e14, "step_end_time": 2e14, "input_tokens": 7},
            "state_message": "<user_request>\nBuy tea.\n</user_request>",
        }
    ],
    "usage": {"total_prompt_tokens": 7, "total_completion_tokens": 3, "by_model": {"gpt": {}}},
}


def entry(path: str, method: str = "GET", **parts: Any) -> dict[str, Any]:
    """An entry of a HAR."""
    visit = {"accept": "text/html", "sec_fetch_dest": "document", "sec_fetch_mode": "navigate", "sec_fetch_user": "?1"}
    headers = pairs(**visit, referer=f"{HOME}/cart")
    request = {"method": method, "url": f"{HOME}{path}", "headers": headers, **parts.get("request", {})}
    content = {"mimeType": "application/json", "text": '{"state": "opened", "author": {"username": "dana"}}'}
    response = {"status": 200, "cookies": pairs(seen="a%20b"), "content": content, **parts.get("response", {})}
    return {"request": request, "response": response, "_resourceType": "document", "pageref": "p", "_frameref": "f"}


FORM = {"mimeType": "application/x-www-form-urlencoded", "text": "product=mug&quantity=3&quantity=4"}
ENTRIES = (
    entry("/search?q=desk+lamp&sort=price"),
    entry("/cart/add", "POST", request={"postData": FORM}, response={"status": 302}),
    entry("/api", "POST", request={"postData": {"mimeType": "application/json", "_sha1": "a.json"}}),
    entry("/c", response={"content": {"mimeType": "application/json", "text": "eyJhIjogMX0=", "encoding": "base64"}}),
)
HAR = text({"log": {"version": "1.2", "entries": list(ENTRIES)}})
LINES = b"\n".join(text({"type": "resource-snapshot", "snapshot": one}) for one in ENTRIES)
SIDE = b'{"issue": {"title": "Radar plot", "labels": ["bug"]}, "more": "{\\"a\\": 1}"}'


def clawbench_files(name: str) -> dict[str, bytes]:
    """The texts of a recorded run of ClawBench."""
    (run,) = CLAWBENCH.glob(f"*/*-{name}-*")
    texts = [path for path in sorted(run.rglob("*")) if path.suffix in (".json", ".jsonl")]
    return {path.relative_to(run).as_posix(): path.read_bytes() for path in texts}


def zipped(**members: bytes) -> bytes:
    """An archive that is the same whenever it is made."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name.replace("__", "/")), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def task(task_id: int, *evaluators: dict[str, Any]) -> dict[str, Any]:
    """A definition as WebArena-Verified has it."""
    texts = {"intent": "find", "intent_template": "find", "instantiation_dict": {}, "revision": 1}
    about = {"sites": ["shopping"], "task_id": task_id, "intent_template_id": 1, "start_urls": ["__SHOPPING__"]}
    return {**about, **texts, "eval": list(evaluators)}


def answering(kind: str, data: Any, schema: dict[str, Any]) -> dict[str, Any]:
    """An expectation of a response."""
    expected = {"task_type": kind, "status": "SUCCESS", "retrieved_data": data}
    return {"evaluator": "AgentResponseEvaluator", "expected": expected, "results_schema": schema}


def sending(**config: Any) -> dict[str, Any]:
    """An expectation of traffic."""
    return {"evaluator": "NetworkEventEvaluator", **config}


MONEY = {"type": "array", "items": {"type": "string", "format": "currency"}}
RETRIEVE = task(7, answering("RETRIEVE", ["$1,149.00", ["9 USD", "10"]], MONEY))
MUTATE = task(
    8,
    answering("MUTATE", None, {"type": "null"}),
    sending(
        expected={
            "url": "__SHOPPING__/cart/add",
            "http_method": "POST",
            "response_status": 302,
            "headers": {"referer": "__SHOPPING__/cart"},
            "post_data": {"product": "mug", "quantity": 3, "$.issue.title": "Radar plot", "^qu.*$": ["3", "4"]},
            "response_cookies": {"seen": "^a.*$"},
            "response_content": {"state": "opened", "$.author.username": "dana"},
        },
        post_data_schema={"type": "object", "properties": {"quantity": {"type": "number"}}},
        last_event_only=False,
    ),
    sending(expected={"url": "^__SHOPPING__/orders/\\d+$"}, should_not_exist=True),
)
NAVIGATE = task(
    9,
    answering("NAVIGATE", None, {"type": "null"}),
    sending(
        expected={"url": ["__SHOPPING__/search?q=a", "__SHOPPING__/c"], "query_params": {"q": ["desk lamp"]}},
        ignored_query_params=["sort"],
        ignored_query_params_patterns=["^s"],
        decode_base64_query=True,
    ),
    {"evaluator": "RubricEvaluator", "threshold": 0.8, "criterion": "process"},
)
TASKS = text([RETRIEVE, MUTATE, NAVIGATE])

ITEMS = [
    recorded.item(4, 3),
    {"criterion": "group", "items": [recorded.item(2, 1, condition="if asked", is_condition_met=True)]},
    recorded.item(1, 0, penalty=True),
]
VOTES = {"majority_vote_metadata": {"n": 3, "outcome_votes": [True, True, False], "all_rubric_scores": [0.5, 0.7, 0.9]}}
PAYLOAD = recorded.payload(**VOTES, success_criterion="process")
HELD_OUT = {"mm_is_success": "1", "rubric_is_success": 1, "verifier_is_success": 0, "outcome_success": True}
LOG = recorded.log(*recorded.WORKED).encode()
CORE = recorded.core_log("7", evaluated=True).encode() + recorded.core_log("7", crash="timeout: slow").encode()
TIMES = text({"start_time": 1772359200.0, "end_time": 1772359225.5, "duration": 25.5})
FARA = text(recorded.final_answer())
SCORE = recorded.score_file(PAYLOAD).encode()
NOTED = text(
    {"task_summary": "t", "init_url": HOME, "precomputed_rubric": [{"items": ITEMS}], "encountered_captcha": True}
)
THOUGHT = b"Thought #1: I look\nAction #1: executing tool 'click' with arguments {\"coordinate\": [1, 2]}"
RESULT = text(
    {
        "task_id": 7,
        "intent_template_id": 1,
        "sites": ["shopping"],
        "task_revision": 1,
        "status": "failure",
        "score": 0.0,
        "evaluators_results": [
            {
                "evaluator_name": "AgentResponseEvaluator",
                "status": "failure",
                "score": 0.0,
                "assertions": [
                    {"assertion_name": "retrieved_data_mismatch", "status": "failure", "assertion_msgs": ["a", "b"]}
                ],
            }
        ],
        "error_msg": None,
        "webarena_verified_version": "1.2.3",
        "webarena_verified_evaluator_checksum": "x",
        "webarena_verified_data_checksum": "y",
        "webeval": {"run": "7", "rules": "default", "warnings": ["a"]},
    }
)


def run_of(name: str, answer: bytes = text(ANSWER), **files: bytes) -> dict[str, bytes]:
    """The files of a WebArena-Verified run."""
    more = {f"runs/{name}/{key.replace('__', '/').replace('_', '.')}": content for key, content in files.items()}
    return {f"runs/{name}/agent_response.json": answer, **more}


def trajectory_of(name: str, score: bytes = SCORE) -> dict[str, bytes]:
    """The files of a trajectory."""
    files = {
        f"{name}_final_answer.json": FARA,
        "web_surfer.log": LOG,
        "core.log": CORE,
        "times.json": TIMES,
        "task_data.json": NOTED,
        "screenshot1.png": recorded.PIXEL,
        "screenshot2.png": recorded.PIXEL,
        "scores/mmrubric_0.8-5-3.json": score,
    }
    return {f"{recorded.RUN}/{name}/{file}": content for file, content in files.items()}


def whole_runs() -> list[bytes]:
    """Directories with definitions, configuration and runs of several formats."""
    about = {"tasks.json": TASKS, "config.json": text(CONFIG)}
    side = {"trace__trace_network": LINES, "trace__resources__a_json": SIDE}
    mutated = text({"action": "mutate", "status": "success", "results": None})
    found: list[Mapping[str, bytes]] = [
        about | run_of("7", network_har=HAR),
        about | run_of("8", mutated, trace_zip=zipped(trace__network=LINES)),
        about | run_of("8", mutated, network_har=HAR),
        about
        | run_of("9", text({"task_type": "NAVIGATE", "status": "SUCCESS"}), **side, rubric_json=text({"items": ITEMS})),
        trajectory_of("books_1"),
        trajectory_of("books_2", recorded.score_file(HELD_OUT, 1).encode()),
    ]
    return [of_files(one) for one in found]


def all_of_them() -> dict[str, list[bytes]]:
    """All documents by the name of their target."""
    whole = whole_runs()
    side = {"a.json": SIDE, "a": b"product=mug"}
    return {
        "har": [HAR, LINES, text({"log": {"entries": {"a": 1}}})],
        "line_trace": [LINES, LINES + b"\r\n\n", b'{"type": "context-options"}\n' + LINES],
        "zip_trace": [zipped(**{"trace.network": LINES, "resources/a.json": SIDE})],
        "zipped_trace": [of_files({"trace.network": LINES, "resources/a.json": SIDE})],
        "folder_trace": [of_files({"trace.network": LINES, "resources/a.json": SIDE})],
        "side_bodies": [of_files({"bodies": seed_tables.BODIES, **side})],
        "response": [text(ANSWER), b"```json\n" + text(ANSWER) + b"\n```", *seed_tables.RESPONSES],
        "posted": list(seed_tables.POSTED),
        "eval_result": [RESULT],
        "told": list(seed_tables.TEXTS),
        "written": [text(ANSWER), RESULT, *seed_tables.TREES],
        "labels": list(seed_tables.NAMES),
        "tasks": [TASKS, text(MUTATE), b"\n".join(map(text, (RETRIEVE, NAVIGATE))), *seed_tables.BENCHMARKS],
        "config": [text(CONFIG), *seed_tables.CONFIGS],
        "subset": list(seed_tables.SUBSETS),
        "validated": [RESULT, TASKS, HAR, text(PAYLOAD)],
        "web_surfer_log": [LOG, recorded.log(*recorded.WORKED, source="websurfer").encode(), *seed_tables.LOGS],
        "core_log": [CORE, *seed_tables.CORES],
        "times": [TIMES],
        "final_answer": [FARA, text(recorded.final_answer(None, 2, is_aborted=True))],
        "names": list(seed_tables.LISTINGS),
        "task_data": [NOTED],
        "usage": list(seed_tables.USAGES),
        "thought": [THOUGHT, *seed_tables.THOUGHTS],
        "lenient_json": list(seed_tables.TREES),
        "exact_json": list(seed_tables.TREES),
        "score_names": list(seed_tables.SCORE_NAMES),
        "score_file": [SCORE, recorded.score_file(HELD_OUT, 1).encode(), *seed_tables.SCORES],
        "rubric": [text({"items": ITEMS}), text(PAYLOAD), SCORE, text(HELD_OUT), text({"rubric_error": "none came"})],
        "stagehand_trajectory": [
            (sample(layout, case) / "trajectory.json").read_bytes()
            for layout, case in (("05", "success"), ("07", "codex"), ("09", "step_budget"))
        ],
        "stagehand_result": [
            (sample(layout, case) / "scores" / "result.json").read_bytes()
            for layout, case in (
                ("07", "failure"),
                ("07", "judge_failed"),
                ("07", "legacy"),
                ("09", "judged"),
                ("09", "uncertain"),
                ("09", "condition_not_met"),
            )
        ],
        "browser_use": [
            history(name)
            for name in ("shop-judged-success", "shop-impossible", "shop-max-steps", "shop-rate-limit", "shop-02-har")
        ]
        + [text(MIXED_HISTORY)],
        "agentlab_summary": [
            (find_experiment(name) / "summary_info.json").read_bytes()
            for name in ("success", "partial", "too-long", "agent-error", "reported-error", "interrupted", "crash")
        ],
        "agentlab_log": [
            *((find_experiment(name) / "experiment.log").read_bytes() for name in ("too-long", "failure", "no-action")),
            *seed_tables.AGENTLAB_LOGS,
        ],
        "clawbench_run": [
            of_files(clawbench_files(name))
            for name in (
                "901-shop-success",
                "904-shop-time-limit",
                "907-shop-judge-failed",
                "908-shop-rescored",
                "ce-T910",
            )
        ],
        "clawbench_requests": [
            clawbench_files(name)["data/requests.jsonl"] for name in ("901-shop-success", "903-shop-not-matched")
        ],
        "clawbench_task": [text(task) for task in seed_tables.CLAWBENCH_TASKS],
        "trace_actions": [b"".join(read_action_lines()), b"".join(read_action_lines()[:6])],
        "value": list(seed_tables.VALUES),
        "url": list(seed_tables.URLS),
        "projection": list(seed_tables.PROJECTIONS),
        "tree": list(seed_tables.COMPARED),
        "whole": whole,
        "session": whole,
    } | seed_runs.documents()
