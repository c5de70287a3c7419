"""Recordings that differ from the expected one in one thing: every family of them, for every task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tests.parity.harness.answer_edits import answer_shapes, answer_values
from tests.parity.harness.body_edits import contents, posts
from tests.parity.harness.choosing import rank
from tests.parity.harness.configurations import configurations, guessed_sites, moved_runs
from tests.parity.harness.entry_damage import damaged_entries
from tests.parity.harness.entry_members import entry_members
from tests.parity.harness.envelopes import envelopes
from tests.parity.harness.event_orders import event_orders, forbidden_events, stray_events
from tests.parity.harness.goldens import golden_draft
from tests.parity.harness.made_up_answers import made_up_answers
from tests.parity.harness.made_up_events import made_up_events
from tests.parity.harness.made_up_forms import made_up_forms
from tests.parity.harness.made_up_numbers import made_up_numbers
from tests.parity.harness.made_up_values import made_up_values
from tests.parity.harness.parameter_orders import parameter_orders
from tests.parity.harness.producers import producers
from tests.parity.harness.query_edits import queries
from tests.parity.harness.recording import Recording
from tests.parity.harness.request_edits import expected_headers, requests
from tests.parity.harness.response_texts import response_texts
from tests.parity.harness.trace_files import trace_files
from tests.parity.harness.tricks import answer_tricks, event_tricks, side_files
from tests.parity.harness.url_edits import urls

FAMILIES = (
    # what the agent answered
    answer_values,
    answer_shapes,
    answer_tricks,
    envelopes,
    response_texts,
    # what its browser sent and received
    event_orders,
    stray_events,
    forbidden_events,
    requests,
    expected_headers,
    urls,
    queries,
    parameter_orders,
    posts,
    contents,
    event_tricks,
    # how that was kept, and what it is compared with
    side_files,
    damaged_entries,
    producers,
    trace_files,
    configurations,
    moved_runs,
    guessed_sites,
)
ONE_ZIP_IN = 4


def mutations(task: Mapping[str, Any]) -> Iterator[Recording]:
    """The recordings of all families for the task, a share of them kept as Playwright traces."""
    draft = golden_draft(task)
    for family in FAMILIES:
        for recording in family(draft):
            yield _kept(recording)


def _kept(recording: Recording) -> Recording:
    """The recording in the file that its name decides."""
    if isinstance(recording.entries, bytes) or rank(recording.name) % ONE_ZIP_IN:
        return recording
    return replace(recording, trace_name="trace.zip")


# Recordings of made-up tasks, numbered from 100,000: options, types and shapes that the data set rarely uses.
SYNTHETIC = (made_up_values, made_up_events, made_up_answers, made_up_forms, made_up_numbers, entry_members)


def synthetic() -> Iterator[Recording]:
    """The recordings of all families of made-up tasks."""
    for family in SYNTHETIC:
        yield from family()
