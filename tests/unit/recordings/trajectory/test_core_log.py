"""`core.log`: `fara_webeval.md` §2.5, §7.2, §9."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.recordings.trajectory.side_files import CoreLog, read_core_log

COMPLETED = """\
2026-03-01 10:00:00,000 [INFO] webeval.core.books_find_7 - [Execution books_find_7] Start
2026-03-01 10:00:25,500 [INFO] webeval.core.books_find_7 - [Execution books_find_7] Completed
2026-03-01 10:01:10,000 [INFO] webeval.core.books_find_7 - [Evaluation books_find_7] Completed: score=1, duration=25.5
"""
OVER_BUDGET = """\
2026-03-01 10:05:00,000 [INFO] webeval.core.books_cart_2 - [Execution books_cart_2] Start
2026-03-01 10:05:22,000 [INFO] webeval.core.books_cart_2 - [Execution books_cart_2] Completed
2026-03-01 10:05:22,100 [INFO] webeval.core.books_cart_2 - [Evaluation books_cart_2] Completed: score=0, duration=22.0
"""
FLAGGED = """\
2026-03-01 10:09:00,000 [INFO] webeval.core.books_hours_5 - [Execution books_hours_5] Start
2026-03-01 10:09:30,000 [ERROR] webeval.core.books_hours_5 - Web surfing error
Traceback (most recent call last):
TargetClosedError: Target page, context or browser has been closed
2026-03-01 10:09:31,000 [INFO] webeval.core.books_hours_5 - [Execution books_hours_5] Completed
2026-03-01 10:09:31,100 [WARNING] webeval.core.books_hours_5 - [Evaluation books_hours_5] Cannot load execution result
"""
CRASHED = """\
2026-03-01 10:12:10,000 [INFO] webeval.core.books_hours_6 - [Execution books_hours_6] Start
2026-03-01 10:12:40,000 [ERROR] webeval.core.books_hours_6 - [Execution books_hours_6] Error running task: \
Captcha timed out
"""
CLOSED = "Web surfing error: TargetClosedError: Target page, context or browser has been closed"
CRASH = "Captcha timed out"


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (None, CoreLog()),
        ("", CoreLog()),
        (COMPLETED, CoreLog(1, is_completed=True, evaluation_is_stale=False, session_seconds=25.5)),
        (OVER_BUDGET, CoreLog(1, is_completed=True, evaluation_is_stale=False, session_seconds=22.0)),
        (FLAGGED, CoreLog(1, is_completed=True, last_error=CLOSED, session_seconds=31.0)),
        (CRASHED, CoreLog(1, is_completed=False, crash=CRASH, last_error=CRASH)),
    ],
)
def test_the_worked_examples_say_what_happened(log, expected):
    assert read_core_log(None if log is None else log.encode()) == expected


def line(message, time="2026-03-01 10:00:00,000", level="INFO", task="t"):
    return f"{time} [{level}] webeval.core.{task} - {message}\n"


def event(message, **header):
    return line(f"[Execution {header.get('task', 't')}] {message}", **header)


def judged(message="Completed: score=1, duration=2.0"):
    return line(f"[Evaluation t] {message}")


def read(*lines):
    return read_core_log("".join(lines).encode())


START, DONE, FAILED = event("Start"), event("Completed"), event("Error running task: no network", level="ERROR")
RETRY = line("Retry attempt 1/5")


@pytest.mark.parametrize(
    ("lines", "attempts", "is_completed", "crash"),
    [
        ([START], 1, False, None),
        ([START, DONE], 1, True, None),
        ([START, FAILED], 1, False, "no network"),
        ([START, FAILED, RETRY, START], 2, False, None),
        ([START, FAILED, RETRY, START, DONE], 2, True, None),
        ([START, DONE, START, DONE, START, FAILED], 3, False, "no network"),
        ([DONE], 0, True, None),
        ([event("Skipping (already has answer).")], 0, False, None),
        ([judged("Start"), judged()], 0, False, None),
        ([START, judged("Start"), judged()], 1, False, None),
        ([START, event("Error running task: ", level="ERROR")], 1, False, "no reason given"),
        ([START, event("Error running task:", level="WARNING")], 1, False, "no reason given"),
    ],
)
def test_only_the_last_attempt_counts(lines, attempts, is_completed, crash):
    found = read(*lines)
    assert (found.attempts, found.is_completed, found.crash) == (attempts, is_completed, crash)


def test_several_attempts_are_told_of_with_their_number():
    told = "core.log: the task was started 2 times; only the last attempt is scored"
    assert read(START, START).warnings == (told,)
    assert read(START).warnings == ()


@pytest.mark.parametrize(
    ("lines", "is_stale"),
    [
        ([START, DONE], None),
        ([START, DONE, judged()], False),
        ([START, DONE, judged(), START], True),
        ([START, DONE, judged(), START, FAILED], True),
        ([START, DONE, judged(), START, DONE, judged()], False),
        ([START, judged(), judged(), DONE], False),
        ([judged()], False),
        ([START, DONE, judged("Start"), judged("Error evaluating example: x"), START], None),
        ([START, DONE, judged(), judged("Cannot load execution result")], False),
        ([START, DONE, judged(), judged("Start"), START], True),
    ],
)
def test_a_verdict_is_stale_if_the_agent_ran_after_it(lines, is_stale):
    assert read(*lines).evaluation_is_stale is is_stale


def error(message, *more):
    return [line(message, level="ERROR"), *(f"{one}\n" for one in more)]


TRACEBACK = ["Traceback (most recent call last):", '  File "x.py", line 3, in f', "    raise E"]


@pytest.mark.parametrize(
    ("lines", "last_error"),
    [
        (error("Invalid action text: click on me"), "Invalid action text"),
        (error("Error parsing thoughts and action: {..."), "Error parsing thoughts and action"),
        ([line("Agent died: x", level="CRITICAL")], "Agent died"),
        ([line("odd: x", level="WARNING")], None),
        ([*error("first: x"), *error("second: x"), RETRY], "second"),
        ([judged("x"), line("[Evaluation t] Error evaluating example: x", level="ERROR")], "Error evaluating example"),
        ([*error("first: x"), START], None),
        ([START, FAILED, START, *error("second")], "second"),
        ([START, *error("first: x"), FAILED], "no network"),
        ([START, FAILED, *error("Web surfing error")], "Web surfing error"),
        (error("Web surfing error", *TRACEBACK, "asyncio.TimeoutError"), "Web surfing error: asyncio.TimeoutError"),
        (
            error("Web surfing error", *TRACEBACK, "KeyError: 'a'", "", "During handling of it:", *TRACEBACK, "E: b"),
            "Web surfing error: E: b",
        ),
        (error("Web surfing error", *TRACEBACK, "E: b", "Call log:", "  - waiting"), "Web surfing error: E: b"),
        ([*error("Web surfing error", "E: b"), RETRY, "KeyError: of another record\n"], "Web surfing error: E: b"),
        (error("other: x", "E: b"), "other"),
        (["KeyError: of a record cut off\n", START], None),
        (["KeyError: of a record cut off\n"], None),
    ],
)
def test_the_last_error_is_that_of_the_last_attempt_without_what_follows_a_colon(lines, last_error):
    assert read(*lines).last_error == last_error


@pytest.mark.parametrize(
    ("start", "end", "seconds", "is_long"),
    [
        ("2026-03-01 10:00:00,000", "2026-03-01 10:30:00,000", 1800.0, False),
        ("2026-03-01 10:00:00,000", "2026-03-01 10:30:00,001", 1800.001, True),
        ("2026-03-01 23:59:59.500", "2026-03-02 00:00:00.000", 0.5, False),
        ("2026-03-01 10:00:00", "2026-03-01 10:00:01", 1.0, False),
        ("2026-10-25 02:59:00,000", "2026-10-25 02:01:00,000", None, False),
        ("2026-02-30 10:00:00,000", "2026-03-01 10:00:01,000", None, False),
        ("2026-03-01 10:00:00,000", "2026-03-01 25:00:01,000", None, False),
    ],
)
def test_a_session_lasts_from_start_to_completion_if_both_are_times(start, end, seconds, is_long):
    found = read(START, DONE, event("Start", time=start), event("Completed", time=end))
    assert (found.session_seconds, found.is_long) == (seconds, is_long)
    assert (found.attempts, found.is_completed) == (2, True)


def test_an_attempt_that_did_not_complete_has_no_session():
    assert read(event("Start"), event("Completed"), event("Start"), FAILED).session_seconds is None


@pytest.mark.parametrize("task", ["BBC News--3", "a - b", "a] b", "x.y", "größe", "[Execution t] Start"])
def test_events_are_known_whatever_the_task_is_called(task):
    assert read(event("Start", task=task), event("Completed", task=task)) == CoreLog(1, True, session_seconds=0.0)  # noqa: FBT003


def test_events_of_a_logger_with_another_name_are_known():
    assert read("2026-03-01 10:00:00,000 [INFO] other.logger - [Execution t] Start\n").attempts == 1


@pytest.mark.parametrize(
    "text",
    [
        line("the agent said - [Execution t] Start"),
        line("WebSurferEvent(message='[Execution t] Start')"),
        "[Execution t] Start\n",
        "10:00 [INFO] webeval.core.t - [Execution t] Start\n",
        event("Starting up"),
    ],
)
def test_what_only_mentions_an_event_is_none(text):
    assert read(text).attempts == 0


@pytest.mark.parametrize(
    "log",
    [
        f"\ufeff{CRASHED}".encode(),
        CRASHED.replace("\n", "\r\n").encode(),
        b"\xff\xfe\x00\n" + CRASHED.encode() + b"\xff",
        CRASHED.encode() + "ошибка: нет сети\n".encode(),
        (line("x" * 10**6) + CRASHED + "y - [" * 10**5).encode(),
        CRASHED.rstrip().encode(),
    ],
)
def test_damage_around_the_events_does_not_hide_them(log):
    assert read_core_log(log) == CoreLog(1, crash=CRASH, last_error=CRASH)


@pytest.mark.parametrize(
    ("reason", "crash"),
    [
        ("connect wss://sessions.test/devtools?key=secret failed", "connect <url> failed"),
        ("failed (url='https://user:secret@x.test/')", "failed <url>"),
        ("\x1b[31mred\x1b[0m \u202e", "[31mred[0m"),
        ("x" * 5000, "x" * 200),
    ],
)
def test_a_reason_is_one_printable_line_without_addresses(reason, crash):
    found = read(START, event(f"Error running task: {reason}", level="ERROR"))
    assert found.crash == found.last_error == crash


def test_addresses_in_a_traceback_are_not_kept():
    assert (
        read(*error("Web surfing error", "E: at wss://sessions.test/x")).last_error == "Web surfing error: E: at <url>"
    )


PIECES = st.sampled_from([START, DONE, FAILED, judged(), *error("Web surfing error", "E: b"), "\x00\n", "é - [", "\r"])


@given(st.binary(max_size=80) | st.lists(PIECES, max_size=8).map(lambda pieces: "".join(pieces).encode()))
def test_any_bytes_are_a_log(content):
    found = read_core_log(content)
    assert found.attempts <= content.count(b"[Execution t] Start")
    assert all((text or "x").isprintable() for text in (found.crash, found.last_error, *found.warnings))
