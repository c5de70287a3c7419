"""Records the runs in `tests/recorded/clawbench` with ClawBench's own code and a real Chromium, without containers.

PyPI `clawbench-eval` 0.11.0 writes all files but the agent's transcript: `runtime/runtime-server/server.py` logs and
blocks the requests of the browser, `runner/run.py` writes `run-meta.json`, `interception.json` and `judge.json`,
`eval/rescore.py` judges again. Scripted are what needs a container, an account or a model: the agent, which drives the
browser over CDP, the reason why its harness stopped, and the replies of the judge.

Run it in an environment of its own, for some functions of ClawBench are replaced:

    pip install clawbench-eval==0.11.0 fastapi uvicorn websocket-client
    python tests/recorded/record_clawbench.py tests/recorded/clawbench
"""

from __future__ import annotations

import http.server
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from unittest import mock

MODEL, JUDGE, CHROMIUM_PORT = "example/agent-1", "example/judge-1", 9333
PAGE = b"""<!doctype html><title>Shop</title><h1>Shop</h1>
<form method=post action=/cart><input name=product><input name=quantity><button>Order</button></form>
<form method=post action=/wishlist><input name=product><button>Remember</button></form>"""
ORDER = {"url_pattern": r"/cart(\?|$)", "method": "POST", "body": {"quantity": "2"}}
SUBMIT = {"url_pattern": "/api/task-submit", "method": "POST"}
FILL = "document.forms[{form}].product.value = '{product}'; "
QUANTITY, SEND = "document.forms[0].quantity.value = '{quantity}'; ", "document.forms[{form}].lastChild.click()"
MATCH = '{"match": true, "reason": "The request orders two mugs."}'
MISMATCH = '{"match": false, "reason": "The request orders a lamp, not a mug."}'


def order(product: str, quantity: str = "2", form: int = 0) -> str:
    """The script that fills a form of the shop and sends it."""
    parts = FILL + (QUANTITY if form == 0 else "") + SEND
    return parts.format(form=form, product=product, quantity=quantity)


@dataclass(frozen=True)
class Case:
    """A run: what the agent does in the browser, why the harness stopped, and what the judge replies."""

    name: str
    script: tuple[str, ...] = ()
    stop: str = "eval_matched"
    reply: str | Exception | None = None
    arguments: tuple[str, ...] = ()
    schema: dict[str, object] | None = None
    lenient_reply: str | None = None
    is_started: bool = True
    path: str = ""


CASES = (
    Case("901-shop-success", (order("mug"),), reply=MATCH),
    Case("902-shop-judge-mismatch", (order("lamp"),), reply=MISMATCH),
    Case("903-shop-not-matched", (order("mug", form=1),), "agent_exited"),
    Case("904-shop-time-limit", ("window.scrollTo(0, 10)",), "time_limit_exceeded"),
    Case("905-shop-browser-failed", stop="chrome_cdp_timeout", is_started=False),
    Case("906-shop-not-judged", (order("mug"),), arguments=("--no-judge",)),
    Case("907-shop-judge-failed", (order("mug"),), reply=OSError("connection refused")),
    Case("908-shop-rescored", (order("mug"),), arguments=("--no-judge",), lenient_reply=MATCH),
    Case("909-shop-no-api", is_started=False, stop="preflight"),
    Case(
        "ce-T910-answer",
        ("document.getElementById('answer').value = 'Two mugs cost $8.'; document.querySelector('button').click()",),
        reply='```json\n{"match": "true", "reason": "The answer is right."}\n```',
        schema=SUBMIT,
        path="submit",
    ),
)


