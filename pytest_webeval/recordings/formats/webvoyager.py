"""WebVoyager's runs: `task<id>/interact_messages.json`, `screenshot<N>.png`, `agent.log`.

GitHub `MinorJerry/WebVoyager` at 5a78967: `run.py` and `utils.py` write the chat, `evaluation/auto_eval.py` judges and
prints. The answer is a line of the chat and the verdict is stored nowhere. The copy `TsinghuaC3I/webOne` at 96faaff
keeps what the judge said in `eval_res.json`, by its own `evaluation/auto_eval.py`. The rule of both: `NOT SUCCESS` in
the reply is a failure, else `SUCCESS` a success.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.inputs import MAX_FILE_BYTES
from pytest_webeval.recordings.recorded_files import JsonFields, RecordedFiles, join_texts
from pytest_webeval.recordings.trajectory.answer import Usage
from pytest_webeval.recordings.trajectory.recorded import (
    Judgement,
    OutcomeClass,
    ReplyForm,
    Trajectory,
    TrajectoryOutcome,
)
from pytest_webeval.recordings.trajectory.step import Screenshot, Step, UnreadableTrajectory, build_step
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.safety.text import pluralize, preview

MESSAGES = "interact_messages.json"
LOG = "agent.log"
VERDICT = "eval_res.json"
TASK_BEGIN, TASK_END, START_END = "Now given a task:", "Please interact with", " and get the answer"
ROUND, ERROR = "INFO - Iter: ", "ERROR - "
BROWSER_LOST = (
    "ERROR - Driver error when adding set-of-mark.",
    "ERROR - Driver error when obtaining accessibility tree.",
)
JUDGE, JUDGE_AGAIN = "stored judge", "judge the run again"
REFUSED = "content_filter"  # what the copy writes in place of a reply
MOST_ERROR = 300  # characters
_SHOT = re.compile(r"screenshot\d{1,6}\.png")  # not screenshot3_no_box.png, the same page without labels
_TOKENS = re.compile(r"INFO - Prompt Tokens: (\d{1,12}); Completion Tokens: (\d{1,12})")
_PART = re.compile(r"Thought:|Action:|Observation:")
# At the beginning of an action. `utils.extract_information` looks anywhere: it does a click that an answer mentions.
_ACTIONS = (
    ("answer", re.compile(r"ANSWER[;: \n]+(?P<content>.*)", re.DOTALL)),
    ("click", re.compile(r"Click \[?(?P<number>\d{1,9})\]?")),
    ("type", re.compile(r"Type \[?(?P<number>\d{1,9})\]?[; ]+(?P<content>.*)", re.DOTALL)),
    ("scroll", re.compile(r"Scroll \[?(?P<number>\d{1,9}|WINDOW)\]?[; ]+\[?(?P<content>up|down)\]?")),
    ("wait", re.compile(r"Wait\b")),
    ("goback", re.compile(r"GoBack\b")),
    ("google", re.compile(r"Google\b")),
)


class Message(Struct, frozen=True):
    """A message of the chat, without its images."""

    role: str
    text: str


class Reply(Struct, frozen=True):
    """What the agent said in one round."""

    thought: str
    action: str
    arguments: dict[str, str]


def read(files: RecordedFiles) -> Trajectory:
    """The trajectory of a chat. Raises `UnreadableTrajectory`."""
    entries = JsonFields({"messages": _read_list(files, MESSAGES)}, MESSAGES, files.warnings).objects("messages")
    messages = [Message(entry.text("role") or "", _join(entry)) for entry in entries]
    log = (files.read_text(LOG) or "").splitlines()
    shots = tuple(shot for shot in files.list_images("", "screenshot") if _SHOT.fullmatch(shot.name))
    steps = tuple(_read_steps(messages, {shot.number: shot for shot in shots}))
    answer = str(steps[-1].arguments["content"]) if steps and steps[-1].action == "answer" else None
    question = next((message.text for message in messages if TASK_BEGIN in message.text and message.role == "user"), "")
    errors = (line.removeprefix(ERROR).strip() for line in reversed(log) if line.startswith(ERROR))
    return Trajectory(
        inputs=files.inputs,
        outcome=_classify(messages, answer, log),
        answer=answer,
        steps=steps,
        screenshots=shots,
        judgements=tuple(_read_judgements(files, answer)),
        task_text=_between(question, TASK_BEGIN, TASK_END),
        start_url=_between(question, TASK_END, START_END) or None,
        usage=_read_usage(files, log, len(steps)),
        benchmark="webvoyager",
        last_error=next(filter(None, errors), "")[:MOST_ERROR] or None,
    )


def parse_reply(text: str) -> Reply:
    """The thought and the action of a reply; `unparsed` where it has not the form that the agent was asked for."""
    parts = _PART.split(text)
    if "Thought:" not in text or "Action:" not in text or len(parts) < 3:
        return Reply(text.strip(), "unparsed", {})
    thought, action = parts[1].strip(), parts[2].strip()
    for name, pattern in _ACTIONS:
        if found := pattern.match(action):
            values = {key: _unbracket(value) for key, value in found.groupdict().items()}
            return Reply(thought, name, values)
    return Reply(thought, "unparsed", {"text": action})


def _classify(messages: Sequence[Message], answer: str | None, log: Sequence[str]) -> TrajectoryOutcome:
    """A chat ends with an answer, with the last action that was allowed, or with a page that no model answered for."""
    if answer is not None:
        reasons = () if answer.strip() else ("empty_answer",)
        return TrajectoryOutcome(OutcomeClass.COMPLETED, reasons, "the agent answered")
    replies = sum(message.role == "assistant" for message in messages)
    if _has_lost_browser(log, replies):
        return TrajectoryOutcome(OutcomeClass.ABORTED, ("browser_lost",), "the browser did not show its page any more")
    if not messages or messages[-1].role != "assistant":
        return TrajectoryOutcome(OutcomeClass.ABORTED, ("no_reply",), "the model gave no reply to the last page")
    message = f"the agent gave no answer in {pluralize(replies, 'step')}"
    return TrajectoryOutcome(OutcomeClass.OVER_BUDGET, ("no_answer",), message)


def _has_lost_browser(log: Sequence[str], replies: int) -> bool:
    """Whether the last round, which has the number of the replies before it, began with an error of the browser.

    The log holds the errors of actions with texts of the page, which may say the same. So a round counts only if no
    error was logged before it began: a browser that an action seems to have broken is no reason to leave a run out.
    """
    rounds = [place for place, line in enumerate(log) if line.startswith(ROUND)]
    begins = [[f"{ROUND}{replies}", error] for error in BROWSER_LOST]
    if not rounds or list(log[rounds[-1] : rounds[-1] + 2]) not in begins:
        return False
    before = rounds[-2] if len(rounds) > 1 else 0
    return not any(line.startswith(ERROR) for line in log[before : rounds[-1]])


def _read_list(files: RecordedFiles, name: str) -> list[Any]:
    try:
        content = files.inputs.read(name, MAX_FILE_BYTES)
    except RecordingError as error:
        raise UnreadableTrajectory("file_missing", str(error)) from error
    value = files.parse_value(name, content)
    if not isinstance(value, list):
        raise UnreadableTrajectory(
            "json_invalid", f"{name} holds no list of messages; re-record the run, or fix the file"
        )
    return value


def _join(entry: JsonFields) -> str:
    """The text of a message, which is one, or a list of texts and images."""
    content = entry.raw.get("content")
    return join_texts(content) if isinstance(content, list) else entry.text("content") or ""


def _read_steps(messages: Sequence[Message], shots: dict[int, Screenshot]) -> Iterator[Step]:
    """A step for each reply. In round N the agent saw screenshot N; after an error there is no new one."""
    places = [place for place, message in enumerate(messages) if message.role == "assistant"]
    for index, place in enumerate(places, 1):
        reply = parse_reply(messages[place].text)
        answers = messages[place + 1 : place + 2]
        yield build_step(
            index,
            reply.action,
            reply.arguments,
            thought=reply.thought,
            observation=next((message.text for message in answers if message.role == "user"), None),
            before=shots.get(index),
            after=shots.get(index + 1),
        )


def _unbracket(text: str) -> str:
    """A text without the brackets around all of it, which the agent was shown in the form of an action."""
    text = text.strip()
    is_bracketed = text.startswith("[") and text.endswith("]") and text.find("]") == len(text) - 1
    return text[1:-1].strip() if is_bracketed else text


def _between(text: str, begin: str, end: str) -> str:
    _, _, rest = text.partition(begin)
    found, mark, _ = rest.partition(end)
    return found.strip() if mark else ""


def _read_judgements(files: RecordedFiles, answer: str | None) -> Iterator[Judgement]:
    """The verdict that a copy of WebVoyager keeps. Raises `UnreadableTrajectory` for a damaged one.

    That copy stores 0 where the judge's model refused: nobody judged then. A reply with neither word is no verdict, and
    a number next to it is an error, whichever it is.
    """
    if not exists_no_follow(files.path / VERDICT):
        return
    entries = _read_list(files, VERDICT)
    last = entries[-1] if entries and isinstance(entries[-1], dict) else {}
    reply, stored = last.get("content"), last.get("success")
    if not isinstance(reply, str) or isinstance(stored, bool) or stored not in (0, 1):
        values = f"content {preview(reply, 40)} and success {preview(stored, 40)}"
        problem = f"the last message of {VERDICT} has {values}, expected a text and 0 or 1"
        raise UnreadableTrajectory("score_unreadable", f"{problem}; {JUDGE_AGAIN}")
    is_refused, has_verdict = reply == REFUSED, "SUCCESS" in reply
    why = f"the judge's model refused the run ({REFUSED})" if is_refused else None
    why = why if is_refused or has_verdict else "the judge's reply has neither SUCCESS nor NOT SUCCESS"
    if is_refused and not stored:
        yield Judgement(source=VERDICT, judge=JUDGE, ungraded=why)
        return
    if why is not None:
        problem = f"{VERDICT} stores success {stored}, but {why}"
        raise UnreadableTrajectory("score_unreadable", f"{problem}; {JUDGE_AGAIN}")
    is_unanswered = answer is None and stored == 1
    yield Judgement(
        source=VERDICT,
        judge=JUDGE,
        success=stored == 1,
        reply=reply,
        reply_form=ReplyForm.CAPITALS,
        contradictions=("the judge says success, but the chat has no answer to judge",) if is_unanswered else (),
    )


def _read_usage(files: RecordedFiles, log: Sequence[str], replies: int) -> Usage | None:
    """Tokens of all calls. Answers and errors are logged as they are: lines more than replies may be part of one."""
    counts = [found.groups() for line in log if (found := _TOKENS.fullmatch(line))]
    if not counts:
        return None
    if len(counts) != replies:
        files.warnings.add(f"{LOG} counts tokens of {len(counts)} calls, and there are {replies} replies; ignored")
        return None
    return Usage(sum(int(prompt) for prompt, _ in counts), sum(int(done) for _, done in counts), num_calls=replies)
