from __future__ import annotations

import json
import re
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.judges.agent_reward_bench import load_judgments, read_recorded_verdict
from pytest_webeval.judges.questions import Ending, Message, TokenUsage
from pytest_webeval.safety.files import sha256

TRANSCRIPTS = Path(__file__).parents[4] / "shared/corpora/webjudge_7b.tar.xz"
URL = "data:image/png;base64,AAAA"
USAGE = {
    "prompt_tokens": 30,
    "completion_tokens": 5,
    "completion_tokens_details": {"reasoning_tokens": 2},
    "prompt_tokens_details": {"cached_tokens": 20},
}


def judgment(content="Thoughts: fine\nStatus: success", finish="stop", **changes):
    return {
        "judge": "webjudge",
        "judge_model_name": "webjudge-7B",
        "completion_args": {"temperature": 0.0, "seed": 0},
        "chat_messages": [
            {"role": "system", "content": "Judge."},
            {"role": "user", "content": [{"type": "text", "text": "A run"}, {"image_url": {"url": URL}}]},
        ],
        "response": {
            "model": "gpt-4o",
            "choices": [{"finish_reason": finish, "message": {"content": content, "refusal": None}}],
            "usage": USAGE,
        },
    } | changes


def load(directory, document):
    (directory / "task.7.json").write_text(json.dumps(document))
    ((task_id, question, reply),) = load_judgments(directory)
    assert task_id == "task.7"
    return question, reply


def test_a_judgment_is_a_question_with_its_reply(tmp_path):
    question, reply = load(tmp_path, judgment())
    assert (question.model, question.method, question.step) == ("webjudge-7B", "webjudge", "verdict")
    assert question.messages[0] == Message("system", ("Judge.",))
    assert question.messages[1].text == "A run"
    (picture,) = question.images
    assert (picture.name, picture.sha256) == (f"image of {len(URL)} characters", sha256(URL.encode()))
    assert question.parameters == {"temperature": 0.0, "seed": 0}
    assert (reply.model, reply.ending) == ("gpt-4o", Ending.COMPLETE)
    assert reply.usage == TokenUsage(prompt=30, completion=5, reasoning=2, cached=20)
    assert read_recorded_verdict(reply) is True
    assert json.loads(json.dumps(question.to_json())) == question.to_json()


def test_a_picture_that_was_replaced_keeps_its_hash(tmp_path):
    part = {"image_url": {"url": f"image sha256:{'a' * 64} 227850 characters"}}
    question, _ = load(tmp_path, judgment(chat_messages=[{"role": "user", "content": [part]}]))
    (picture,) = question.images
    assert (picture.name, picture.sha256) == ("image of 227850 characters", "a" * 64)


@pytest.mark.parametrize(
    ("finish", "ending"), [("length", Ending.TRUNCATED), ("content_filter", Ending.FILTERED), (None, Ending.COMPLETE)]
)
def test_a_reply_that_was_cut_is_incomplete(tmp_path, finish, ending):
    _, reply = load(tmp_path, judgment(finish=finish))
    assert reply.ending is ending


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"response": {}}, "task.7.json has no chat_messages; name a directory of judgments"),
        (judgment(chat_messages={}), "invalid chat_messages {}"),
        (judgment(chat_messages=["a"]), 'invalid chat_messages "a"'),
        (judgment(chat_messages=[{"role": "user"}]), "has no content"),
        (judgment(chat_messages=[{"role": "user", "content": [{"type": "audio"}]}]), "has no image_url"),
        (judgment(chat_messages=[{"role": "user", "content": ["a"]}]), 'invalid content "a"'),
        (judgment(response={"choices": []}), "invalid choices []"),
        (judgment(content=7), "invalid content 7"),
        (judgment(response=judgment()["response"] | {"usage": {"prompt_tokens": -1}}), "invalid prompt_tokens -1"),
        (judgment(response=judgment()["response"] | {"usage": {"prompt_tokens": 1.5}}), "invalid prompt_tokens"),
    ],
)
def test_a_damaged_judgment_is_refused(tmp_path, document, problem):
    with pytest.raises(SettingsError, match=re.escape(problem)):
        load(tmp_path, document)


@pytest.mark.skipif(not TRANSCRIPTS.exists(), reason="the corpora are not here")
def test_308_public_transcripts_are_replayed_as_recorded(tmp_path):
    with tarfile.open(TRANSCRIPTS) as archive:
        archive.extractall(tmp_path, filter="data")
    verdicts, tokens = Counter(), Counter()
    for path in tmp_path.rglob("*.json"):
        response = json.loads(path.read_bytes())["response"]
        reply = response["choices"][0]["message"]["content"]
        verdicts["success" in [line for line in reply.splitlines() if "Status:" in line][-1]] += 1
        tokens.update({key: response["usage"][key] for key in ("prompt_tokens", "completion_tokens")})
    directories = {path.parent for path in tmp_path.rglob("*.json")}
    judgments = [judgment for directory in directories for judgment in load_judgments(directory)]
    store = {question.key: reply for _, question, reply in judgments}
    assert len(store) == 308  # no two are one question
    assert Counter(map(read_recorded_verdict, store.values())) == verdicts == {False: 247, True: 61}
    usage = sum((reply.usage for reply in store.values()), TokenUsage())
    assert (usage.prompt, usage.completion) == (tokens["prompt_tokens"], tokens["completion_tokens"])
    assert (usage.prompt, usage.completion) == (1_206_473, 28_134)
    assert sum(len(list(question.images)) for _, question, _ in judgments) > 100
    assert all(reply.is_complete for reply in store.values())
