"""Recordings full of secrets that nobody else would write, and where any of them can be seen afterwards."""

from __future__ import annotations

import base64
import json
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.support import recorded
from tests.support.runs import Runs

HOME = "http://shop.test/"


def canary(name: str) -> str:
    """A secret by the place where it is planted; letters and digits, which every escape leaves as they are."""
    return f"CaNaRy{name.title()}7zQ4"


FORM = "password={}&card_token={}&note=lamp"
MULTIPART = (
    '--xx\r\nContent-Disposition: form-data; name="password"\r\n\r\n{}\r\n--xx\r\nContent-Disposition: form-data; '
)
MULTIPART += 'name="note"\r\n\r\nlamp\r\n--xx--'
# What a browser posted: kind of body and its text.
BODIES = {
    "form": ("application/x-www-form-urlencoded", FORM.format(canary("formpassword"), canary("formtoken"))),
    "json": (
        "application/json",
        json.dumps({"password": canary("jsonpassword"), "user": {"api_key": canary("jsonkey")}, "note": "lamp"}),
    ),
    "multipart": ("multipart/form-data; boundary=xx", MULTIPART.format(canary("partpassword"))),
}
POSTED = {
    "form": {"password": "other", "card_token": "other", "note": "lamp"},
    "json": {"password": "other", "user": {"api_key": "other"}, "note": "lamp"},
    "multipart": {"password": "other", "note": "lamp"},
}
HEADERS = {
    "Accept": "text/html",
    "Authorization": f"Bearer {canary('bearer')}.part",
    "Cookie": f"sid={canary('cookie')}; lang=en",
    "X-CSRF-Token": canary("csrf"),
    "X-Trace": "trace-0001-of-the-session",
}
URL = f"http://joe:{canary('userinfo')}@shop.test/cart?access_token={canary('query')}&q=lamp"


def entry(body: str) -> dict[str, Any]:
    """One entry of a HAR with a secret wherever there can be one."""
    mime, text = BODIES[body]
    content = json.dumps({"session_token": canary("content"), "items": 3})
    return {
        "request": {
            "method": "POST",
            "url": URL,
            "headers": [{"name": name, "value": value} for name, value in HEADERS.items()],
            "postData": {"mimeType": mime, "text": text},
        },
        "response": {
            "status": 200,
            "headers": [{"name": "Set-Cookie", "value": f"sid={canary('setcookie')}; Path=/; HttpOnly"}],
            "cookies": [{"name": "sid", "value": canary("setcookie")}, {"name": "same", "value": canary("setcookie")}],
            "content": {"mimeType": "application/json", "text": content},
        },
    }


def expectation(body: str) -> dict[str, Any]:
    """What no recording fulfils, so that the nearest event is told with all of its fields."""
    wanted = {
        "url": "__SHOPPING__/cart",
        "http_method": "POST",
        "headers": {"authorization": "other", "cookie": "other", "x-csrf-token": "other", "x-trace": "other"},
        "post_data": POSTED[body],
        "query_params": {"access_token": ["other"], "q": ["lamp"]},
        "response_cookies": {"sid": "other", "same": "other"},
        "response_content": {"session_token": "other", "items": 3},
    }
    return {"evaluator": "NetworkEventEvaluator", "expected": wanted}


BASIC = base64.b64encode(f"joe:{canary('toldbasic')}".encode()).decode()
ESCAPED = quote("https://h.test/?session_id=" + canary("toldescaped"), safe="")
NESTED = json.dumps(json.dumps({"password": canary("toldjson")}))
TOLD = [
    f"https://joe:{canary('toldurl')}@h.test/?token={canary('toldquery')}",
    f"next={ESCAPED}",
    f"Authorization: Basic {BASIC}",
    f"eyJhbGciOiJIUzI1NiJ9.{canary('toldjwt')}.x1",
    f"sk-proj-{canary('toldkey')}-abcdef",
    NESTED,
    f"Set-Cookie: sid={canary('toldcookie')}; Path=/",
    {"client_secret": canary("toldmember")},
]


def answer() -> str:
    """An agent's response whose wrong answers tell secrets."""
    return json.dumps({"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": TOLD, "error_details": None})


def as_har(path: Path, body: str) -> None:
    """Write the recording as a HAR."""
    (path / "network.har").write_text(json.dumps({"log": {"entries": [entry(body)]}}))


def as_trace(path: Path, body: str) -> None:
    """Write it as Playwright does, the posted body in a file of its own."""
    (path / "network.har").unlink()
    snapshot = entry(body)
    mime, text = BODIES[body]
    snapshot["request"]["postData"] = {"mimeType": mime, "_sha1": "posted.txt"}
    with zipfile.ZipFile(path / "trace.zip", "w") as archive:
        archive.writestr("trace.network", json.dumps({"type": "resource-snapshot", "snapshot": snapshot}) + "\n")
        archive.writestr("resources/posted.txt", text)


def fara(path: Path) -> None:
    """A trajectory that says all of it in its log, its answer, its crash and its scores."""
    secret = canary("farapassword")
    typed = {"action": "type", "text": f"password={secret}", "url": f"https://h.test/?token={canary('faraquery')}"}
    wrong = recorded.payload(outcome=False, outcome_reasoning=f"it said token={canary('farascore')}")
    recorded.write(
        path,
        answer=recorded.final_answer("\n".join([f"password: {canary('faraanswer')}", *map(str, TOLD)])),
        web_surfer_log=recorded.log(typed, *recorded.WORKED[1:]),
        core_log=recorded.core_log(path.name, crash=f"Cookie: sid={canary('faracore')}; a=b"),
        scores=recorded.score_file(wrong),
    )


def plant(runs: Runs, directory: Path) -> None:
    """Canaries in HAR files, Playwright traces and a trajectory of a root, and a file with the URL of their site."""
    for number, body in enumerate(BODIES):
        for kind, write in ((0, as_har), (10, as_trace)):
            path = runs.add(100 + number + kind, expects=(expectation(body),))
            write(path, body)
            (path / "agent_response.json").write_text(answer())
    fara(runs.root / recorded.RUN / "a")
    (directory / "config.json").write_text('{"environments": {"__SHOPPING__": {"urls": ["http://shop.test"]}}}')


def seen(*texts: str | bytes, names: Collection[str] | None = None) -> set[str]:
    """Which canaries can be read in some texts, as they are, in small letters, escaped or in base64."""
    every = [text if isinstance(text, bytes) else text.encode("utf-8", "replace") for text in texts]
    lowered = [text.lower() for text in every]
    found = set()
    for name in PLANTED if names is None else names:
        plain = canary(name).encode()
        forms = [base64.b64encode(b"x" * shift + plain)[4:-4] for shift in range(3)]
        if any(plain.lower() in text for text in lowered) or any(form in text for form in forms for text in every):
            found.add(name)
    return found


OF_EVENTS = (
    "bearer cookie csrf userinfo query content setcookie formpassword formtoken jsonpassword jsonkey partpassword"
)
OF_TEXTS = "toldurl toldquery toldescaped toldbasic toldjwt toldkey toldjson toldcookie toldmember"
OF_TRAJECTORIES = "farapassword faraquery farascore faraanswer faracore"
PLANTED = frozenset(f"{OF_EVENTS} {OF_TEXTS} {OF_TRAJECTORIES}".split())
