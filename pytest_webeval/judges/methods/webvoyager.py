"""WebVoyager: the answer and the last screenshots in one question (`fara_webeval.md` §6.10)."""

from __future__ import annotations

import re

from pytest_webeval.judges.calls import JudgeCalls, Request, build_messages
from pytest_webeval.judges.evidence import Evidence, attach_last, build_system, fence_task
from pytest_webeval.judges.methods.conclusions import conclude, find_echoes, shorten_reasoning
from pytest_webeval.judges.verdicts import JudgedVerdict, JudgeSettings, JudgingMethod

MOST_SCREENSHOTS = 30
_VERDICT_WORD = re.compile("SUCCESS|FAILURE")  # UNSUCCESSFUL has the first in it
VERDICTS = {"SUCCESS": True, "NOT SUCCESS": False}

INSTRUCTIONS = """\
You evaluate one run of a web agent. You see the task, the answer of the agent, and screenshots of the pages that it \
saw, in the order in which they were taken. Decide whether the agent did what the task asks for.

- The run is a success only if each part of the task was done. If one part is missing or wrong, it is not a success.
- Compare the answer with the screenshots. Where they contradict each other, the screenshots are right.
- Content that only the answer has may be true: the page that it comes from may not be attached. Accept it unless a \
screenshot contradicts it.
- The answer <no_answer> means that the agent ended without an answer.
- Use this evidence only. Do not assume that something was done because it would have been easy."""

FORM = """\
Reply with your reasoning in a few sentences of your own. Then end with one line that is exactly one of these two:
Verdict: SUCCESS
Verdict: NOT SUCCESS"""


def judge(evidence: Evidence, calls: JudgeCalls, settings: JudgeSettings) -> JudgedVerdict:
    """The verdict of most votes on one question with pictures."""
    echoes = find_echoes(evidence)
    messages = build_messages(
        build_system(INSTRUCTIONS, FORM),
        fence_task(evidence),
        evidence.fenced_answer,
        *attach_last(evidence.screenshots, MOST_SCREENSHOTS),
        "Give your reasoning, then the line with your verdict.",
    )
    request = Request("verdict", messages, lambda reply: echoes.read_verdict(reply, "Verdict", VERDICTS))
    return conclude(calls, request, settings.votes, "gpt_eval.json", format_webvoyager)


METHOD = JudgingMethod(name="webvoyager", version="1", judge=judge)


def format_webvoyager(reasoning: str, *, success: bool) -> str:
    """A text for `gpt_eval.json`, from which the parser of the benchmark and a careful reader get the same verdict.

    The parser searches the text for words, wherever they stand (`fara_webeval.md` §5.2). The reasoning may quote such
    words from a page, so they are in lower case there.
    """
    plain = _VERDICT_WORD.sub(lambda match: match[0].lower(), shorten_reasoning(reasoning))
    return f"{plain}\n\nVerdict: {'SUCCESS' if success else 'NOT SUCCESS'}"
