"""A loopback server that speaks chat completions, scripted by a test.

A script is a function of the request, or a list with an answer for each request, the last of which repeats. An answer
is a text that the model replies, or an `Answer`.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

USAGE = {"prompt_tokens": 100, "completion_tokens": 10}


class Answer(NamedTuple):
    """A response: its status, its body, headers, and what goes wrong on the way.

    `seconds` pass before anything is sent, and `pause` after each byte. Of a `dropped` response the second half is
    missing, of a `silent` one everything.
    """

    body: Any = None
    status: int = 200
    headers: dict[str, str] = {}  # noqa: RUF012  (never changed)
    seconds: float = 0
    pause: float = 0
    dropped: bool = False
    silent: bool = False


def completion(text: str | None, **changes: Any) -> dict[str, Any]:
    """The body of a complete reply. A change without a value removes a member."""
    message = {"role": "assistant", "content": text, "refusal": changes.pop("refusal", None)}
    choice = {"index": 0, "message": message, "finish_reason": changes.pop("finish_reason", "stop")}
    body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "choices": [choice], "usage": USAGE}
    return body | changes


def reply(text: str | None, **changes: Any) -> Answer:
    """A reply with changes of its body."""
    return Answer(completion(text, **changes))


def failure(status: int, message: str = "try later", code: str | None = None, **headers: str) -> Answer:
    """An error of the server."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Answer({"error": {"message": message, "type": "error", "code": code}}, status, named)


@dataclass
class Exchange:
    """One request. `sent` is whether its response was sent completely."""

    headers: dict[str, str]
    body: dict[str, Any]
    path: str
    sent: bool = False

    @property
    def key(self) -> str:
        return self.headers["idempotency-key"]

    @property
    def text(self) -> str:
        """The last text of its messages."""
        content = self.body["messages"][-1]["content"]
        if isinstance(content, str):
            return content
        return [part["text"] for part in content if part["type"] == "text"][-1]


Script = Callable[[Exchange], "Answer | str"] | Sequence["Answer | str"]


@dataclass
class JudgeServer:
    """A server with all that was sent to it. `most_at_once` is how many requests it had at the same time."""

    script: Script
    exchanges: list[Exchange] = field(default_factory=list)
    url: str = ""
    at_once: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def keys(self) -> list[str]:
        """The keys of the requests in order."""
        with self.lock:
            return [exchange.key for exchange in self.exchanges]

    def begin(self, exchange: Exchange) -> Answer:
        with self.lock:
            at = len(self.exchanges)
            self.exchanges.append(exchange)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        answer = self.script(exchange) if callable(self.script) else self.script[min(at, len(self.script) - 1)]
        return reply(answer) if isinstance(answer, str) else answer

    def end(self) -> None:
        with self.lock:
            self.at_once -= 1


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else a body waits 40 ms until the client has acknowledged the headers
    server: Any

    def do_POST(self):
        log: JudgeServer = self.server.log
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        exchange = Exchange({name.lower(): text for name, text in self.headers.items()}, body, self.path)
        answer = log.begin(exchange)
        try:
            time.sleep(answer.seconds)
        finally:
            log.end()  # before the client has the response, and may send another request
        with suppress(ConnectionError):
            self._respond(answer, exchange)

    def _respond(self, answer: Answer, exchange: Exchange) -> None:
        if answer.silent:
            self.close_connection = True
            return
        body = answer.body if isinstance(answer.body, dict) else {}
        if body.get("object") == "chat.completion" and "model" not in body:
            answer = answer._replace(body={"model": exchange.body["model"], **body})
        content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        self.send_response(answer.status)
        for name, text in {"Content-Type": "application/json", **answer.headers}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self._write(content[: len(content) // 2] if answer.dropped else content, answer.pause)
        self.wfile.flush()
        exchange.sent = not answer.dropped
        self.close_connection = answer.dropped

    def _write(self, content: bytes, pause: float) -> None:
        if not pause:
            self.wfile.write(content)
            return
        for at in range(len(content)):
            self.wfile.write(content[at : at + 1])
            self.wfile.flush()
            time.sleep(pause)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: Any) -> None:
        """A client that was killed is none of the test's concern."""


@contextmanager
def serve(script: Script) -> Iterator[JudgeServer]:
    """A running server."""
    log = JudgeServer(script)
    server = _Server(("127.0.0.1", 0), _Handler)
    server.log = log
    log.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield log
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
