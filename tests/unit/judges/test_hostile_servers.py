"""Whatever a server of a judge does, one request ends within its seconds and bytes, and fails as a judge does."""

from __future__ import annotations

import gzip
import json
import signal
import socket
import subprocess
import sys
import threading
import time
import zlib

import pytest

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges import exchanges as transport
from pytest_webeval.judges.calls import KeyRefused, ReplyLost, build_messages
from pytest_webeval.judges.openai_judge import OpenAIJudge
from pytest_webeval.judges.questions import Question, Reply
from tests.support.judge_server import completion
from tests.support.raw_server import send_for_ever, serve_raw

KEY = "sk-secret-key-of-a-test"
SECONDS = 0.3
MOST_BYTES = 65_536
TIMED_OUT = f"the request timed out after {SECONDS} seconds"
TOO_LONG = "a response of more than 65,536 bytes"

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
GZIP = OK + b"Content-Encoding: gzip\r\n\r\n"
BODY = json.dumps(completion("yes", model="gpt-4o")).encode()

# What is sent once, then for ever.
ENDLESS = {
    "status line": (b"HTTP/1.1 200 ", b"O"),
    "no HTTP": (b"", b"a"),
    "header name": (OK, b"X"),
    "header value": (OK + b"X: ", b"a"),
    "header lines": (OK, b"X: a\r\n"),
    "folded header": (OK + b"X: a\r\n", b" a\r\n"),
    "100 Continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "103 Early Hints": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    "body": (OK + b"\r\n", b"a"),
    "body with a length": (OK + b"Content-Length: 99999999999\r\n\r\n", b" "),
    "chunks": (CHUNKED, b"1\r\na\r\n"),
    "chunk size": (CHUNKED, b"0"),
    "chunk extension": (CHUNKED + b"1;", b"a"),
    "chunk extensions": (CHUNKED, b"1;a=b\r\nx\r\n"),
    "trailers": (CHUNKED + b"0\r\n", b"X: a\r\n"),
    "gzip name": (GZIP + b"\x1f\x8b\x08\x08\0\0\0\0\0\xff", b"n"),
    "gzip comment": (GZIP + b"\x1f\x8b\x08\x10\0\0\0\0\0\xff", b"n"),
    "gzip members": (GZIP, gzip.compress(b"")),
    "status 302": (b"HTTP/1.1 302 Found\r\nLocation: /v1\r\n\r\n", b"a"),
    "status 400": (b"HTTP/1.1 400 Bad Request\r\n\r\n", b"a"),
    "status 401": (b"HTTP/1.1 401 Unauthorized\r\n\r\n", b"a"),
    "status 500": (b"HTTP/1.1 500 Error\r\n\r\n", b"a"),
    "status 999": (b"HTTP/1.1 999 Other\r\n\r\n", b"a"),
}


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for name in ("OPENAI_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setattr(transport, "MOST_BYTES", MOST_BYTES)


def question(text="Done?"):
    fields = {"model": "gpt-4o", "method": "method", "version": "1", "step": "a step"}
    return Question(**fields, messages=build_messages("Judge.", text))


def ask(url, asked=None, seconds=SECONDS, retries=0) -> Reply | JudgeFailed:
    """The reply, or why there is none. Any other exception fails the test."""
    try:
        return OpenAIJudge("gpt-4o", url, seconds, retries, sleep=lambda _: None).answer(asked or question())
    except JudgeFailed as error:
        failure = error
    assert failure.outcome == "unreachable"
    assert KEY not in str(failure)
    return failure


def ask_raw(content: bytes, seconds=5.0) -> Reply | JudgeFailed:
    """Ask a server that sends so many bytes and closes the connection."""
    with serve_raw(lambda connection: connection.sendall(content)) as server:
        return ask(server.url, seconds=seconds)


@pytest.mark.thinned(every=6)
@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.parametrize("slowly", [True, False], ids=["slowly", "quickly"])
def test_an_endless_response_ends_at_the_limits_of_one_request(name, slowly):
    with serve_raw(send_for_ever(*ENDLESS[name], slowly=slowly)) as server:
        error = ask(server.url, seconds=SECONDS if slowly else 20.0)
        assert server.ended.wait(20)
    limit = TIMED_OUT if slowly else TOO_LONG
    assert f"no reply from 127.0.0.1:{server.port} in 1 attempt: {limit}; check the server" in str(error)
    assert isinstance(error, ReplyLost)


def test_a_server_that_never_responds_is_left_at_the_deadline():
    with serve_raw(send_for_ever(b"", b"", slowly=True)) as server:
        error = ask(server.url)
        assert server.ended.wait(20)
    assert TIMED_OUT in str(error)
    assert isinstance(error, ReplyLost)


@pytest.mark.parametrize("size", [1, 50_000_000])
def test_a_server_that_does_not_read_is_left_at_the_deadline(size):
    with serve_raw(lambda _: time.sleep(2), reads=False) as server:
        assert TIMED_OUT in str(ask(server.url, question("a" * size)))


def test_the_retries_of_a_question_are_bounded_too():
    with serve_raw(send_for_ever(*ENDLESS["status 400"], slowly=False)) as server:
        error = ask(server.url, seconds=20.0, retries=2)
        assert f"in 3 attempts: {TOO_LONG}" in str(error)
        assert len(server.requests) == 3


def test_of_hundreds_of_megabytes_of_an_error_no_more_than_the_limit_is_read(monkeypatch):
    monkeypatch.setattr(transport, "MOST_BYTES", 4 * 2**20)
    sent = []

    def behave(connection):
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 734003200\r\n\r\n")
        for _ in range(700):
            connection.sendall(b"a" * 2**20)
            sent.append(1)

    with serve_raw(behave) as server:
        error = ask(server.url, seconds=20.0)
        assert server.ended.wait(20)
    assert "a response of more than 4,194,304 bytes" in str(error)
    assert len(sent) < 50


def zipped(content: bytes, encoding=b"gzip", status=b"200 OK") -> bytes:
    return b"HTTP/1.1 %b\r\nContent-Encoding: %b\r\nContent-Length: %d\r\n\r\n%b" % (
        status,
        encoding,
        len(content),
        content,
    )


BOMB = gzip.compress(b" " * 30_000_000)


@pytest.mark.parametrize("status", [b"200 OK", b"400 Bad Request", b"500 Error"])
@pytest.mark.parametrize(
    ("content", "encoding", "problem"),
    [
        (BOMB, b"gzip", TOO_LONG),
        (BOMB, b"GZip ", TOO_LONG),
        (gzip.compress(BOMB), b"gzip, gzip", "encoding 'gzip, gzip', which was not requested"),
        (zlib.compress(b" " * 30_000_000), b"deflate", "encoding 'deflate', which was not requested"),
        (BOMB, b"br", "encoding 'br', which was not requested"),
        (BOMB, b"zstd", "encoding 'zstd', which was not requested"),
        (b"no gzip", b"gzip", "Error -3 while decompressing data: incorrect header check"),
    ],
)
def test_what_unpacks_to_more_than_the_limit_or_is_packed_otherwise_is_no_reply(content, encoding, problem, status):
    assert f"{problem}; check the server" in str(ask_raw(zipped(content, encoding, status)))


def test_a_body_is_unpacked_no_further_than_the_limit():
    """A bomb of 4 MiB would be unpacked to 4 GiB before it is refused."""
    assert len(transport._decode(BOMB, "gzip")) == MOST_BYTES + 1


def test_a_response_to_a_request_that_the_server_did_not_read_counts():
    content = b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"
    with serve_raw(lambda connection: connection.sendall(content), reads=False) as server:
        assert "refused the request with status 413" in str(ask(server.url, question("a" * 50_000_000), seconds=20.0))


@pytest.mark.parametrize("charset", ["hex", "zlib", "bz2", "rot13", "undefined", "idna", "no-such", "utf-16", "\xff"])
@pytest.mark.parametrize(("status", "kind"), [(200, Reply), (401, KeyRefused), (404, JudgeFailed)])
def test_the_server_chooses_no_decoder_of_its_text(charset, status, kind):
    body = BODY if status == 200 else b'{"error": {"message": "no such model"}}'
    head = f"HTTP/1.1 {status} X\r\nContent-Type: text/html; charset={charset}\r\nContent-Length: {len(body)}\r\n\r\n"
    answer = ask_raw(head.encode("latin-1") + body)
    assert type(answer) is kind
    assert status != 404 or "status 404: no such model; check" in str(answer)


@pytest.mark.thinned(every=6)
@pytest.mark.parametrize("value", ["[]", "{}", "[[1]]", "7", "null", "true", '"\\ud800"', "1e999"])
@pytest.mark.parametrize(
    "template", ["{}", '{{"error": {}}}', '{{"error": {{"message": {0}, "code": {0}, "type": {0}}}}}']
)
@pytest.mark.parametrize("status", [400, 404, 429, 503])
def test_an_error_with_members_of_any_type_is_an_error_of_the_judge(value, template, status):
    body = template.format(value).encode()
    error = ask_raw(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body))
    assert f"status {status}" in str(error)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 100,
        b"\r\n" * 9_000,
        b"HTTP/0.9 200 OK\r\n\r\n",
        b"HTTP/1.1 000 X\r\n\r\n",
        b"HTTP/1.1 20 X\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n" + BODY,
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 304 Not Modified\r\n\r\n",
        OK + b"Content-Length: -1\r\n\r\n",
        OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n" + BODY,
        OK + b"Content-Length: 99\r\n\r\nshort",
        OK + b"Transfer-Encoding: gzip\r\n\r\n",
        OK + b"\xff\xfe: \0\r\n\r\n",
        CHUNKED + b"zz\r\n",
        CHUNKED + b"ffffffffffffffffff\r\na",
        OK + b"\r\n" + b"[" * 60_000,
        OK + b"\r\n" + b"1" * 60_000,
        OK + b"\r\n" + b"\xff" * 60_000,
    ],
)
def test_what_is_no_response_is_a_failure_of_the_judge(content):
    assert isinstance(ask_raw(content), JudgeFailed)


