"""Lines that a person types, Ctrl-C, and when a recording of a person ends."""

from __future__ import annotations

import io
import os
import signal
import threading

import pytest

from pytest_webeval.recorder.person import MOST_INTERRUPTS, Interrupts, Person, TypedLines, count_interrupts


class Endless(io.StringIO):
    """A terminal at which nobody types."""

    def __next__(self):
        threading.Event().wait()


class Typed(io.StringIO):
    """A terminal at which all lines have been typed. `is_read` is set when there is none any more."""

    def __init__(self, text):
        super().__init__(text)
        self.is_read = threading.Event()

    def __next__(self):
        try:
            return super().__next__()
        except StopIteration:
            self.is_read.set()
            raise


def type_lines(text):
    """Lines that have been typed, and can be taken."""
    typed = Typed(text)
    lines = TypedLines(typed)
    typed.is_read.wait()
    return lines


def take_all(lines):
    """The lines until there is none any more."""
    taken = []
    while not lines.is_finished:
        line = lines.take()
        taken += [] if line is None else [line]
    return taken


def wait_times(count):
    """A browser that is closed after so many looks."""
    looks = iter([True] * count)
    return lambda _seconds: next(looks, False)


def test_lines_are_taken_one_by_one_until_there_is_none():
    lines = type_lines("a\r\n\nb")
    assert take_all(lines) == ["a", "", "b"]
    assert lines.take() is None


def test_nobody_waits_for_a_line():
    lines = TypedLines(Endless())
    assert (lines.take(), lines.is_finished) == (None, False)


def test_a_stream_that_cannot_be_read_has_no_lines():
    assert take_all(TypedLines(io.TextIOWrapper(io.BytesIO(b"\xff\n"), "utf-8"))) == []


@pytest.mark.parametrize(
    ("lines", "interrupts", "looks"),
    [
        (TypedLines(Endless()), 0, 3),
        (type_lines("\n"), 0, 0),
        (TypedLines(Endless()), 1, 0),
        (type_lines(""), 0, 3),  # without a terminal, the window says when
    ],
    ids=["closed window", "Enter", "Ctrl-C", "no terminal"],
)
def test_a_person_is_done_with(lines, interrupts, looks):
    counted = Interrupts()
    counted.count = interrupts
    seen = []
    wait = wait_times(2)
    Person(lines, counted, lambda seconds: seen.append(seconds) or wait(seconds)).wait_until_done()
    assert len(seen) == looks


@pytest.mark.parametrize(
    ("typed", "answer", "printed"),
    [(" yes \n", "yes", "really: \n"), ("\n", "", "really: \n"), ("", None, "really: \n")],
    ids=["line", "empty line", "end"],
)
def test_a_question_is_answered_by_a_line(typed, answer, printed, capsys):
    assert Person(type_lines(typed), Interrupts(), wait_times(0)).ask("really") == answer
    assert capsys.readouterr().out == printed


def test_a_line_that_comes_late_is_an_answer_too():
    source, target = os.pipe()
    with open(source) as stream:  # noqa: PTH123  (a descriptor)
        person = Person(TypedLines(stream), Interrupts(), lambda _: bool(os.write(target, b"late\n")))
        assert person.ask("when") == "late"
        os.close(target)
        while person.lines.take() or not person.lines.is_finished:
            pass


def test_ctrl_c_leaves_a_question_unanswered_and_is_counted():
    with count_interrupts() as interrupts:
        person = Person(TypedLines(Endless()), interrupts, lambda _: signal.raise_signal(signal.SIGINT) or True)
        assert person.ask("answer") is None
        assert interrupts.count == 1
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_many_ctrl_c_end_the_program():
    with count_interrupts():
        for _ in range(MOST_INTERRUPTS):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_a_thread_counts_no_interrupts():
    counts = []

    def count():
        with count_interrupts() as interrupts:
            counts.append(interrupts.count)

    thread = threading.Thread(target=count)
    thread.start()
    thread.join()
    assert counts == [0]
