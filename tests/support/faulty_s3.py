"""A small, fast server of S3 on loopback that keeps its objects when it is killed, and fails as it is asked to.

It knows what a store needs: list-objects-v2 in pages, GET with Range, HEAD, PUT, DELETE, the beginning of an upload in
parts. Signatures are not checked.
`python -m tests.support.faulty_s3 FILE PORT FAULTS` is the server itself; tests use `S3Server`.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import asdict, dataclass, field
from email.utils import formatdate
from pathlib import Path
from typing import Self
from urllib.parse import parse_qs, quote, unquote
from xml.sax.saxutils import escape

BUCKET = "bucket"
ROOT = Path(__file__).parents[2]
_SCHEMA = "CREATE TABLE IF NOT EXISTS objects (key TEXT PRIMARY KEY, content BLOB, etag TEXT, modified REAL)"
_REASONS = {200: "OK", 206: "Partial Content", 403: "Forbidden", 404: "Not Found", 416: "Range Not Satisfiable"}


@dataclass
class Faults:
    """What goes wrong. Shares are of all GETs of objects; the requests that fail depend on `seed` alone."""

    share: float = 0.0  # that fail once, in one of the ways of `kinds`
    kinds: list[str] = field(default_factory=lambda: ["500", "503", "429", "reset", "truncated"])
    seed: int = 1
    seconds: float = 0.0  # that each request takes
    half_written: list[str] = field(default_factory=list)  # keys of which half is sent, always
    altered: list[str] = field(default_factory=list)  # keys whose content is another than that of the listing
    encrypted: list[str] = field(default_factory=list)  # keys of objects with a key of KMS
    denied: list[str] = field(default_factory=list)  # keys with 403
    failing: list[str] = field(default_factory=list)  # keys with 500, always
    unwritable: list[str] = field(default_factory=list)  # keys that nobody may write
    has_uploads: bool = True  # in parts, of which only the beginning is known
    has_md5: bool = True  # otherwise etags look like an MD5, and are none, as with keys of KMS


class S3Server:
    """Starts, kills and restarts the server in a process of its own."""

    def __init__(self, directory: Path, faults: Faults | None = None) -> None:
        self.file = directory / "objects.sqlite"
        self.faults = faults or Faults()
        with closing(socket.create_server(("127.0.0.1", 0))) as free:
            self.port = free.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None
        with closing(self._open()) as table:
            table.execute(_SCHEMA)

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self.file, isolation_level=None)

    @property
    def environment(self) -> dict[str, str]:
        """Variables with which clients find the server."""
        return {
            "AWS_ACCESS_KEY_ID": "AKIAPLANTEDKEYID0000",
            "AWS_SECRET_ACCESS_KEY": "planted/secret+key/0000000000000000000000",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def put(self, objects: dict[str, bytes]) -> None:
        """Write objects, all at once."""
        rows = [(key, content, self._etag(content), time.time()) for key, content in objects.items()]
        with closing(self._open()) as table:
            table.execute("BEGIN")
            table.executemany("REPLACE INTO objects VALUES (?, ?, ?, ?)", rows)
            table.execute("COMMIT")

    def put_tree(self, root: Path, prefix: str = "") -> None:
        """Write all files below a directory but those that sessions have written there."""
        paths = (path for path in sorted(root.rglob("*")) if path.is_file())
        files = [path for path in paths if not path.name.startswith("eval_")]
        self.put({f"{prefix}{path.relative_to(root).as_posix()}": path.read_bytes() for path in files})

    def objects(self, prefix: str) -> dict[str, bytes]:
        """The objects whose keys begin with a text."""
        with closing(self._open()) as table:
            rows = table.execute("SELECT key, content FROM objects ORDER BY key").fetchall()
        return {key: content for key, content in rows if key.startswith(prefix)}

    def delete(self, key: str) -> None:
        with closing(self._open()) as table:
            table.execute("DELETE FROM objects WHERE key = ?", (key,))

    def _etag(self, content: bytes) -> str:
        return hashlib.md5(content if self.faults.has_md5 else b"key" + content, usedforsecurity=False).hexdigest()

    def start(self) -> Self:
        arguments = [str(self.file), str(self.port), json.dumps(asdict(self.faults))]
        self.process = subprocess.Popen([sys.executable, "-m", "tests.support.faulty_s3", *arguments], cwd=ROOT)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return self
        raise TimeoutError("the server does not start")

    def kill(self) -> None:
        """End it with SIGKILL; its objects stay."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def restart(self, faults: Faults | None = None) -> None:
        self.kill()
        self.faults = faults or self.faults
        self.start()

    def requests(self) -> list[str]:
        """The requests since the server was started, as `GET /bucket/key`."""
        with closing(socket.create_connection(("127.0.0.1", self.port), 5)) as connection:
            connection.sendall(b"GET /?log HTTP/1.1\r\nConnection: close\r\n\r\n")
            answer = b"".join(iter(lambda: connection.recv(2**16), b""))
        return json.loads(answer.partition(b"\r\n\r\n")[2])

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.kill()


