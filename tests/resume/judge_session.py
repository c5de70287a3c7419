"""A process that asks a judge server 40 questions: `python -m tests.resume.judge_session URL STORE LEDGER`.

It prints the key of each question as soon as it has the reply.
"""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path

from pytest_webeval.judges.calls import build_messages
from pytest_webeval.judges.openai_judge import OpenAIJudge
from pytest_webeval.judges.prices import load_prices
from pytest_webeval.judges.questions import Question
from pytest_webeval.judges.remembering import RememberingJudge
from pytest_webeval.judges.reply_store import ReplyStore
from pytest_webeval.judges.spending import SpendingLimit

COUNT = 40


class CountingJudge(OpenAIJudge):
    """Counts the questions that are sent."""

    sent = 0

    def answer(self, question):
        self.sent += 1
        return super().answer(question)


def build_questions():
    """The questions in their order."""
    fields = {"model": "gpt-4o", "method": "method", "version": "1", "step": "s"}
    return [Question(**fields, messages=build_messages("Judge.", f"Number {number}?")) for number in range(COUNT)]


def main(url, store, ledger):
    limit = SpendingLimit(Decimal(10), Path(ledger), load_prices())
    asked = CountingJudge("gpt-4o", url)
    judge = RememberingJudge(asked, ReplyStore(Path(store)), limit)
    for question in build_questions():
        judge.answer(question)
        print(question.key, flush=True)
    print("sent", asked.sent, "remembered", COUNT - asked.sent, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
