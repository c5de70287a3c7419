from __future__ import annotations

import subprocess
import sys
from decimal import Decimal

import pytest

from pytest_webeval.errors import JudgeFailed, SettingsError
from pytest_webeval.judges.calls import build_messages
from pytest_webeval.judges.prices import load_prices
from pytest_webeval.judges.questions import Question, Reply, TokenUsage
from pytest_webeval.judges.spending import SpendingLimit, estimate
from tests.unit.judges.scripted import image

PRICES = load_prices()


def question(text="x" * 30, *parts, **changes):
    fields = {"model": "gpt-4o", "method": "method", "version": "1", "step": "s", "messages": build_messages("", text)}
    return Question(**(fields | {"parameters": {"max_completion_tokens": 1_000}} | changes))


def limit_of(path, usd="0.05"):
    return SpendingLimit(Decimal(usd), path / "ledger.jsonl", PRICES)


def reply(prompt=0, completion=0, model="gpt-4o"):
    return Reply(text="", model=model, usage=TokenUsage(prompt=prompt, completion=completion))


def test_an_estimate_counts_bytes_pictures_and_the_longest_reply():
    price = PRICES.rows["gpt-4o"]
    base = estimate(question(), price)
    assert base == price.cost(TokenUsage(prompt=11, completion=1_000))  # 30 bytes, and 2 of the schema
    assert estimate(question("文" * 30), price) - base == price.cost(TokenUsage(prompt=20))
    seen = question(messages=build_messages("", "x" * 30, image(1), image(2)))
    assert estimate(seen, price) - base == price.cost(TokenUsage(prompt=3_000))
    assert estimate(question(parameters={"max_tokens": 10}), price) < base < estimate(question(parameters={}), price)


def test_a_reservation_counts_until_it_is_settled_or_released(tmp_path):
    limit = limit_of(tmp_path)
    amount = estimate(question(), PRICES.rows["gpt-4o"])
    first, second = limit.reserve(question()), limit.reserve(question())
    assert limit.spent == 2 * amount
    first.settle(reply(1_000, 100))
    assert limit.spent == Decimal("0.0035") + amount
    second.release()
    assert limit.spent == Decimal("0.0035")
    assert limit_of(tmp_path).spent == Decimal("0.0035")


def test_a_reply_without_counted_tokens_keeps_its_estimate(tmp_path):
    limit = limit_of(tmp_path)
    limit.reserve(question()).settle(reply())
    assert limit.spent == estimate(question(), PRICES.rows["gpt-4o"])


@pytest.mark.parametrize(
    ("model", "usd"), [("gpt-4o-2024-05-13", "0.005"), ("gpt-4o-2024-08-06", "0.0025"), ("?", "0.0025")]
)
def test_the_price_is_that_of_the_version_that_replied(tmp_path, model, usd):
    limit = limit_of(tmp_path)
    limit.reserve(question()).settle(reply(1_000, model=model))
    assert limit.spent == Decimal(usd)


def test_a_question_that_does_not_fit_is_not_asked(tmp_path):
    limit = limit_of(tmp_path, "0.015")
    limit.reserve(question())
    message = (
        r"the judge would exceed --webeval-judge-max-usd: \$0.0100 of \$0.015 are spent or reserved, and this question"
        r" may cost \$0.0100; raise --webeval-judge-max-usd"
    )
    with pytest.raises(JudgeFailed, match=message) as caught:
        limit.reserve(question())
    assert caught.value.outcome == "over_limit"


def test_a_limit_needs_a_price(tmp_path):
    with pytest.raises(
        SettingsError,
        match=r"no price for model 'local'.*add it to a file for --webeval-judge-prices: write \[\"MODEL\"\]",
    ):
        limit_of(tmp_path).reserve(question(model="local"))
    assert not (tmp_path / "ledger.jsonl").exists()


@pytest.mark.parametrize("torn", [b'{"id": "0123", "us', b"\n", b"null\n", b'{"id": 1, "usd": "x"}\n', b"\xff\xff"])
def test_a_line_that_a_killed_process_did_not_complete_says_nothing(tmp_path, torn):
    first = limit_of(tmp_path)
    first.reserve(question()).settle(reply(1_000))
    with first.ledger.open("ab") as ledger:
        ledger.write(torn)
    for limit in (first, limit_of(tmp_path)):
        limit.reserve(question()).settle(reply(1_000))
    assert first.spent == limit_of(tmp_path).spent == Decimal("0.0075")


def test_a_ledger_that_cannot_be_opened_is_refused(tmp_path):
    with pytest.raises(SettingsError, match=r"cannot write .*ledger.jsonl: No such file or directory"):
        limit_of(tmp_path / "missing").reserve(question())


SPEND = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from pytest_webeval.errors import JudgeFailed
from tests.unit.judges.test_spending import limit_of, question, reply

limit = limit_of(Path(sys.argv[1]), "0.25")

def spend(_):
    try:
        limit.reserve(question()).settle(reply(1_000, 100))
    except JudgeFailed:
        return 0
    return 1

with ThreadPoolExecutor(4) as pool:
    print(sum(pool.map(spend, range(60))))
"""


def test_processes_and_threads_share_a_limit(tmp_path):
    command = [sys.executable, "-c", SPEND, str(tmp_path)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    asked = sum(int(process.communicate(timeout=60)[0]) for process in processes)
    spent = limit_of(tmp_path).spent
    assert spent == asked * Decimal("0.0035") <= Decimal("0.25")
    assert asked >= 60
