"""Experiments of AgentLab and BrowserGym: `summary_info.json`, `screenshot_step_<N>.png`, `experiment.log`.

PyPI `browsergym-experiments` 0.2.6 to 0.14.3 and PyPI `agentlab` 0.4.2, whose `experiments/loop.py` replaces it
(`ExpArgs.prepare`, `ExpArgs.run`, `ExpArgs.save_summary_info`; 0.3.0 to 0.4.0 call that of BrowserGym). The keys of the
summary are the same in all. Task, seed and agent are in the name of the directory, and nowhere else but in pickles,
which are never opened. That a reward counts in full, and errors of the agent as failures, follows
`analyze/inspect_results.py`; AgentRewardBench (ea58fb5) takes more than 0.5 for a success.

`_send_chat_info` of `experiments/loop.py` logs thought and action of each step at INFO. Where an environment has no
chat, only the message of DEBUG, the default level of a study, has the action. Before BrowserGym 0.4.0 neither exists.
The texts are logged as they are, so an agent can imitate lines of the log: the reader compares their number.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct

from pytest_webeval.recordings.recorded_files import JsonFields, RecordedFiles
from pytest_webeval.recordings.trajectory.answer import Usage
from pytest_webeval.recordings.trajectory.recorded import (
    RANGE,
    SUPERSEDED,
    Judgement,
    OutcomeClass,
    Trajectory,
    TrajectoryOutcome,
    check_reward,
    judge_reward,
)
from pytest_webeval.recordings.trajectory.step import (
    Screenshot,
    Step,
    Target,
    UnreadableTrajectory,
    build_step,
    build_target,
)
from pytest_webeval.safety.text import pluralize

SUMMARY = "summary_info.json"
VERSIONS = "package_versions.txt"
WRITERS = ("agentlab", "browsergym-core", "browsergym-experiments")
JUDGE = "task reward"
SUPERSEDED_PREFIX = "_"  # `_move_old_exp` puts it before the name when a study runs an experiment again
UNJUDGED = ("openended",)  # `OpenEndedTask.validate` always gives 0: nobody judges it
UNRECORDED = "unrecorded"  # the action of a step that only a pickle holds
MOST_STEPS = 10_000
MOST_ERROR = 300  # characters
_SHOT = re.compile(r"screenshot_step_\d{1,6}\.(?:png|jpg)", re.ASCII)
_MARKED_SHOT = re.compile(r"screenshot_som_step_\d{1,6}\.(?:png|jpg)", re.ASCII)  # the same page with labels
# `<date>_<agent>_on_<task>_<seed>`, and `_<N>` or six hexadecimal digits (until BrowserGym 0.4.0) to make it unique.
_DIRECTORY = re.compile(
    r"_?\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_(?P<agent>.+?)_on_(?P<task>.+?)_(?P<seed>\d+)(?:_\d{1,3}|_[0-9a-f]{6})?",
    re.DOTALL | re.ASCII,
)


_MOVED = "AgentLab moved this experiment away and ran it again"
_SUPERSEDED = TrajectoryOutcome(OutcomeClass.ABORTED, (SUPERSEDED,), _MOVED)


class Summary(Struct, frozen=True):
    """What `summary_info.json` says about the end of an experiment.

    `terminated` is None where the environment raised before it returned the last step.
    """

    reward: float
    steps: int
    terminated: bool | None
    truncated: bool | None
    error: str | None
    has_traceback: bool

    @property
    def is_done(self) -> bool:
        return bool(self.terminated or self.truncated)


def read(files: RecordedFiles) -> Trajectory:
    """The trajectory of an experiment. Raises `UnreadableTrajectory`."""
    fields = files.read_json(SUMMARY)
    summary = parse_summary(fields)
    directory = files.path.absolute().name
    name = match.groupdict() if (match := _DIRECTORY.fullmatch(directory)) else {}
    benchmark = name.get("task", "").partition(".")[0] or None
    shots = _list_shots(files)
    actions = _read_actions(files, summary)
    _check_counts(files, fields, summary, shots)
    prompt, completion = fields.count("stats.cum_input_tokens"), fields.count("stats.cum_output_tokens")
    times = [fields.number(f"stats.cum_{name}_elapsed") for name in ("step", "agent")]
    measured = [time for time in times if time is not None and time >= 0]
    return Trajectory(
        inputs=files.inputs,
        outcome=_SUPERSEDED if directory.startswith(SUPERSEDED_PREFIX) else classify(summary),
        answer=find_answer(actions),
        is_complete=bool(actions),
        steps=tuple(_build_steps(actions, min(summary.steps, MOST_STEPS), shots)),
        screenshots=tuple(shots.values()),
        judgements=(judge(summary, benchmark),),
        usage=None if prompt is None or completion is None else Usage(prompt, completion),
        duration=sum(measured) if measured else None,
        system=name.get("agent"),
        benchmark=benchmark,
        last_error=(summary.error or "")[:MOST_ERROR] or None,
        details=_describe(files, fields, name),
    )


def parse_summary(fields: JsonFields) -> Summary:
    """The end of an experiment. Raises `UnreadableTrajectory` where a member that decides is missing or damaged."""
    fields.check_finite("terminated", "truncated", "err_msg", "stack_trace")
    if "cum_reward" not in fields:
        raise _damaged("cum_reward", fields, RANGE)
    steps = fields.number("n_steps")  # -1 where nothing had begun, in some versions
    if steps is None or steps != int(steps) or steps < -1:
        raise _damaged("n_steps", fields, "a number of steps")
    for key in ("terminated", "truncated"):
        is_missing = key not in fields and steps >= 0  # the writer leaves it out only where nothing had begun
        if is_missing or (fields.raw.get(key) is not None and fields.flag(key) is None):
            raise _damaged(key, fields, "a boolean or null")
    for key in ("err_msg", "stack_trace"):
        if fields.raw.get(key) is not None and fields.text(key) is None:
            raise _damaged(key, fields, "a string or null")
    if fields.text("err_msg") is None and fields.text("stack_trace") is not None:
        raise _damaged("err_msg", fields, "the error that stack_trace belongs to")
    return Summary(
        reward=check_reward(fields.raw["cum_reward"], f"{SUMMARY} cum_reward"),
        steps=max(int(steps), 0),
        terminated=fields.flag("terminated"),
        truncated=fields.flag("truncated"),
        error=fields.text("err_msg"),
        has_traceback=fields.text("stack_trace") is not None,
    )


def classify(summary: Summary) -> TrajectoryOutcome:
    """How an experiment ended. It depends on which members are set, for an error may quote a page.

    gymnasium sets `truncated` at the last step that is allowed, also if the task ends in it: then `terminated` counts.
    """
    reasons, more = ((), "") if summary.error is None else (("agent_reported_error",), "; the agent reported an error")
    if summary.terminated:
        return TrajectoryOutcome(OutcomeClass.COMPLETED, reasons, f"the task ended{more}")
    if summary.truncated:
        message = f"the experiment was stopped after {pluralize(summary.steps, 'step')}{more}"
        return TrajectoryOutcome(OutcomeClass.OVER_BUDGET, ("truncated", *reasons), message)
    if summary.error is None or not summary.has_traceback:
        message = "the experiment was interrupted: it neither ended nor raised an error"
        return TrajectoryOutcome(OutcomeClass.ABORTED, ("interrupted",), message)
    if summary.terminated is None:
        return TrajectoryOutcome(OutcomeClass.ABORTED, ("environment_error",), "the environment raised an error")
    return TrajectoryOutcome(OutcomeClass.COMPLETED, ("agent_error",), "the agent raised an error")


def judge(summary: Summary, benchmark: str | None) -> Judgement:
    """The verdict by the reward, which is the sum over all steps."""
    source = f"{SUMMARY} cum_reward"
    if benchmark in UNJUDGED:
        return Judgement(source=source, judge=JUDGE, ungraded=f"nobody judges a task of {benchmark}")
    return judge_reward(source, JUDGE, summary.reward, tuple(_list_contradictions(summary)), classify(summary))


def _list_contradictions(summary: Summary) -> Iterator[str]:
    """Why nobody can have earned a reward: AgentLab asserts the first, and the loop makes the second impossible."""
    if summary.reward > 0 and summary.error is not None:
        yield f"{SUMMARY} has a reward of {summary.reward:g} and err_msg: an experiment with an error has none"
    if summary.reward > 0 and summary.steps == 0:
        yield f"{SUMMARY} has a reward of {summary.reward:g}, but no step was taken"


def _damaged(key: str, fields: JsonFields, expected: str) -> UnreadableTrajectory:
    value = f"{reprlib.repr(fields.raw[key]):.60}" if key in fields else "nothing"
    problem = f"{SUMMARY} has {value} @ {key}, expected {expected}"
    return UnreadableTrajectory("json_invalid", f"{problem}; run the experiment again, or fix the file")


def _list_shots(files: RecordedFiles) -> dict[int, Screenshot]:
    """The screenshots by the numbers of their steps, which begin with 0; those with labels if there are no others."""
    images = files.list_images("", "screenshot_")
    for pattern in (_SHOT, _MARKED_SHOT):
        if shots := {shot.number: shot for shot in images if pattern.fullmatch(shot.name)}:
            return shots
    return {}


def _read_actions(files: RecordedFiles, summary: Summary) -> Sequence[LoggedAction]:
    """The logged actions if there is one for each step; a last one may have been chosen and not executed."""
    actions = parse_log(files.read_text(LOG) or "")
    if len(actions) in (0, summary.steps, summary.steps + 1):
        return actions
    counts = f"{pluralize(len(actions), 'action')}, and {SUMMARY} counts {pluralize(summary.steps, 'step')}"
    files.warnings.add(f"{LOG} has {counts}; ignored")
    return ()


def _build_steps(actions: Sequence[LoggedAction], count: int, shots: Mapping[int, Screenshot]) -> Iterator[Step]:
    """A step for each action, or for each step that was counted if none is logged."""
    for index in range(len(actions) or count):
        action = actions[index] if actions else None
        yield build_step(
            index + 1,
            action.name if action else UNRECORDED,
            {"code": action.code} if action else None,
            thought=action.thought if action else "",
            timestamp=action.timestamp if action else None,
            before=shots.get(index),
            after=shots.get(index + 1),
            target=action.target if action else None,
        )


def _check_counts(files: RecordedFiles, fields: JsonFields, summary: Summary, shots: Mapping[int, Screenshot]) -> None:
    """Warn of counts that cannot be of one experiment: it has a screenshot before the first step, and after each."""
    steps, total = fields.number("n_steps"), fields.number("stats.cum_steps")
    if steps is not None and total is not None and total != steps + 1:
        files.warnings.add(f"{SUMMARY} has n_steps {steps:g}, but stats.cum_steps {total:g}: expected one more")
    if summary.steps > MOST_STEPS:
        files.warnings.add(f"{SUMMARY} counts {summary.steps} steps; more than {MOST_STEPS} are not listed")
    lost = 0 if summary.is_done or summary.terminated is not None else 1  # the page that the environment did not return
    numbers = sorted(shots)
    has_gaps = any(later != earlier + 1 for earlier, later in pairwise(numbers))
    if numbers and (numbers[0] != 0 or numbers[-1] != summary.steps - lost or has_gaps):
        counts = f"{pluralize(summary.steps, 'step')}, and there are {pluralize(len(numbers), 'screenshot')}"
        files.warnings.add(f"{SUMMARY} counts {counts}, with numbers from {numbers[0]} to {numbers[-1]}")


def _describe(files: RecordedFiles, fields: JsonFields, name: Mapping[str, str]) -> dict[str, Any]:
    lines = (files.read_text(VERSIONS) or "").splitlines()
    packages = [line[:80] for line in lines if line.partition("==")[0] in WRITERS]
    facts = {
        "task": name.get("task"),
        "seed": name.get("seed"),
        "raw_reward": fields.number("cum_raw_reward"),
        "cost_usd": fields.number("stats.cum_cost"),
        "packages": packages[: len(WRITERS)],
    }
    return {key: value for key, value in facts.items() if value}


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
            quoted = next(group for group in text.groups() if group is not None)
            return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), quoted)
    return None


def _split_messages(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
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
    thought, mark, code = f"\n{body}".rpartition(f"\n{_ACTION}")
    return _build(code, thought, time) if mark else None


def _build(code: str, thought: str, time: str) -> LoggedAction:
    code, thought = (text.strip() for text in (code, thought))
    return LoggedAction(
        "" if code == "None" else code[:MOST_ACTION], "" if thought == "None" else thought[:MOST_ACTION], time
    )