@pytest.mark.parametrize(
    "content",
    [
        OK + b"\r\n" + BODY,
        OK + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY + OK + b"\r\nnever read",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n" + OK + b"\r\n" + BODY,
        CHUNKED + b"%x;name=value\r\n%b\r\n0\r\nX-Trailer: a\r\n\r\n" % (len(BODY), BODY),
        zipped(gzip.compress(BODY)),
        zipped(BODY, b"identity"),
        OK + b"Set-Cookie: a=b; Domain=127.0.0.1\r\n\r\n" + BODY,
    ],
    ids=["to the end", "two", "interim", "chunks", "gzip", "identity", "cookie"],
)
def test_an_honest_response_is_a_reply_in_any_form(content):
    assert ask_raw(content).text == "yes"


def test_a_slow_response_is_a_reply_if_it_ends_in_time():
    def behave(connection):
        for byte in OK + b"\r\n" + BODY:
            connection.sendall(bytes([byte]))
            time.sleep(0.001)

    with serve_raw(behave) as server:
        assert ask(server.url, seconds=30.0).text == "yes"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_to_the_same_host_either(status):
    head = f"HTTP/1.1 {status} X\r\nLocation: /v1/chat/completions\r\nContent-Length: 0\r\n\r\n"
    with serve_raw(lambda connection: connection.sendall(head.encode())) as server:
        assert f"status {status}" in str(ask(server.url, seconds=5.0))
        assert len(server.requests) == 1


