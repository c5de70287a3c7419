"""Actions with which an agent gives its answer, without it: for a judge that must not see the answer."""

from __future__ import annotations

import re

HIDDEN = "(...)"
_LEAST = 4  # characters of an answer that is looked for: a shorter one stands in an action by chance
# What such actions are called in the formats that are read, and by agents whose actions are recorded as texts.
_NAMES = (
    r"final answer|(?:final|give|provide|return|submit|send|set)_?answer|answer(?:_(?:question|task|user))?"
    r"|terminate(?:_(?:task|with_answer))?|done|exit|stop(?:_execution|_and_answer_question)?"
    r"|finish(?:ed|_task|_run)?|(?:mark_)?task_?(?:completed?|done|finished)|(?:complete|finish|end)_task"
    r"|attempt_completion|respond(?:_to_user)?|(?:reply|send_message|message)_to_user|send_msg_to_user"
    r"|report_infeasible|(?:report|return|submit|give)_(?:results?|response|output)"
)
_FLAGS = re.IGNORECASE | re.ASCII | re.MULTILINE
_FRONT = r"\W{0,80}(?:(?:final |next )?action\W{1,80})?(?:\w{1,40}\.)?"
_PATTERNS = (
    # `stop [42]`, `Action: answer(42)`
    re.compile(rf"^{_FRONT}(?P<name>{_NAMES})[ \t]{{0,80}}(?:[(\[{{:;=,]|$)", _FLAGS),
    # `TASK_COMPLETE 42`
    re.compile(rf"^{_FRONT}(?P<name>{_NAMES.upper()})\b", re.ASCII | re.MULTILINE),
    # `None -> TERMINATE: 42`
    re.compile(rf"->\s{{0,80}}(?P<name>{_NAMES})\b", _FLAGS),
    # after other calls
    re.compile(r"(?:\\n|\b)(?P<name>send_msg_to_user|report_infeasible)\s{0,80}\(", _FLAGS),
)
_QUOTED = re.compile(rf"[\"'](?P<name>{_NAMES})[\"']", _FLAGS)  # in an action that is JSON: `{"action": "done", ...}`
_CALL = re.compile(r"(?P<name>\w{1,80})\(")
_IGNORED = re.compile(r"\\[nrt]|[\W_]+")


def hide_answer(action: str, answer: str, *, is_last: bool) -> str:
    """An action without what the agent answers with it. The last action is one that answers if it holds the answer."""
    is_json = action.lstrip()[:1] in ("{", "[")
    patterns = (*_PATTERNS, _QUOTED) if is_json else _PATTERNS
    if matches := [match for pattern in patterns if (match := pattern.search(action))]:
        first = min(matches, key=lambda match: match.start("name"))
        return f"{action[: first.start('name')]}{first['name']}{HIDDEN}"
    plain = _IGNORED.sub("", answer).casefold()
    if is_last and len(plain) >= _LEAST and plain in _IGNORED.sub("", action).casefold():
        call = _CALL.match(action)
        return f"{call['name'] if call else 'action'}{HIDDEN}"
    return action
