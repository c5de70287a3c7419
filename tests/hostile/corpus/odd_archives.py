"""Archives as recordings: bombs, lies about names and sizes, and members that no honest recorder writes."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from typing import Any

from tests.hostile.corpus import honest, zips
from tests.hostile.corpus.cases import Case, run, tracing

_N, _G = zips.NETWORK, zips.GOOD
_BODY = honest.asked(("lamp",), "string", honest.visited(expected={"response_content": {"a": "1"}}))
_ASIDE = honest.lines(honest.entry(content={"mimeType": "application/json", "_sha1": "body.json"}))
_MIB = 2**20


def _zip(what: str, outcome: str, content: Callable[[], bytes] | bytes, says: str = "trace.zip") -> Case:
    return run(f"an archive with {what}", outcome, tracing(content, honest.ZIP), says if outcome == "error" else "")


def _body(what: str, outcome: str, *members: tuple[Any, bytes], says: str = "body.json|trace.zip", **more: Any) -> Case:
    def content() -> bytes:
        return zips.packed((_N, _ASIDE), *members)

    says = says if outcome == "error" else ""
    return run(
        f"an archive whose body is {what}", outcome, tracing(more.get("made", content), honest.ZIP), says, task=_BODY
    )


def _body_bomb(size: int, filler: bytes) -> Callable[[], bytes]:
    def content() -> bytes:
        kept = zips.bomb(size, "resources/body.json", filler)
        return _joined(kept)

    return content


def _joined(kept: bytes) -> bytes:
    """An archive with one more member, the recording, behind those it has."""
    import io

    held = io.BytesIO(kept)
    with zipfile.ZipFile(held, "a") as archive:
        archive.writestr(zips.member(_N), _ASIDE)
    return held.getvalue()


_INSIDE = "trace/trace.network"  # of a trace that was packed again with a folder around it
_NAMES = (
    ("a name that leads out", "../../../../obeyed.txt"),
    ("an absolute name", "/etc/cron.d/pwned"),
    ("a drive's name", "C:\\windows\\system32\\x"),
    ("a name with backslashes", "..\\..\\obeyed.txt"),
    ("an empty name", ""),
    ("a name of 60,000 characters", "n" * 60_000),
    ("a name with control characters", "\x1b[2J\n::error::x"),
    ("a name with a script", "<script>window.__pwned=1</script>"),
    ("a name that only Unicode has", "\u202etxt.exe"),
    ("another name with NUL in it", "trace.netwo\x00rk"),
    ("a recording in a folder too", _INSIDE),
    ("a module", "conftest.py"),
)


def _two_bodies() -> bytes:
    made = zips.packed((_N, _ASIDE), ("resources/body.json", b'{"a": "1"}'), ("resources/body.jsen", b'{"a": "2"}'))
    return made.replace(b"body.jsen", b"body.json")


CASES: tuple[Case, ...] = (
    *(_zip(f"a member with {what}", "success", zips.good((name, b"::error::x"))) for what, name in _NAMES),
    *(
        _zip(f"the recording under {what} alone", "success" if name == _INSIDE else "error", zips.packed((name, _G)))
        for what, name in _NAMES
    ),
    _zip(
        "the recording as a bomb of 64 MiB in blanks", "error", lambda: zips.bomb(64 * _MIB), "200|ratio|expan|unpack"
    ),
    _zip(
        "the recording as a bomb of 400 MiB in line feeds",
        "error",
        lambda: zips.bomb(400 * _MIB, filler=b"\n"),
        "200|ratio|expan|unpack",
    ),
    _zip(
        "the recording as a bomb of 600 MiB", "error", lambda: zips.bomb(600 * _MIB), "200|ratio|expan|unpack|at most"
    ),
    _zip("a bomb that nobody asks for", "success", lambda: _good_and_bomb(64 * _MIB)),
    _zip("blanks that are no bomb yet", "success", lambda: zips.bomb(8 * _MIB)),
    _zip("eight million blank lines", "error", lambda: zips.bomb(8 * _MIB, filler=b"\n"), "1,000,000 lines"),
    _zip("a directory that says 100 bytes of 300 MiB", "error", lambda: zips.lying_bomb(300), "trace"),
    _zip("members that share their bytes", "success|error", lambda: zips.overlapping(2000)),
    _zip("100,001 members", "error", lambda: zips.crowded(100_001), "100,000|members"),
    _zip("150,000 members", "error", lambda: zips.crowded(150_000), "100,000|members"),
    _zip("70,000 members", "success", lambda: zips.crowded(70_000)),
    _zip("archives in each other", "success", lambda: zips.quine_like(30)),
    _zip("the recording twice, the second of nothing", "error", lambda: _twice(_G, b""), "trace"),
    _zip(
        "the recording twice, the second of another page",
        "failure|error",
        lambda: _twice(_G, honest.lines(honest.entry("http://shop.test/help"))),
    ),
    _zip("the recording as a folder", "error", zips.packed((zips.member(f"{_N}/", mode=0o40755), b""))),
    _zip("the recording as a link", "error", zips.packed((zips.member(_N, mode=0o120777), b"/etc/passwd"))),
    _zip(
        "the recording as a pipe with good content", "success|error", zips.packed((zips.member(_N, mode=0o10644), _G))
    ),
    _zip(
        "an encrypted recording",
        "error",
        zips.local_patched(zips.patched(zips.good(), (8, b"\x01\x00")), (6, b"\x01\x00")),
    ),
    _zip(
        "an unknown compression",
        "error",
        zips.local_patched(zips.patched(zips.good(), (10, b"\x63\x00")), (8, b"\x63\x00")),
    ),
    _zip(
        "compression of the directory unlike that of the member",
        "success|error",
        zips.patched(zips.good(), (10, b"\0\0")),
    ),
    _zip("a wrong check sum", "error", zips.wrong_sum()),
    _zip("a size that is less than the truth", "error", zips.lying(10, real=5000)),
    _zip("a size that is 4 GiB", "error", zips.patched(zips.good(), (24, b"\xfe\xff\xff\xff"))),
    _zip("a packed size that is 4 GiB", "success|error", zips.patched(zips.good(), (20, b"\xfe\xff\xff\xff"))),
    _zip(
        "a size that another field should tell, which is not there",
        "error",
        zips.patched(zips.good(), (24, b"\xff\xff\xff\xff")),
    ),
    _zip("a place beyond its end", "error", zips.patched(zips.good(), (42, b"\xf0\xff\xff\x7f"))),
    _zip(
        "a place that another field should tell, which is not there",
        "error",
        zips.patched(zips.good(), (42, b"\xff\xff\xff\xff")),
    ),
    _zip("a version of the future", "error", zips.patched(zips.good(), (6, b"\xff\xff"))),
    _zip("a name that differs before the member", "error", zips.local_patched(zips.good(), (30, b"TRACE"))),
    _zip("a date that is none", "success", zips.patched(zips.good(), (12, b"\xff\xff\xff\xff"))),
    _zip("a cut end", "error", zips.good()[:-10]),
    _zip("a cut middle", "error", zips.good()[:40] + zips.good()[80:]),
    _zip("only its end", "error", zips.good()[zips.good().rindex(b"PK\x05\x06") :]),
    _zip("nothing in it", "error", zips.packed()),
    _zip("no bytes", "error", b""),
    _zip("another file before it", "success|error", b"GIF89a" + b"\x00" * 5000 + zips.good()),
    _zip("another file behind it", "success|error", zips.good() + b"\x00" * 5000),
    _zip("a second archive behind it", "success|error", zips.good() + zips.packed(("other", b""))),
    _zip(
        "a comment that looks like an end",
        "success|error",
        _G and zips.good()[:-2] + b"\x16\x00PK\x05\x06" + b"\0" * 18,
    ),
    _zip("a directory that begins nowhere", "error", zips.good()[:-6] + struct.pack("<IH", 2**31, 0)),
    _zip("text in its place", "error", b"<script>window.__pwned=1</script>"),
    _zip("a tar in its place", "error", b"trace.network".ljust(512, b"\x00") * 4),
    _zip("gzip in its place", "error", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" + b"\x00" * 50),
    _zip("the recording with bzip2", "success", zips.packed((zips.member(_N, method=zipfile.ZIP_BZIP2), _G))),
    _zip("the recording with LZMA", "success", zips.packed((zips.member(_N, method=zipfile.ZIP_LZMA), _G))),
    _body("not there", "error"),
    _body("a folder", "error", (zips.member("resources/body.json/", mode=0o40755), b"")),
    _body("a bomb of 80 MiB in blanks", "error", made=_body_bomb(80 * _MIB, b" "), says="200|ratio|expan|unpack|64"),
    _body(
        "a bomb of 80 MiB that packs badly",
        "error",
        made=_body_bomb(80 * _MIB, bytes(range(256)) * 16),
        says="64|200|unpack",
    ),
    _body(
        "a link to /etc/passwd", "error|failure", (zips.member("resources/body.json", mode=0o120777), b"/etc/passwd")
    ),
    _body("good", "success", ("resources/body.json", b'{"a": "1"}')),
    _body("there twice", "failure|error", made=_two_bodies),
)


def _good_and_bomb(size: int) -> bytes:
    import io

    held = io.BytesIO(zips.bomb(size, "resources/other", b"\x00"))
    with zipfile.ZipFile(held, "a") as archive:
        archive.writestr(zips.member(_N), _G)
    return held.getvalue()


def _twice(first: bytes, second: bytes) -> bytes:
    """The same name for two members; pythons warn of that where it is done in one go."""
    return zips.packed((_N, first), ("trace.netwerk", second)).replace(b"trace.netwerk", _N.encode())
