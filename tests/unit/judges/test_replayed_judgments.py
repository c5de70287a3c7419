"""The published judgments of WebJudge as remembered replies."""

from __future__ import annotations

import json
import re
import tarfile
from decimal import Decimal
from pathlib import Path

import pytest

from pytest_webeval.judges.methods.conclusions import STATUS as VERDICTS
from pytest_webeval.judges.methods.conclusions import parse_last_line
from pytest_webeval.judges.prices import load_prices
from pytest_webeval.judges.questions import Image, Message, Question, Reply, TokenUsage
from pytest_webeval.judges.remembering import MemoryJudge
from pytest_webeval.judges.reply_store import ReplyStore
from pytest_webeval.safety.files import sha256

TRANSCRIPTS = Path(__file__).parents[4] / "shared/corpora/webjudge_7b.tar.xz"
MODEL = "webjudge-7B"
INPUT, OUTPUT = Decimal("0.037"), Decimal("0.11")  # USD per million tokens, with more digits than a float sums exactly
STATUS = re.compile(r'Status:\s*"?(success|failure)"?', re.IGNORECASE)


@pytest.fixture
def transcripts(tmp_path):
    """The files of the judgments."""
    if not TRANSCRIPTS.exists():
        pytest.skip("the corpora are not here")
    with tarfile.open(TRANSCRIPTS) as archive:
        archive.extractall(tmp_path / "judgments", filter="data")
    return sorted((tmp_path / "judgments").rglob("*.json"))


def read_status(reply):
    """Whether the last status of a text is a success."""
    return STATUS.findall(reply)[-1].lower() == "success"


def read_part(part):
    if "text" in part:
        return part["text"]
    return Image("a screenshot", sha256(part["image_url"]["url"].encode()))


def read_message(message):
    content = message["content"]
    return Message(message["role"], (content,) if isinstance(content, str) else tuple(map(read_part, content)))


def read_judgment(path):
    """The question of a file, and its reply."""
    judgment = json.loads(path.read_bytes())
    question = Question(
        model=judgment["judge_model_name"],
        method=judgment["judge"],
        version="recorded",
        step="verdict",
        messages=tuple(map(read_message, judgment["chat_messages"])),
        parameters=judgment["completion_args"],
    )
    response = judgment["response"]
    usage = TokenUsage(response["usage"]["prompt_tokens"], response["usage"]["completion_tokens"])
    text = response["choices"][0]["message"]["content"]
    return question, Reply(text=text, model=response["model"], usage=usage)


def test_308_public_judgments_are_replayed_as_recorded_and_cost_what_their_files_add_up_to(transcripts, tmp_path):
    expected, prompt, completion = {}, 0, 0
    for path in transcripts:
        response = json.loads(path.read_bytes())["response"]
        expected[path] = read_status(response["choices"][0]["message"]["content"])
        prompt += response["usage"]["prompt_tokens"]
        completion += response["usage"]["completion_tokens"]
    assert (len(expected), sum(expected.values())) == (308, 61)

    store = ReplyStore(tmp_path / "judge_replies")
    questions = {}
    for path in transcripts:
        questions[path], reply = read_judgment(path)
        store.put(questions[path], reply)
    assert len(list(store.directory.rglob("*.json"))) == len(questions) == 308

    judge = MemoryJudge(MODEL, ReplyStore(tmp_path / "judge_replies"))
    replies = {path: judge.answer(question) for path, question in questions.items()}
    assert {path: parse_last_line(reply.text, "Status", VERDICTS).value for path, reply in replies.items()} == expected

    (tmp_path / "prices.toml").write_text(f'["{MODEL}"]\ninput = {INPUT}\noutput = {OUTPUT}\n')
    prices = load_prices(tmp_path / "prices.toml")
    usage = sum((reply.usage for reply in replies.values()), TokenUsage())
    assert (usage.prompt, usage.completion) == (prompt, completion) == (1_206_473, 28_134)
    assert {question.model for question in questions.values()} == {MODEL}
    costs = [prices.cost(reply.usage, questions[path].model) for path, reply in replies.items()]
    total = (prompt * INPUT + completion * OUTPUT) / 1_000_000
    assert sum(costs) == prices.cost(usage, MODEL) == total == Decimal("0.047734241")
