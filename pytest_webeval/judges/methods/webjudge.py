"""WebJudge of Online-Mind2Web: key points, a score for each screenshot, and a verdict (`fara_webeval.md` §6.11).

As in the benchmark, the answer of the agent is not an input (Q38), nor is what it says with the action that gives the
answer. For tasks that ask for one, use another method.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.calls import InvalidReply, JudgeCalls, Request, build_messages
from pytest_webeval.judges.evidence import Evidence, build_system, fence, fence_task
from pytest_webeval.judges.methods.conclusions import (
    STATUS,
    Conclusion,
    conclude,
    find_echoes,
    parse_last_line,
    shorten_reasoning,
)
from pytest_webeval.judges.questions import Image, Role
from pytest_webeval.judges.verdicts import JudgedVerdict, JudgeSettings, JudgingMethod
from pytest_webeval.safety.text import escape_surrogates, to_line

THRESHOLD = 3  # the score from which on a screenshot is shown to the judge of the verdict
MOST_SCREENSHOTS = 50
_FILE_NAME = f"WebJudge_Online_Mind2Web_eval-{THRESHOLD}.json"
SCORES = {str(score): score for score in range(1, 6)}
_LONGEST_KEY_POINTS = 10_000  # characters
_LONGEST_NOTE = 1_000  # characters
_STATUS_LABEL = re.compile("(status):", re.IGNORECASE)

KEY_POINTS_INSTRUCTIONS = """\
You prepare the evaluation of a web agent. You see the task that a user gave to it. List the key points of the task: \
the requirements that the agent has to meet.

- List only requirements that the task states. Do not add any, and do not guess what else the user may want.
- Words such as best, cheapest, highest, latest or closest are requirements of their own: the matching sort order or \
filter of the site has to be applied."""

KEY_POINTS_FORM = "Reply with a numbered list only, one key point on each line."

SCREENSHOT_INSTRUCTIONS = """\
You prepare the evaluation of a web agent. You see its task, the key points of the task, and one screenshot of the \
run. Score how much the screenshot helps to decide whether the task was done.

5: it shows an indispensable step, or the result that the task asks for.
4: it shows important evidence for a key point.
3: it shows some evidence for a key point.
2: it belongs to the task, but shows little that helps to decide.
1: it shows nothing that helps, such as an empty page, an advertisement, or a page of another subject."""

SCREENSHOT_FORM = """\
Reply with a short description of what the screenshot shows about the key points. Then end with one line with a number \
from 1 to 5:
Score: <number>"""

VERDICT_INSTRUCTIONS = """\
You evaluate one run of a web agent. You see its task, the key points of the task, the actions of the agent in their \
order, and the most important screenshots, with a note on each. The notes come from another model. Decide whether the \
agent met all key points.

- Each filter, sort order and range that the task asks for must have been applied, and with exactly the requested \
value. A broader, narrower or similar value is a failure. A search text does not replace a filter that the site has.
- A filter is not needed if the page already shows only what the filter would leave.
- If the task needs a form to be sent or a choice to be confirmed, the agent must have done so.
- Correct actions with an empty result are a success: the site may have nothing that fits.
- The actions must belong together with what the screenshots show. An action without its effect proves nothing.
- If a key point is not met, or if the evidence shows that the agent stopped before the end, the run is a failure."""

VERDICT_FORM = """\
Reply with your reasoning in a few sentences of your own. Then end with one line that is exactly one of these two:
Status: success
Status: failure"""


class RatedScreenshot(Struct, frozen=True):
    """A screenshot that may show something of a key point, with the note of the judge who scored it."""

    image: Image
    note: str


def judge(evidence: Evidence, calls: JudgeCalls, settings: JudgeSettings) -> JudgedVerdict:
    """The verdict of most votes on the last question, after one about the task and one about each screenshot.

    It does not count if a screenshot has no score.
    """
    key_points = calls.ask(build_key_points_request(evidence))
    requests = [build_screenshot_request(evidence, key_points, image) for image in evidence.screenshots]
    scores: list[Conclusion[int] | JudgeFailed] = calls.ask_all(requests)
    rated = list(_select(evidence.screenshots, scores, calls))[:MOST_SCREENSHOTS]
    request = build_verdict_request(evidence, key_points, rated)
    return conclude(calls, request, settings.votes, _FILE_NAME, format_webjudge)


METHOD = JudgingMethod(name="webjudge", version="2", judge=judge)


def format_webjudge(reasoning: str, *, success: bool) -> str:
    """A text for a score file of WebJudge. Each `status:` begins a verdict there; in the reasoning it gets a space."""
    plain = _STATUS_LABEL.sub(r"\1 :", shorten_reasoning(reasoning))
    return f"Thoughts: {plain}\n\nStatus: {'success' if success else 'failure'}"


def build_key_points_request(evidence: Evidence) -> Request[str]:
    messages = build_messages(build_system(KEY_POINTS_INSTRUCTIONS, KEY_POINTS_FORM), fence_task(evidence))
    return Request("key points", messages, _parse_key_points, role=Role.TEXT)


def build_screenshot_request(evidence: Evidence, key_points: str, image: Image) -> Request[Conclusion[int]]:
    messages = build_messages(
        build_system(SCREENSHOT_INSTRUCTIONS, SCREENSHOT_FORM),
        fence_task(evidence),
        fence("key points", key_points),
        image,
    )
    return Request("screenshot", messages, lambda reply: parse_last_line(reply, "Score", SCORES))


def build_verdict_request(
    evidence: Evidence, key_points: str, rated: Sequence[RatedScreenshot]
) -> Request[Conclusion[bool]]:
    """The question that decides. Notes are fenced: a page may have written what they quote."""
    echoes = find_echoes(evidence)
    shots: list[str | Image] = []
    for number, screenshot in enumerate(rated, 1):
        shots += (f"Screenshot {number}:", screenshot.image)
        if screenshot.note:
            shots.append(fence("note", screenshot.note))
    messages = build_messages(
        build_system(VERDICT_INSTRUCTIONS, VERDICT_FORM),
        fence_task(evidence),
        fence("key points", key_points),
        evidence.history,
        *shots,
        "Give your reasoning, then the line with the status.",
    )
    return Request("verdict", messages, lambda reply: echoes.read_verdict(reply, "Status", STATUS))


def _parse_key_points(reply: str) -> str:
    lines = [line.rstrip() for line in reply.split("\n") if line.strip()]
    key_points: str = escape_surrogates("\n".join(lines))
    if not key_points:
        raise InvalidReply("it is empty; reply with a numbered list of key points")
    if len(key_points) > _LONGEST_KEY_POINTS:
        raise InvalidReply(f"it has {len(key_points):,} characters; use at most {_LONGEST_KEY_POINTS:,}")
    return key_points


def _select(
    images: Sequence[Image], scores: Sequence[Conclusion[int] | JudgeFailed], calls: JudgeCalls
) -> Iterator[RatedScreenshot]:
    for number, (image, score) in enumerate(zip(images, scores, strict=True), 1):
        if isinstance(score, JudgeFailed):
            calls.degrade(f"screenshot {number}", f"no score, not shown to the judge: {score.reason}")
        elif score.value >= THRESHOLD:
            yield RatedScreenshot(image, to_line(score.reasoning, _LONGEST_NOTE))