def test_each_request_has_a_connection_of_its_own_so_nothing_is_left_for_the_next():
    content = OK + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY
    with serve_raw(lambda connection: connection.sendall(content * 2) or connection.recv(1)) as server:
        judge = OpenAIJudge("gpt-4o", server.url, 5.0)
        assert [judge.answer(question(text)).text for text in "ab"] == ["yes", "yes"]
    assert [b"connection: close" in request.lower() for request in server.requests] == [True, True]


def test_a_name_that_is_not_resolved_in_time_holds_nobody(monkeypatch):
    answered = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: answered.wait(20))
    error = ask("http://judge.test/v1")
    answered.set()
    assert TIMED_OUT in str(error)
    assert not isinstance(error, ReplyLost)


def test_the_addresses_of_a_host_share_the_time(monkeypatch):
    """The first accepts no connection: its queue is full."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, serve_raw(lambda _: None) as other:
        waiting = [socket.socket() for _ in range(4)]
        for client in waiting:
            client.setblocking(False)  # noqa: FBT003
            client.connect_ex(full.getsockname())
        addresses = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", full.getsockname())] * 5
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_: addresses)
        error = ask("http://judge.test/v1", seconds=0.5)
        assert "timed out after 0.5 seconds" in str(error)
        assert not isinstance(error, ReplyLost)
        answer = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", other.port))
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_: [addresses[0], answer])
        assert "disconnected" in str(ask("http://judge.test/v1", seconds=1.0))
        for client in waiting:
            client.close()


def test_an_interruption_ends_a_request_at_once_and_closes_its_connection():
    def interrupt(*_):
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        with serve_raw(send_for_ever(OK, b"X", slowly=True)) as server:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(KeyboardInterrupt):
                ask(server.url, seconds=600.0)
            assert server.ended.wait(20)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def test_threads_that_wait_for_a_server_do_not_keep_a_process_alive():
    code = (
        "import sys\n"
        "from pytest_webeval.judges.openai_judge import OpenAIJudge\n"
        "from pytest_webeval.judges.calls import map_in_threads\n"
        "from tests.unit.judges.test_hostile_servers import question\n"
        "judge = OpenAIJudge('gpt-4o', sys.argv[1], 600.0)\n"
        "map_in_threads(lambda text: judge.answer(question(text)), 'abc', 3)\n"
    )
    with serve_raw(send_for_ever(OK, b"X", slowly=True)) as server:
        process = subprocess.Popen([sys.executable, "-c", code, server.url], stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 60
        while len(server.requests) < 3 and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert errors.rstrip().endswith("KeyboardInterrupt")
