"""The specification's tables about requests, bodies and configurations: three times the same."""

from __future__ import annotations

import re
from dataclasses import replace

from tests.parity.harness import config_tables, event_tables, trace_tables
from tests.parity.harness.recording import Recording
from tests.parity.harness.run_directories import RunDirectory, write_config
from tests.parity.harness.synthetic import FORM, HOME, MODERN, entry, requested, response, retrieval
from tests.parity.harness.verdicts import ERROR, SUCCESS


def posting(fields, body, **config):
    """A run that posted this body where these fields are wanted."""
    wanted = {"url": trace_tables.PLACE, "http_method": "POST", "post_data": fields}
    made = entry(trace_tables.HERE, "POST", post=body)
    return requested(wanted, made, about=f"{fields} {config}: {body}", **config)


def test_bodies(thrice):
    thrice((posting(fields, (mime, text)), said) for mime, text, fields, said in trace_tables.BODIES)


def with_body(made, stored):
    """The entry with this `postData`."""
    return {**made, "request": {**made["request"], "postData": stored}}


def test_stored_bodies(thrice):
    bare = posting({"n": "1"}, ("", ""))
    (made,) = bare.entries
    thrice(
        (
            replace(bare, entries=({**made, "request": {**made["request"], "postData": stored}},), about=f"{stored}"),
            said,
        )
        for stored, said in trace_tables.STORED
    )


def test_posted_fields(thrice):
    rows = event_tables.FIELDS
    thrice((posting(fields, event_tables.written(body), **config), said) for fields, body, config, said in rows)


def test_response_contents(thrice):
    thrice(
        (
            requested(
                {"url": trace_tables.PLACE, "response_content": wanted},
                entry(trace_tables.HERE, content=event_tables.written(found)),
                about=f"{wanted}: {found}",
            ),
            said,
        )
        for wanted, found, said in event_tables.CONTENTS
    )


def test_headers(thrice):
    place, here = trace_tables.PLACE, trace_tables.HERE
    thrice(
        (
            requested({"url": place, "headers": {name: wanted}}, entry(here, headers={**MODERN, name: found})),
            said,
        )
        for name, wanted, found, said in event_tables.HEADERS
    )


def test_integers_of_very_many_digits(thrice):
    rows = event_tables.HUGE
    thrice((posting(fields, (FORM if body[0] == "n" else "application/json", body)), ERROR) for body, fields in rows)


def test_addresses_of_requests(thrice):
    thrice(
        (requested({"url": f"__SHOPPING__{wanted}"}, entry(f"{HOME}{url[1:]}"), **config), said)
        for wanted, url, config, said in event_tables.ADDRESSES
    )


def test_queries(thrice):
    thrice(
        (requested({"url": trace_tables.PLACE, "query_params": wanted}, entry(f"{trace_tables.HERE}?{query}")), said)
        for wanted, query, said in event_tables.QUERIES
    )


def test_methods_and_statuses(thrice):
    place, here = trace_tables.PLACE, trace_tables.HERE
    thrice(
        (
            requested(
                {"url": place, "http_method": method, "response_status": status}, entry(here, found, found_status)
            ),
            said,
        )
        for method, status, found, found_status, said in event_tables.METHODS
    )


def test_addresses_in_texts_become_placeholders(thrice):
    thrice(
        (
            Recording(
                retrieval([f"^{re.escape(left)}$"], sites=of_task),
                response(retrieved_data=[text]),
                (entry(),),
                f"{sites} {text}",
                sites=sites,
            ),
            SUCCESS,
        )
        for sites, of_task, text, left in config_tables.DERENDERED
    )


def configured(environments, folder, expected, *entries, sites):
    """A run with these environments in its configuration file."""
    made = RunDirectory.write(requested(expected, *entries, sites=sites), folder)
    return replace(made, config=write_config(environments, folder.parent))


def test_configured_addresses(thrice_on_disk, tmp_path):
    rows = enumerate(config_tables.RENDERED)
    thrice_on_disk(
        [
            (
                f"{environments} {wanted}: {url}",
                configured(environments, tmp_path / str(row), {"url": wanted}, entry(url), sites=["shopping"]),
                said,
            )
            for row, (environments, wanted, url, said) in rows
        ]
    )


def test_guessed_addresses(thrice_on_disk, tmp_path):
    rows = enumerate(config_tables.GUESSED)
    thrice_on_disk(
        [
            (
                f"{environments} {sites} {urls}",
                configured(environments, tmp_path / str(row), {"url": wanted}, *map(entry, urls), sites=sites),
                said,
            )
            for row, (environments, sites, wanted, urls, said) in rows
        ]
    )


def test_a_run_without_requests_has_no_addresses_to_guess(thrice):
    made = requested({"url": "__SHOPPING__/x"}, sites=["shopping"])
    thrice([(replace(made, sites={}, entries=b"", about="nothing requested"), ERROR)])
