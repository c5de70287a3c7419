"""Write the replies of `example-judge` anew: `python example_suite/record_judge_replies.py [--output DIR]`.

It is no model: its replies are written by hand, below. They are remembered as those of a model are, so that a session
judges the runs without a server. A change of a run, of its screenshots or of a prompt makes another question of it.
"""

from __future__ import annotations

import argparse
import json
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_webeval import find_runs, load_tasks
from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.judging import Judging
from pytest_webeval.judges.methods import load_method
from pytest_webeval.judges.questions import Question, Reply, Role, TokenUsage
from pytest_webeval.judges.remembering import RememberingJudge
from pytest_webeval.judges.reply_store import ReplyStore
from pytest_webeval.judges.verdicts import JudgeSettings
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.redactor import Redactor

SUITE = Path(__file__).parent
STORE = SUITE / "judge_replies"
SOURCES = {SUITE / "unjudged": "unjudged/tasks.json", SUITE / "trajectories": "trajectories/tasks.tsv"}
MODEL = "example-judge"
CHARACTERS, PICTURE = 4, 1000  # characters for each token, and tokens for each picture


def _scored(number: int, points: float, justification: str, *, is_condition_met: bool | None = None) -> dict[str, Any]:
    """A criterion of the task's rubric, with its points."""
    condition = {"is_condition_met": is_condition_met}
    return {"number": number, **condition, "justification": justification, "earned_points": points}


def _written(criterion: str, description: str, points: tuple[float, float], justification: str) -> dict[str, Any]:
    """A criterion of the judge's own: `points` are those that were earned, and the most."""
    earned, most = points
    return {
        "criterion": criterion,
        "description": description,
        "condition": None,
        "max_points": most,
        "is_condition_met": None,
        "justification": justification,
        "earned_points": earned,
    }


def _reply(*criteria: dict[str, Any], intent: str, reasoning: str, outcome: bool | None, missing: str = "") -> str:
    reply = {
        "criteria": criteria,
        "primary_intent": intent,
        "outcome_reasoning": reasoning,
        "insufficient_evidence": missing,
        "outcome": outcome,
    }
    return json.dumps(reply, ensure_ascii=False, indent=1)


IN_CART = "One Pocket Atlas in the cart, and the total."
PRICE = "Price and stock of the Pocket Atlas."

# By task. Runs without a reply here have a stored verdict, or were aborted.
REPLIES = {
    "atlas_cart_1": _reply(
        _scored(1, 5, "Screenshot 3 shows the cart with one Pocket Atlas and nothing else."),
        _scored(2, 2, "The answer gives 12.50 EUR, the total in screenshot 3."),
        intent=IN_CART,
        reasoning="The cart holds exactly one Pocket Atlas, and the answer repeats its total.",
        outcome=True,
    ),
    "atlas_cart_2": _reply(
        _scored(1, 5, "The agent clicked on the button of the right page; nothing shows that the click failed."),
        _scored(2, 1, "12.50 EUR is the price in screenshot 2; no total is visible."),
        intent=IN_CART,
        reasoning="Only the answer says that the atlas is in the cart: the last screenshot has Cart (0).",
        missing="A screenshot of the cart after the click.",
        outcome=None,
    ),
    "atlas_price_3": _reply(
        _written(
            "Find the Pocket Atlas in the shop",
            "All points for its page or its entry in a list, half for a search without success, none otherwise.",
            (0, 4),
            "The agent guessed an address and got the page of the Pocket Radio, as screenshot 2 shows.",
        ),
        _written(
            "Report its price",
            "All points for the price that the shop shows, some for a price that was read correctly elsewhere.",
            (1.5, 3),
            "39.95 EUR was read correctly from the cart, but it is the price of the radio.",
        ),
        _written(
            "Report whether it is in stock",
            "All points for what the shop shows, none for a guess.",
            (1, 2),
            "The radio is in stock. The agent takes it for the atlas, which is the mistake of the first criterion.",
        ),
        intent=PRICE,
        reasoning="The price is that of the Pocket Radio, and a radio that nobody asked for stays in the cart.",
        outcome=False,
    ),
    "books_old_1": _reply(
        _scored(1, 4, "Screenshot 3 is the page of the Pocket Atlas."),
        _scored(2, 3, "12.50 EUR and In stock are both visible and both in the answer."),
        _scored(3, 0, "The atlas is not sold out.", is_condition_met=False),
        intent=PRICE,
        reasoning="Price and stock in the answer are those of the last screenshot.",
        outcome=True,
    ),
}


@dataclass(frozen=True, slots=True)
class ExampleJudge:
    """Gives the same reply to every question. Its tokens are an estimate, so that sessions have some to count."""

    reply: str
    model: str = MODEL

    def answer(self, question: Question) -> Reply:
        """The reply."""
        characters = sum(len(message.text) for message in question.messages)
        prompt = characters // CHARACTERS + PICTURE * len(list(question.images))
        usage = TokenUsage(prompt=prompt, completion=len(self.reply) // CHARACTERS)
        return Reply(text=self.reply, model=self.model, usage=usage)


def main() -> None:
    """Ask about each run with a reply, and remember that."""
    output = _arguments().output
    shutil.rmtree(output, ignore_errors=True)
    for root, tasks_file in SOURCES.items():
        tasks = load_tasks(str(SUITE / tasks_file))
        for run in find_runs(root):
            if reply := REPLIES.get(str(run.task_id)):
                with suppress(JudgeFailed):  # where the judge is uncertain
                    _judging(ExampleJudge(reply), output).judge(run, tasks.get(run.task_id))
                print(run.task_id)
    shutil.rmtree(output / ".locks")


def _judging(judge: ExampleJudge, output: Path) -> Judging:
    """How a session with `--webeval-judge=example-judge` asks."""
    return Judging(
        answer=RememberingJudge(judge, ReplyStore(output)).answer,
        models=dict.fromkeys(Role, judge.model),
        method=load_method("rubric"),
        settings=JudgeSettings(),
        redact=Redactor(RedactionPolicy()).texts,
        find_cost=lambda _usage, _model: None,
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Write the replies of the example judge anew.")
    parser.add_argument("--output", type=Path, default=STORE, metavar="DIR", help="the directory of the replies")
    return parser.parse_args()


if __name__ == "__main__":
    main()
