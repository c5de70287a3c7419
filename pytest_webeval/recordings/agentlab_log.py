"""The actions and thoughts that an experiment of AgentLab or BrowserGym logs: `experiment.log`.

`_send_chat_info` of `experiments/loop.py` logs thought and action of each step at INFO. Where an environment has no
chat, only the message of DEBUG, the default level of a study, has the action. Before BrowserGym 0.4.0 neither exists.
The texts are logged as they are, so an agent can imitate lines of the log: the reader compares their number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from pytest_webeval.recordings.trajectory.target import Target, build_target

LOG = "experiment.log"
MOST_ACTION = 20_000  # characters
_TIME = r"(?P<date>\d{4}-\d\d-\d\d) (?P<time>\d\d:\d\d:\d\d),(?P<milliseconds>\d{3}) - "
_HEAD = re.compile(_TIME, re.ASCII)
_LOOP = re.compile(
    _TIME + r"(?:\d{1,20} - )?(?:agentlab|browsergym)\.experiments\.loop - (?:INFO|DEBUG) - (?P<text>.*)"
)
_ACTION = "action:\n"
_CHOSEN = "Agent chose action:\n"
_CALL = re.compile(r"\s*([A-Za-z_]\w{0,80})\(", re.ASCII)
_NUMBER = r"(-?\d{1,7}(?:\.\d{1,20})?)"
# `mouse_click(x, y)` and the like of `browsergym/core/action/functions.py`, in pixels of the page.
_POINTED = re.compile(
    rf"^[ \t]*mouse_[a-z_]{{1,20}}\([ \t]*(?:(?:from_)?x[ \t]*=[ \t]*)?{_NUMBER}[ \t]*,"
    rf"[ \t]*(?:(?:from_)?y[ \t]*=[ \t]*)?{_NUMBER}[ \t]*[,)]",
    re.MULTILINE | re.ASCII,
)
_SENT = re.compile(r"^[ \t]*(?:send_msg_to_user|report_infeasible)\(", re.MULTILINE)
# The text of such a call, as in Python. No two alternatives begin with the same character: it is linear.
_TEXT = re.compile(
    r"\s*(?:(?:text|reason)\s*=\s*)?"
    r"(?:\"\"\"(?P<long>(?:[^\"\\]|\\.|\"(?!\"\"))*)\"\"\""
    r"|\"(?!\"\")(?P<double>(?:[^\"\\\n]|\\.)*)\"|'(?P<single>(?:[^'\\\n]|\\.)*)')",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\([nrt\\'\"\n])")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\n": ""}


class LoggedAction(Struct, frozen=True):
    """What the agent chose in a step; `code` is empty where it chose no action, `timestamp` is local time."""

    code: str
    thought: str
    timestamp: str

    @property
    def name(self) -> str:
        """The function that is called first; `none` without an action, and `unparsed` for another text."""
        call = _CALL.match(self.code)
        return call[1] if call else "unparsed" if self.code else "none"

    @property
    def target(self) -> Target | None:
        """Where the mouse was used first; None where it was not."""
        pointed = _POINTED.search(self.code)
        return build_target(float(pointed[1]), float(pointed[2])) if pointed else None


def parse_log(text: str) -> list[LoggedAction]:
    """The actions in their order; those with thoughts if the log has any."""
    messages = list(_split_messages(text.splitlines()))
    sent = [action for message in messages if (action := _parse_sent(*message)) is not None]
    return sent or [_build(body.removeprefix(_CHOSEN), "", time) for time, body in messages if body.startswith(_CHOSEN)]


def find_answer(actions: Sequence[LoggedAction]) -> str | None:
    """The last text that the agent sent to the user; None where it sent none."""
    for action in reversed(actions):
        sent = list(_SENT.finditer(action.code))
        text = _TEXT.match(action.code, sent[-1].end()) if sent else None
        if text is not None:
            return _unescape(next(group for group in text.groups() if group is not None))
    return None


def _split_messages(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Time and text of each message of the loop, which may have several lines."""
    time, body = "", None
    for line in lines:
        if _HEAD.match(line):
            if body is not None:
                yield time, "\n".join(body)
            head = _LOOP.fullmatch(line)
            time = f"{head['date']}T{head['time']}.{head['milliseconds']}" if head else ""
            body = [head["text"]] if head else None
        elif body is not None:
            body.append(line)
    if body is not None:
        yield time, "\n".join(body)


def _parse_sent(time: str, body: str) -> LoggedAction | None:
    """The action in a message that goes to the chat as well; None for any other message."""
    thought, mark, code = body.rpartition(f"\n{_ACTION}")
    if mark:
        return _build(code, thought, time)
    return _build(body.removeprefix(_ACTION), "", time) if body.startswith(_ACTION) else None


def _build(code: str, thought: str, time: str) -> LoggedAction:
    """An action without the words that stand for none."""
    code, thought = (text.strip() for text in (code, thought))
    return LoggedAction(
        "" if code == "None" else code[:MOST_ACTION], "" if thought == "None" else thought[:MOST_ACTION], time
    )


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), text)