class Objects:
    """Answers requests from the table."""

    def __init__(self, file: str, faults: Faults) -> None:
        self.table = sqlite3.connect(file, isolation_level=None)
        self.table.execute("PRAGMA synchronous=OFF")  # a process that is killed loses nothing all the same
        self.faults, self.random = faults, random.Random(faults.seed)
        self.log: list[str] = []

    def answer(self, method: str, target: str, headers: dict[str, str], body: bytes) -> tuple[bytes, str]:
        """A response and what to do with it: `send`, `reset` or `truncated`."""
        path, _, query = target.partition("?")
        if query == "log":
            return respond(200, json.dumps(self.log).encode()), "close"
        self.log.append(f"{method} {unquote(path)}")
        bucket, _, key = unquote(path.lstrip("/")).partition("/")
        if bucket != BUCKET:
            return refuse(404, "NoSuchBucket"), "send"
        if method in {"POST", "PUT"}:
            return self.write(key, body) if method == "PUT" else self.begin_upload(key, query), "send"
        if method == "DELETE":
            if "uploadId=" not in query:
                self.table.execute("DELETE FROM objects WHERE key = ?", (key,))
            return respond(204, b""), "send"
        if not key:
            return self.list(parse_qs(query, keep_blank_values=True)), "send"
        return self.read(method, key, headers)

    def begin_upload(self, key: str, query: str) -> bytes:
        if query != "uploads" or not self.faults.has_uploads:
            return refuse(501, "NotImplemented")
        if key in self.faults.unwritable:
            return refuse(403, "AccessDenied")
        facts = f"<Bucket>{BUCKET}</Bucket><Key>{escape(key)}</Key><UploadId>1</UploadId>"
        body = f"<InitiateMultipartUploadResult>{facts}</InitiateMultipartUploadResult>".encode()
        return respond(200, body, {"Content-Type": "application/xml"})

    def write(self, key: str, body: bytes) -> bytes:
        if key in self.faults.unwritable:
            return refuse(403, "AccessDenied")
        etag = hashlib.md5(body, usedforsecurity=False).hexdigest()
        self.table.execute("REPLACE INTO objects VALUES (?, ?, ?, ?)", (key, body, etag, time.time()))
        return respond(200, b"", {"ETag": f'"{etag}"'})

    def list(self, query: dict[str, list[str]]) -> bytes:
        prefix, most = query.get("prefix", [""])[0], int(query.get("max-keys", ["1000"])[0])
        after = query.get("continuation-token", query.get("start-after", [""]))[0]
        encode = quote if "encoding-type" in query else escape
        end = prefix + "\U0010ffff"
        condition = "key >= ? AND key < ? AND key > ? ORDER BY key LIMIT ?"
        sql = f"SELECT key, length(content), etag, modified FROM objects WHERE {condition}"
        rows = self.table.execute(sql, (prefix, end, after, most + 1)).fetchall()
        parts = ['<?xml version="1.0" encoding="UTF-8"?><ListBucketResult>']
        parts += [f"<Name>{BUCKET}</Name><Prefix>{encode(prefix)}</Prefix><KeyCount>{min(len(rows), most)}</KeyCount>"]
        if encode is quote:
            parts.append("<EncodingType>url</EncodingType>")
        for key, size, etag, modified in rows[:most]:
            moment = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(modified))
            parts.append(
                f"<Contents><Key>{encode(key)}</Key><LastModified>{moment}</LastModified>"
                f"<ETag>&quot;{etag}&quot;</ETag><Size>{size}</Size><StorageClass>STANDARD</StorageClass></Contents>"
            )
        parts.append(f"<IsTruncated>{'true' if len(rows) > most else 'false'}</IsTruncated>")
        if len(rows) > most:
            parts.append(f"<NextContinuationToken>{escape(rows[most - 1][0])}</NextContinuationToken>")
        parts.append("</ListBucketResult>")
        return respond(200, "".join(parts).encode(), {"Content-Type": "application/xml"})

    def read(self, method: str, key: str, headers: dict[str, str]) -> tuple[bytes, str]:
        row = self.table.execute("SELECT content, etag, modified FROM objects WHERE key = ?", (key,)).fetchone()
        if row is None:
            return refuse(404, "NoSuchKey"), "send"
        if key in self.faults.denied:
            return refuse(403, "AccessDenied"), "send"
        fault = self.choose_fault(key) if method == "GET" else None
        if fault is not None and fault.isdigit():
            return refuse(int(fault), "SlowDown" if fault == "503" else "InternalError"), "send"
        content, etag, modified = row
        if key in self.faults.altered:
            content = content.swapcase()
        facts = {"ETag": f'"{etag}"', "Last-Modified": formatdate(modified, usegmt=True), "Accept-Ranges": "bytes"}
        if key in self.faults.encrypted:
            facts["x-amz-server-side-encryption"] = "aws:kms"
        status, part = 200, content
        if (span := headers.get("range")) is not None:
            first, _, last = span.removeprefix("bytes=").partition("-")
            start, stop = int(first), min(int(last) + 1 if last else len(content), len(content))
            if start >= len(content):
                return refuse(416, "InvalidRange"), "send"
            status, part = 206, content[start:stop]
            facts["Content-Range"] = f"bytes {start}-{stop - 1}/{len(content)}"
        if method == "HEAD":
            return respond(status, b"", {**facts, "Content-Length": str(len(part))}), "send"
        if key in self.faults.half_written:
            part = part[: len(part) // 2]
        return respond(status, part, facts), fault or "send"

    def choose_fault(self, key: str) -> str | None:
        if key in self.faults.failing:
            return "500"
        return self.random.choice(self.faults.kinds) if self.random.random() < self.faults.share else None


def respond(status: int, body: bytes, headers: dict[str, str] | None = None) -> bytes:
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}"]
    facts = {"Content-Length": str(len(body)), "x-amz-request-id": "1", **(headers or {})}
    lines += [f"{name}: {value}" for name, value in facts.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def refuse(status: int, code: str) -> bytes:
    body = f"<Error><Code>{code}</Code><Message>planted/secret+key in a message</Message></Error>".encode()
    return respond(status, body, {"Content-Type": "application/xml"})


class Connection(asyncio.Protocol):
    """One connection, with requests one after the other."""

    def __init__(self, objects: Objects) -> None:
        self.objects, self.buffer = objects, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            first, *lines = self.buffer[:end].decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            if headers.get("expect") and len(self.buffer) == end + 4:
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            stop = end + 4 + int(headers.get("content-length", 0))
            if len(self.buffer) < stop:
                return
            body, self.buffer = self.buffer[end + 4 : stop], self.buffer[stop:]
            if "aws-chunked" in headers.get("content-encoding", "") or "x-amz-decoded-content-length" in headers:
                body = decode_chunks(body)
            method, target, _ = first.split(" ", 2)
            self.reply(*self.objects.answer(method, target, headers, body))

    def reply(self, response: bytes, manner: str) -> None:
        if self.objects.faults.seconds:
            asyncio.get_running_loop().call_later(self.objects.faults.seconds, self.send, response, manner)
        else:
            self.send(response, manner)

    def send(self, response: bytes, manner: str) -> None:
        if manner == "reset":
            self.transport.abort()
        elif manner == "truncated":
            self.transport.write(response[:-1])
            self.transport.close()
        else:
            self.transport.write(response)
            if manner == "close":
                self.transport.close()


def decode_chunks(body: bytes) -> bytes:
    """The content of a body in chunks with signatures or checksums."""
    content = b""
    while body:
        line, _, rest = body.partition(b"\r\n")
        size = int(line.partition(b";")[0], 16)
        if not size:
            break
        content, body = content + rest[:size], rest[size + 2 :]
    return content


async def serve(file: str, port: int, faults: Faults) -> None:
    objects = Objects(file, faults)
    server = await asyncio.get_running_loop().create_server(lambda: Connection(objects), "127.0.0.1", port, backlog=512)
    parent = os.getppid()
    async with server:
        while os.getppid() == parent:  # noqa: ASYNC110  (it ends with the tests, however they end)
            await asyncio.sleep(1)


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], int(sys.argv[2]), Faults(**json.loads(sys.argv[3]))))