class Shop(http.server.BaseHTTPRequestHandler):
    """Answers every request with the page of the shop."""

    def do_GET(self) -> None:
        """Answer with the page."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE)

    def do_POST(self) -> None:
        """Read the body, and answer with the page."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Browser:
    """The scripted agent's connection to a page of Chromium."""

    def __init__(self) -> None:
        import websocket

        version = json.load(urllib.request.urlopen(f"http://127.0.0.1:{CHROMIUM_PORT}/json/version"))
        self._socket = websocket.create_connection(version["webSocketDebuggerUrl"], suppress_origin=True)
        self._ids = count(1)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method: str, **parameters: object) -> dict[str, str]:
        """The result of a command."""
        number = next(self._ids)
        message = {"id": number, "method": method, "params": parameters}
        session = getattr(self, "_session", None)
        self._socket.send(json.dumps(message | ({"sessionId": session} if session else {})))
        while (answer := json.loads(self._socket.recv())).get("id") != number:
            pass
        return answer.get("result", {})


class Container:
    """Stands for the container: the runtime server, Chromium and the agent, which leave the files of `/data`."""

    def __init__(self, case: Case, data: Path, shop: str) -> None:
        self.case, self.data, self.shop = case, data, shop

    def run(self, schema: Path) -> None:
        """Do what the container does, until it stops."""
        self.data.mkdir(parents=True)
        (self.data / "agent-messages.jsonl").write_text(self._transcript() if self.case.is_started else "")
        if self.case.is_started:
            self._drive(schema)
        self._count_tokens()
        (self.data / ".stop-reason").write_text(f"{self.case.stop}\n")
        (self.data / ".stop-requested").unlink(missing_ok=True)

    def _drive(self, schema: Path) -> None:
        import uvicorn

        profile = tempfile.mkdtemp()
        command = ["chromium", "--headless", "--no-sandbox", f"--remote-debugging-port={CHROMIUM_PORT}"]
        command += ["--remote-allow-origins=*", f"--user-data-dir={profile}", "--window-size=400,300", "about:blank"]
        chromium = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server = uvicorn.Server(uvicorn.Config(self._load_server(schema).app, port=7878, log_level="error"))
        thread = threading.Thread(target=server.run)
        try:
            time.sleep(3)
            thread.start()
            time.sleep(2)
            self._act(Browser())
        finally:
            server.should_exit = True
            chromium.terminate()
            thread.join()
            chromium.wait()
            shutil.rmtree(profile, ignore_errors=True)

    def _act(self, browser: Browser) -> None:
        browser.call("Page.enable")
        place = f"http://127.0.0.1:7878/{self.case.path}" if self.case.path else f"{self.shop}/"
        browser.call("Page.navigate", url=place)
        time.sleep(1.5)
        for script in self.case.script:
            browser.call("Runtime.evaluate", expression=script)
            time.sleep(1.5)

    def _count_tokens(self) -> None:
        """Run what the harness of OpenClaw runs at its end."""
        import clawbench

        program = Path(clawbench.__file__).parent / "runtime" / "harnesses" / "openclaw" / "usage-emitter.py"
        files = ["--input", self.data / "agent-messages.jsonl", "--output", self.data / "usage.jsonl"]
        subprocess.run([sys.executable, program, "--harness", "openclaw", *files], check=True)

    def _load_server(self, schema: Path):
        import clawbench

        settings = {"CLAWBENCH_DATA_DIR": str(self.data), "CLAWBENCH_RECORDING_MODE": "disabled"}
        os.environ.update(settings, CLAWBENCH_BROWSER_CDP_URL=f"http://127.0.0.1:{CHROMIUM_PORT}")
        path = Path(clawbench.__file__).parent / "runtime" / "runtime-server" / "server.py"
        spec = importlib.util.spec_from_file_location("server", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.EVAL_SCHEMA_PATH = schema
        return module

    def _transcript(self) -> str:
        """The session of OpenClaw, in the keys that ClawBench counts."""
        usage = {"input": 1200, "output": 80, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1280}
        reply = {"role": "assistant", "provider": "example", "model": MODEL, "timestamp": 1, "usage": usage}
        content = [{"type": "thinking", "thinking": "The form is there."}, {"type": "text", "text": "I order it now."}]
        lines = [
            {"type": "session", "id": "s1"},
            {"type": "message", "id": "m1", "message": {"role": "user", "content": "Order two mugs."}},
            {"type": "message", "id": "m2", "message": {**reply, "content": content}},
        ]
        return "".join(json.dumps(line) + "\n" for line in lines)


def write_task(case: Case, directory: Path) -> Path:
    """The directory of the task, as ClawBench bundles them."""
    folder = directory / case.name
    folder.mkdir()
    names = ("email_credentials", "user_info", "user_resume")
    metadata = {"task_id": 900, "metaclass": "shopping", "class": "order", "description": "Order two mugs"}
    metadata |= {"sites_involved": ["shop.test"], "platform": "shop", "common_info": dict.fromkeys(names, "")}
    task = {"metadata": metadata, "instruction": "Order two mugs.", "eval_schema": case.schema or ORDER}
    (folder / "task.json").write_text(json.dumps(task | {"time_limit": 1}))
    return folder


def replace_container(case: Case, container: Container) -> dict[str, object]:
    """What stands for the functions of `run.py` that need a container, an account or a model."""
    from clawbench.runner import run

    config = {"base_url": "https://api.example/v1", "api_type": "openai-completions", "api_key": ""}
    preflight = run.ModelApiPreflightError("HTTP 503") if case.stop == "preflight" else None

    def docker_run(_name: str, _instruction: str, schema: Path, *_: object, **__: object) -> None:
        container.run(schema)

    return {
        "ensure_workspace_templates": lambda: None,
        "engine": lambda: "docker",
        "load_runtime_env": lambda: {"PURELY_MAIL_API_KEY": "none", "PURELY_MAIL_DOMAIN": "mail.example"},
        "load_model_config": lambda name: config | {"model": name},
        "preflight_model_api": mock.Mock(side_effect=preflight),
        "create_email": lambda *_: ("alex@mail.example", "none"),
        "delete_email": lambda *_: None,
        "docker_run": docker_run,
        "docker_wait": lambda *_, **__: False,
        "docker_logs": lambda _: None,
        "docker_copy": lambda _, target: shutil.copytree(container.data, target / "data"),
        "docker_rm": lambda _: None,
        "_fix_data_ownership": lambda _: None,
    }


def record(case: Case, output: Path, shop: str) -> None:
    """Run ClawBench's `run` with the container replaced."""
    from clawbench.runner import judge, run
    from clawbench.runner.run_support import metadata

    replies = [case.reply] * 3  # the judge tries again
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        replaced = replace_container(case, Container(case, work / "data", shop))
        arguments = ["run", str(write_task(case, work)), MODEL, "--no-build", "--no-upload", "--judge", JUDGE]
        arguments += [*case.arguments, "--output-dir", str(output)]
        details = {"engine": lambda: "docker", "container_engine_version": lambda: None, "image_id": lambda _: None}
        with (
            mock.patch.multiple(run, **replaced),
            mock.patch.multiple(metadata, **details, WORKSPACE_ROOT=output.resolve()),
            mock.patch.object(judge, "_call_openai_chat", side_effect=replies),
            mock.patch.object(sys, "argv", arguments),
        ):
            try:
                run.main()
            except SystemExit as end:
                print(f"{case.name}: exit {end.code}")
    if case.lenient_reply:
        rescore(case, next(output.glob(f"*/*{case.name}*")))


def rescore(case: Case, directory: Path) -> None:
    """Judge a run again as `eval/rescore.py` does, with its lenient rubric."""
    from clawbench.eval.rescore import rescore_one
    from clawbench.runner import judge_llm

    with mock.patch.object(judge_llm, "_call_openai_chat", return_value=case.lenient_reply):
        rescore_one(
            {}, JUDGE, directory, force=False, rubrics=["lenient"], judge_funcs={"lenient": judge_llm.judge_request}
        )


def main(directory: str) -> None:
    """Record all cases."""
    shop = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    threading.Thread(target=shop.serve_forever, daemon=True).start()
    for case in CASES:
        record(case, Path(directory), f"http://127.0.0.1:{shop.server_port}")


if __name__ == "__main__":
    main(*sys.argv[1:])
