"""The tables of the specification: what they say, what the reference says and what we say is three times the same."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.parity.harness import measure_tables, response_tables, text_tables, trace_tables
from tests.parity.harness.recording import Recording
from tests.parity.harness.run_directories import RunDirectory
from tests.parity.harness.synthetic import (
    HOME,
    answered,
    answering,
    entry,
    one_item,
    requested,
    response,
    retrieval,
    task,
)
from tests.parity.harness.verdicts import ERROR

TYPES = {
    "string": text_tables.STRING,
    "location-name": text_tables.LOCATION_NAME,
    "markdown": text_tables.MARKDOWN,
    "json": text_tables.JSON,
    "string_list": text_tables.STRING_LIST,
    "base64": text_tables.BASE64,
    "null": text_tables.NULL,
    "number": measure_tables.NUMBER,
    "integer": measure_tables.NUMBER,
    "currency": measure_tables.CURRENCY,
    "date": measure_tables.DATE,
    "duration": measure_tables.DURATION,
    "distance": measure_tables.DISTANCE,
    "coordinates": measure_tables.COORDINATES,
    "month": measure_tables.MONTH,
    "boolean": measure_tables.BOOLEAN,
    "full_address": measure_tables.FULL_ADDRESS,
}


@pytest.mark.parametrize("kind", TYPES)
def test_value_types(thrice, kind):
    thrice((one_item(kind, wanted, data), said) for wanted, data, said in TYPES[kind])


def test_addresses_as_a_type(thrice):
    thrice(
        (requested({"url": wanted}, entry(url), about=f"{wanted}: {url}"), said)
        for wanted, url, said in text_tables.URL
    )


def content(said):
    """A response file that holds this: bytes, a text or JSON."""
    text = said if isinstance(said, str | bytes) else json.dumps(said)
    return text if isinstance(text, bytes) else text.encode()


def test_responses(thrice):
    wanted = retrieval(["Blue Mug"])
    thrice(
        (Recording(wanted, content(found), (entry(),), f"row {row}: {found!r}"), said)
        for row, found, said in response_tables.RESPONSES
    )


def test_responses_of_a_task_that_navigates(thrice):
    wanted = task(answering("NAVIGATE"))
    rows = response_tables.NAVIGATIONS
    thrice((Recording(wanted, content(found), (entry(),), f"{found!r}"), said) for found, said in rows)


def test_schemas(thrice):
    rows = response_tables.SCHEMAS
    thrice((answered(data, wanted, schema), said) for schema, wanted, data, said in rows)


@pytest.mark.parametrize("ordered", [False, True])
def test_orders(thrice, ordered):
    thrice(
        (answered(data, wanted, schema, ordered=ordered), said[ordered])
        for schema, wanted, data, *said in response_tables.ORDERS
    )


def test_trace_files(thrice):
    wanted, said = retrieval(["Blue Mug"]), response(retrieved_data=["Blue Mug"])
    thrice(
        (Recording(wanted, said, trace, f"{name}: {trace[:60]!r}...", trace_name=name), verdict)
        for name, trace, verdict in trace_tables.LOADERS
    )


@pytest.mark.parametrize("name", ["network.har", "trace.zip"])
def test_malformed_entries(thrice, name):
    thrice(
        (replace(requested({"url": trace_tables.PLACE}, found, about=f"{found}"), trace_name=name), said)
        for found, said in trace_tables.MALFORMED
    )


def test_navigations(thrice):
    wanted = {"url": trace_tables.PLACE}
    thrice(
        (requested(wanted, entry(trace_tables.HERE, method, headers=headers), kind="NAVIGATE"), said)
        for method, headers, said in trace_tables.NAVIGATIONS
    )


def test_requests_for_static_files(thrice):
    thrice(
        (requested({"url": f"__SHOPPING__{path}"}, entry(f"{HOME}{path[1:]}"), about=path), said)
        for path, said in trace_tables.PATHS
    )


def no_response(run):
    (run.path / "agent_response.json").unlink()


def response_folder(run):
    no_response(run)
    (run.path / "agent_response.json").mkdir()


def no_trace(run):
    (run.path / run.trace_name).unlink()


def empty_trace_folder(run):
    no_trace(run)
    (run.path / run.trace_name).mkdir()


@pytest.mark.parametrize("spoil", [no_response, response_folder, no_trace, empty_trace_folder])
def test_runs_that_lack_a_file(thrice_on_disk, tmp_path, spoil):
    said = response(retrieved_data=["Blue Mug"])
    run = RunDirectory.write(Recording(retrieval(["Blue Mug"]), said, (entry(),), "spoiled"), tmp_path / "run")
    spoil(run)
    thrice_on_disk([(spoil.__name__, run, ERROR)])
