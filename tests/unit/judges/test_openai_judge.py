from __future__ import annotations

import io
import subprocess
import sys
import time
from base64 import b64decode
from email.utils import formatdate

import pytest
from PIL import Image as Pillow

from pytest_webeval.errors import JudgeFailed, RecordingError, SettingsError
from pytest_webeval.judges.calls import JudgeCalls, KeyRefused, ReplyLost, Request, build_messages
from pytest_webeval.judges.openai_judge import OpenAIJudge
from pytest_webeval.judges.questions import Ending, Image, Question, Role, TokenUsage
from pytest_webeval.safety.files import sha256
from tests.support.judge_server import Answer, completion, failure, reply, serve

SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}
KEY = "sk-secret-key-of-a-test"


def question(*parts, **changes):
    fields = {"model": "gpt-4o", "method": "method", "version": "1", "step": "a step"}
    return Question(**(fields | {"messages": build_messages("Judge.", *(parts or ("Done?",)))} | changes))


def picture(width=2000, height=500):
    written = io.BytesIO()
    Pillow.new("RGB", (width, height), "teal").save(written, "PNG")
    return Image("screenshot1.png", sha256(written.getvalue()), written.getvalue)


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def ask():
    """Asks a server with a script, and returns the reply, the server and the waits between the attempts."""

    def ask(script, asked=None, **settings):
        waits = []
        with serve(script) as server:
            judge = OpenAIJudge("gpt-4o", server.url, sleep=waits.append, **settings)
            try:
                return judge.answer(asked or question()), server, waits
            except JudgeFailed as error:
                return error, server, waits

    return ask


@pytest.mark.parametrize("count", [2**53 + 1, 10**4200], ids=["beyond a double", "very long"])
@pytest.mark.parametrize(
    "usage",
    [
        lambda count: {"prompt_tokens": count},
        lambda count: {"completion_tokens": count},
        lambda count: {"prompt_tokens_details": {"cached_tokens": count}},
        lambda count: {"completion_tokens_details": {"reasoning_tokens": count}},
    ],
    ids=["prompt", "completion", "cached", "reasoning"],
)
def test_a_response_of_more_tokens_than_can_be_stored_is_no_reply(ask, usage, count):
    failure, _, _ = ask([reply("yes", usage=usage(count))] * 2, retries=1)
    assert isinstance(failure, JudgeFailed)
    assert "invalid response: Expected `int` <=" in str(failure)
    assert len(str(failure)) < 500


def test_a_question_is_a_request_and_a_response_is_a_reply(ask):
    usage = {
        "prompt_tokens": 900,
        "completion_tokens": 30,
        "prompt_tokens_details": {"cached_tokens": 800},
        "completion_tokens_details": {"reasoning_tokens": 20},
    }
    asked = question("Look:", picture(), "Done?", parameters={"temperature": 0, "seed": 7, "image_size": 512})
    answer, server, _ = ask([reply("yes", usage=usage, model="gpt-4o-2024-08-06")], asked)
    assert (answer.text, answer.model, answer.ending) == ("yes", "gpt-4o-2024-08-06", Ending.COMPLETE)
    assert answer.usage == TokenUsage(prompt=900, completion=30, reasoning=20, cached=800)
    (exchange,) = server.exchanges
    assert exchange.path == "/v1/chat/completions"
    assert (exchange.key, exchange.headers["authorization"]) == (asked.key, f"Bearer {KEY}")
    system, user = exchange.body.pop("messages")
    assert exchange.body == {"model": "gpt-4o", "temperature": 0, "seed": 7}
    assert system == {"role": "system", "content": "Judge."}
    assert [part["type"] for part in user["content"]] == ["text", "image_url", "text"]
    url = user["content"][1]["image_url"]["url"]
    with Pillow.open(io.BytesIO(b64decode(url.removeprefix("data:image/jpeg;base64,")))) as sent:
        assert (sent.format, sent.size) == ("JPEG", (512, 128))


def test_a_schema_asks_for_structured_output(ask):
    _, server, _ = ask(["{}"], question(schema=SCHEMA))
    assert server.exchanges[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "a_step", "schema": SCHEMA, "strict": True},
    }


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_without_structured_output_is_asked_without_it_from_then_on(status):
    def script(exchange):
        return failure(status, "unknown field") if "response_format" in exchange.body else '{"ok": true}'

    with serve(script) as server:
        judge = OpenAIJudge("gpt-4o", server.url)
        replies = [judge.answer(question(str(number), schema=SCHEMA)) for number in range(3)]
    assert {answer.text for answer in replies} == {'{"ok": true}'}
    assert ["response_format" in exchange.body for exchange in server.exchanges] == [True, False, False, False]
    assert server.keys[0] == server.keys[1]


