from __future__ import annotations

from decimal import Decimal

import pytest

from pytest_webeval.errors import JudgeFailed, RecordingError, WebEvalError
from pytest_webeval.judges.calls import KeyRefused, ReplyLost, build_messages
from pytest_webeval.judges.prices import load_prices
from pytest_webeval.judges.questions import Ending, Question, Reply, TokenUsage
from pytest_webeval.judges.remembering import MemoryJudge, RememberingJudge
from pytest_webeval.judges.reply_store import InvalidReplyFile, ReplyStore
from pytest_webeval.judges.spending import SpendingLimit
from tests.unit.judges.scripted import ScriptedJudge

USAGE = TokenUsage(prompt=1_000, completion=100)


def question(text="Done?"):
    messages = build_messages("Judge.", text)
    return Question(model="gpt-4o", method="method", version="1", step="s", messages=messages)


@pytest.fixture
def store(tmp_path):
    return ReplyStore(tmp_path / "replies")


@pytest.fixture
def limit(tmp_path):
    return SpendingLimit(Decimal(1), tmp_path / "ledger.jsonl", load_prices())


def script(answer):
    if isinstance(answer, str):
        answer = Reply(text=answer, model="gpt-4o", usage=USAGE)
    return ScriptedJudge(lambda _: answer, "gpt-4o")


def test_a_question_is_asked_once(store, limit):
    asked = script("yes")
    judge = RememberingJudge(asked, store, limit)
    replies = [judge.answer(question(text)) for text in ("a", "b", "a", "a")]
    assert {reply.text for reply in replies} == {"yes"}
    assert len(asked.questions) == 2
    assert limit.spent == Decimal("0.007")
    assert judge.model == "gpt-4o"


def test_after_a_refused_key_nothing_is_sent_and_memory_answers(store, limit):
    replies = {"a": Reply(text="yes", model="gpt-4o", usage=USAGE), "b": KeyRefused("shop.test refused the key")}
    asked = ScriptedJudge(lambda question: replies[question.messages[1].text], "gpt-4o")
    judge = RememberingJudge(asked, store, limit)
    spent = judge.answer(question("a")) and limit.spent
    for text in ("b", "c", "b"):
        with pytest.raises(KeyRefused, match="the judge has no valid key") as caught:
            judge.answer(question(text))
        assert caught.value.outcome == "unreachable"
    assert judge.answer(question("a")).text == "yes"
    assert (len(asked.questions), judge.refusal, limit.spent) == (2, "shop.test refused the key", spent)


def test_a_judge_of_memory_asks_nobody(store):
    RememberingJudge(script("yes"), store).answer(question())
    judge = MemoryJudge("gpt-4o", store)
    assert judge.answer(question()).text == "yes"
    assert judge.answer(question()).usage == USAGE
    with pytest.raises(
        JudgeFailed, match=r"no remembered reply of gpt-4o @ method\.s; ask for it with --webeval-j"
    ) as caught:
        judge.answer(question("Other?"))
    assert caught.value.outcome == "forgotten"


def test_a_judge_of_memory_leaves_a_damaged_file_alone_and_another_judge_replaces_it(store):
    RememberingJudge(script("yes"), store).answer(question())
    store.path(question()).write_text("{}")
    with pytest.raises(InvalidReplyFile):
        MemoryJudge("gpt-4o", store).answer(question())
    assert store.path(question()).read_text() == "{}"
    assert RememberingJudge(script("no"), store).answer(question()).text == "no"
    assert MemoryJudge("gpt-4o", store).answer(question()).text == "no"


@pytest.mark.parametrize("ending", [Ending.TRUNCATED, Ending.FILTERED, Ending.REFUSED])
def test_an_incomplete_reply_is_paid_for_and_not_remembered(store, limit, ending):
    asked = script(Reply(text="", model="gpt-4o", ending=ending, usage=USAGE))
    judge = RememberingJudge(asked, store, limit)
    assert [judge.answer(question()).ending for _ in range(2)] == [ending] * 2
    assert (len(asked.questions), limit.spent) == (2, Decimal("0.007"))
    assert store.get(question()) is None


@pytest.mark.parametrize(
    ("error", "is_free"),
    [
        (JudgeFailed("no reply", "unreachable"), True),
        (RecordingError("no picture"), True),
        (ReplyLost("timed out"), False),
        (RuntimeError("a defect"), False),
    ],
)
def test_what_was_reserved_is_released_where_nothing_is_charged(store, limit, error, is_free):
    asked = script(error)
    judge = RememberingJudge(asked, store, limit)
    with pytest.raises(type(error) if isinstance(error, WebEvalError) else ReplyLost, match=str(error)):
        judge.answer(question())
    assert (limit.spent == 0) is is_free
    assert len(asked.questions) == 1


def test_over_the_limit_nothing_is_asked_but_memory_still_answers(store, limit):
    asked = script("yes")
    RememberingJudge(asked, store).answer(question("a"))
    limit.max_usd = Decimal("0.001")
    judge = RememberingJudge(asked, store, limit)
    assert judge.answer(question("a")).text == "yes"
    with pytest.raises(JudgeFailed) as caught:
        judge.answer(question("b"))
    assert (caught.value.outcome, len(asked.questions)) == ("over_limit", 1)
