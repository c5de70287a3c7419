"""Postal addresses: spec §5.12."""

from __future__ import annotations

import sys
from importlib import metadata

import pytest

from pytest_webeval.errors import EvaluationError, ValueParseError
from pytest_webeval.scoring import provenance as task_results
from pytest_webeval.values import full_address
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.full_address import FullAddressValue

BASE = {
    "house_number": "117",
    "street": "South Bouquet Street",
    "city": "Pittsburgh",
    "state": "Pennsylvania",
    "postcode": "15213",
}


@pytest.mark.parametrize(
    ("changes", "equal"),
    [
        ({}, True),
        ({"street": "S Bouquet St", "state": "PA"}, True),
        ({"street": "s. bouquet st.", "state": " penn "}, True),
        ({"state": "42"}, True),
        ({"state": "Pensylvania"}, True),
        ({"name": "Five Guys"}, True),
        ({"name": None, "country": "US"}, True),
        ({"house_number": 117, "postcode": 15213}, True),
        ({"house_number": "\uff11\uff11\uff17", "city": "Pittsbürgh"}, True),
        ({"street": "S Bouquet St Apt 5"}, True),
        ({"house_number": 117.0}, False),
        ({"postcode": "15213-1234"}, False),
        ({"postcode": "1521"}, False),
        ({"city": "SF"}, False),
        ({"city": "Pittsburgh."}, False),
        ({"street": "Bouquet Street"}, False),
        ({"street": None}, False),
        ({"state": "PR"}, False),
    ],
    ids=repr,
)
def test_addresses_match_as_the_post_would_write_them(changes, equal):
    expected, actual = (
        FullAddressValue.read(BASE, ParseContext()),
        FullAddressValue.read(BASE | changes, ParseContext()),
    )
    assert expected.matches(actual) is equal
    assert actual.matches(expected) is equal


@pytest.mark.parametrize(
    "raw",
    ["117 S Bouquet St, Pittsburgh, PA 15213", None, 5, {}, [BASE], {"street": "Main", "city": "Pittsburgh"}],
    ids=repr,
)
def test_anything_but_an_object_with_all_the_parts_is_refused(raw):
    with pytest.raises(
        ValueParseError, match=r"write an object with house_number, street, city, state, post|list of 1"
    ):
        FullAddressValue.read(raw, ParseContext())


@pytest.mark.parametrize(
    "changes",
    [
        {"state": "England", "postcode": "SW1A 2AA"},
        {"state": "DC"},
        {"state": 42},
        {"state": ""},
        {"postcode": "SW1A 2AA"},
        {"postcode": None},
        {"house_number": ""},
        {"street": ""},
        {"street": "PO Box 5"},
        {"street": "Apt 5"},
        {"street": "(" * 501},
        {"city": []},
        {"name": ["x"]},
    ],
    ids=lambda changes: repr(changes)[:40],
)
def test_anything_but_an_address_in_the_united_states_is_refused(changes):
    with pytest.raises(ValueParseError, match=r"is not a valid US postal address|list of 1"):
        FullAddressValue.read(BASE | changes, ParseContext())


def test_a_part_too_large_to_be_written_is_refused():
    with pytest.raises(ValueParseError, match="write its parts in at most 500 characters each"):
        FullAddressValue.read(BASE | {"street": 10**5_000}, ParseContext())


def test_a_part_has_at_most_500_characters():
    longest = BASE["street"].ljust(500)
    assert FullAddressValue.read(BASE | {"street": longest}, ParseContext()) == FullAddressValue.read(
        BASE, ParseContext()
    )
    with pytest.raises(ValueParseError, match="write its parts in at most 500 characters each"):
        FullAddressValue.read(BASE | {"street": f"{longest} "}, ParseContext())


OTHER = BASE | {"house_number": "118"}


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ([OTHER, BASE], BASE, False),
        ([BASE, OTHER], BASE, True),
        (BASE, [OTHER, BASE], False),
        (BASE, [BASE, OTHER], True),
    ],
    ids=["second expected", "first expected", "second found", "first found"],
)
def test_of_several_addresses_only_the_first_counts(expected, actual, equal):
    assert (
        FullAddressValue.read(expected, ParseContext()).matches(FullAddressValue.read(actual, ParseContext())) is equal
    )


def test_a_report_shows_the_first_address_as_the_post_writes_it():
    shown = FullAddressValue.read([BASE, OTHER], ParseContext()).to_json()
    assert shown == BASE | {"street": "s bouquet st", "city": "pittsburgh", "state": "PA"}


@pytest.fixture
def _libraries_looked_for_again():
    full_address._load_libraries.cache_clear()
    yield
    full_address._load_libraries.cache_clear()


@pytest.mark.usefixtures("_libraries_looked_for_again")
@pytest.mark.parametrize("raw", [BASE, "no address"])
def test_without_the_extra_no_verdict_is_given(raw, monkeypatch):
    monkeypatch.setitem(sys.modules, "scourgify", None)
    with pytest.raises(EvaluationError) as error:
        FullAddressValue.read(raw, ParseContext())
    assert str(error.value) == "values of type full_address need scourgify; pip install 'pytest-webeval[address]'"


def test_without_the_extra_the_versions_of_the_other_libraries_are_told(monkeypatch):
    def distribution(name: str, found=metadata.distribution) -> metadata.Distribution:
        if name.startswith("us"):
            raise metadata.PackageNotFoundError(name)
        return found(name)

    monkeypatch.setattr(metadata, "distribution", distribution)
    told = task_results.libraries.__wrapped__()
    assert told["geopy"] == metadata.version("geopy")
    assert {"pytest-webeval", "geopy", "pint", "rapidfuzz", "thefuzz", "word2number"} <= told.keys()
    assert not {"us", "usaddress", "usaddress-scourgify"} & told.keys()


@pytest.mark.usefixtures("_libraries_looked_for_again")
def test_a_file_that_changes_how_addresses_are_read_is_not_obeyed(monkeypatch, tmp_path):
    constants = tmp_path / "address_constants.yaml"
    constants.write_text("STATE_ABBREVIATIONS: {ENGLAND: PA}\n")
    monkeypatch.setenv("ADDRESS_CONFIG", str(constants))
    with pytest.raises(EvaluationError, match="changes how addresses are parsed; remove it"):
        FullAddressValue.read(BASE, ParseContext())