def test_a_request_that_is_refused_in_both_forms_fails_with_the_message_of_the_server(ask):
    error, server, _ = ask([failure(400, "temperature is not supported")], question(schema=SCHEMA))
    assert "status 400: temperature is not supported; correct the model or the parameters" in str(error)
    assert (error.outcome, len(server.exchanges)) == ("unreachable", 2)


@pytest.mark.parametrize(
    ("answers", "waits"),
    [
        ([failure(429, retry_after="7")], [7.0]),
        ([failure(429, retry_after="7", retry_after_ms="250")], [0.25]),
        ([failure(503, retry_after="86400")], [60.0]),
        ([failure(429, retry_after="-3")], [0.0]),
        ([failure(429, retry_after=formatdate(0))], [0.0]),
        ([failure(429, retry_after=formatdate(time.time() + 9_000))], [60.0]),
    ],
)
def test_a_server_says_when_it_is_asked_again(ask, answers, waits):
    answer, server, waited = ask([*answers, "yes"])
    assert (answer.text, waited) == ("yes", waits)
    assert len(set(server.keys)) == 1


@pytest.mark.parametrize(
    "answer",
    [
        failure(408),
        failure(409),
        failure(429, retry_after="soon"),
        failure(429, retry_after="nan"),
        failure(500),
        failure(502),
        failure(529),
        Answer(b"<html>gateway</html>", 502),
        Answer(b"<html>welcome</html>"),
        Answer({"object": "list", "data": []}),
        Answer(completion("yes", choices=[])),
        Answer(b"[" * 100_000),
        Answer(completion("yes"), dropped=True),
        Answer(silent=True),
    ],
    ids=[408, 409, "soon", "nan", 500, 502, 529, "page 502", "page", "list", "no choice", "deep", "dropped", "silent"],
)
def test_what_may_pass_is_tried_again_after_longer_and_longer_waits(ask, answer):
    reply, server, waits = ask([answer, answer, answer, "yes"])
    assert reply.text == "yes"
    assert (len(server.exchanges), len(waits)) == (4, 3)
    assert 0.5 <= waits[0] < waits[1] < waits[2] <= 3.0
    assert waits[1] == pytest.approx(2 * waits[0])


def test_after_the_last_attempt_there_is_no_reply(ask):
    error, server, waits = ask([failure(500, "overloaded")], retries=2)
    assert (error.outcome, len(server.exchanges), len(waits)) == ("unreachable", 3, 2)
    assert "no reply from 127.0.0.1:" in str(error)
    assert "in 3 attempts: status 500: overloaded; check the server" in str(error)
    assert not isinstance(error, ReplyLost)


@pytest.mark.parametrize(
    "answer", [Answer(completion("yes"), seconds=2), Answer(completion("yes"), pause=0.02), Answer(silent=True)]
)
def test_a_reply_that_does_not_arrive_may_have_been_paid_for(ask, answer):
    started = time.monotonic()
    error, _, _ = ask([answer], retries=0, timeout=0.3)
    assert isinstance(error, ReplyLost)
    assert "in 1 attempt: " in str(error)
    assert time.monotonic() - started < 1.5


def test_a_server_that_is_not_there_charges_nothing(ask):
    with serve(["yes"]) as server:
        pass
    with pytest.raises(JudgeFailed, match=r"no reply from 127\.0\.0\.1") as caught:
        OpenAIJudge("gpt-4o", server.url, retries=1, sleep=lambda _: None).answer(question())
    assert not isinstance(caught.value, ReplyLost)


@pytest.mark.parametrize(("status", "is_refused"), [(401, True), (403, True), (404, False), (400, False)])
def test_a_refused_key_is_told_from_other_errors(ask, status, is_refused):
    error, server, _ = ask([failure(status)])
    assert isinstance(error, KeyRefused) is is_refused
    assert (error.outcome, len(server.exchanges)) == ("unreachable", 1)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (failure(401, f"Incorrect API key provided: {KEY}"), "refused the key; set OPENAI_API_KEY to a valid one"),
        (failure(403, f"{KEY} may not"), "status 403: *** may not; use a key that may ask model 'gpt-4o'"),
        (failure(404, "no such model"), "status 404: no such model; check that the server has model 'gpt-4o'"),
        (failure(429, "no money", "insufficient_quota"), "no money; check the quota and the billing"),
    ],
)
def test_what_no_attempt_can_change_fails_at_once(ask, answer, message):
    error, server, waits = ask([answer], question(schema=SCHEMA))
    assert message in str(error)
    assert KEY not in str(error)
    assert "\n" not in str(error)
    assert error.__cause__ is None
    assert (error.outcome, len(server.exchanges), waits) == ("unreachable", 1, [])


@pytest.mark.parametrize(
    ("answer", "ending"),
    [
        (reply('{"ok": tr', finish_reason="length"), Ending.TRUNCATED),
        (reply(None, finish_reason="content_filter"), Ending.FILTERED),
        (failure(400, "filtered", "content_filter"), Ending.FILTERED),
        (reply(None, refusal="I cannot."), Ending.REFUSED),
        (reply("wrong schema"), Ending.COMPLETE),
        (reply("yes", finish_reason="eos_token"), Ending.COMPLETE),
        (reply(None, usage=None), Ending.COMPLETE),
    ],
)
def test_a_reply_says_how_it_ended(ask, answer, ending):
    answer, server, _ = ask([answer], question(schema=SCHEMA))
    assert (answer.ending, len(server.exchanges)) == (ending, 1)


@pytest.mark.parametrize("model", ["gpt-4o-mini", "gpt-4", "gpt-4o-mini-2024-07-18", "", "GPT-5\n"])
def test_another_model_is_a_failure(ask, model):
    error, server, _ = ask([reply("yes", model=model), "yes"])
    assert isinstance(error, ReplyLost)
    assert f"replied with model '{model.strip()}'; ask for it" in str(error)
    assert len(server.exchanges) == 1


def test_a_reply_that_ended_for_an_unknown_reason_is_lost(ask):
    error, _, _ = ask([reply("ye", finish_reason="error")])
    assert isinstance(error, ReplyLost)
    assert "finish_reason 'error'" in str(error)


def test_half_characters_of_both_sides_do_no_harm(ask):
    answer, server, _ = ask(["\ud800"], question("\udfff", parameters={"temperature": 0}))
    assert answer.text == "\\ud800"
    assert server.exchanges[0].text == "\\udfff"


def test_a_damaged_screenshot_is_an_error_of_the_recording():
    with serve(["yes"]) as server, pytest.raises(RecordingError, match=r"screenshot1\.png: cannot read image"):
        OpenAIJudge("gpt-4o", server.url).answer(question(Image("screenshot1.png", sha256(b""))))
    assert not server.exchanges


def test_a_parameter_that_the_plugin_sets_is_refused():
    with serve(["yes"]) as server, pytest.raises(SettingsError, match="invalid judge parameter 'stream'"):
        OpenAIJudge("gpt-4o", server.url).answer(question(parameters={"stream": True}))


def test_a_local_server_needs_no_key(monkeypatch, ask):
    monkeypatch.delenv("OPENAI_API_KEY")
    answer, server, _ = ask(["yes"])
    assert answer.text == "yes"
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    assert OpenAIJudge("gpt-4o").model == "gpt-4o"


@pytest.mark.parametrize(
    ("url", "key", "message"),
    [
        (None, "", "no key for api.openai.com; set the environment variable OPENAI_API_KEY"),
        ("http://10.0.0.1:8000/v1", "", "no key for 10.0.0.1:8000"),
        (None, "schlüssel", "invalid OPENAI_API_KEY; set it to a key of ASCII characters$"),
        ("ftp://judge.test", KEY, "invalid base URL"),
        ("http://judge.test:port", KEY, "invalid base URL"),
        ("judge.test", KEY, "invalid base URL"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_asked(monkeypatch, url, key, message):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(SettingsError, match=message) as caught:
        OpenAIJudge("gpt-4o", url)
    assert "schl" not in str(caught.value)


@pytest.mark.parametrize(
    ("module", "message"), [("openai", "requires openai"), ("PIL", "a judge that sees screenshots requires Pillow")]
)
def test_a_missing_library_is_named_with_the_extra(monkeypatch, module, message):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SettingsError, match=rf"{message}; install it with pip install 'pytest-webeval\[judge\]'"):
        OpenAIJudge("gpt-4o")


def test_the_package_imports_neither_client_nor_pillow():
    code = (
        "import sys, pytest_webeval, pytest_webeval.judges.remembering, pytest_webeval.judges.openai_judge\n"
        "print({'openai', 'PIL', 'httpx2', 'httpx'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "set()\n"


def test_the_key_is_in_no_log(ask, caplog):
    caplog.set_level(0)
    ask([failure(500, KEY), failure(401, KEY)])
    assert caplog.text
    assert KEY not in caplog.text


def test_threads_ask_at_the_same_time_within_their_bound():
    with serve(lambda exchange: reply(exchange.text)._replace(seconds=0.05)) as server:
        judge = OpenAIJudge("gpt-4o", server.url)
        models = dict.fromkeys(Role, "gpt-4o")
        calls = JudgeCalls(answer=judge.answer, models=models, method="method", version="1", concurrency=3)
        values = calls.ask_all(Request("echo", build_messages("Repeat.", str(number)), int) for number in range(12))
    assert values == list(range(12))
    assert server.most_at_once == 3


def test_no_redirect_is_followed_to_a_host_that_nobody_named():
    with serve(["secret reply"]) as other:
        moved = Answer({}, 307, {"Location": f"{other.url}/chat/completions"})
        with serve([moved]) as server, pytest.raises(JudgeFailed) as caught:
            OpenAIJudge("gpt-4o", server.url).answer(question())
    assert caught.value.outcome == "unreachable"
    assert other.exchanges == []
