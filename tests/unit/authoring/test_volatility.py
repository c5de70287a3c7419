"""Which fields mean nothing: by their names, and by values that look random or are the time of the request."""

from __future__ import annotations

import pytest

from pytest_webeval.authoring.volatility import explain_volatile, is_id, is_random, is_secret
from tests.support.traffic import MOMENT

TOKEN, NOISE, RANDOM, TIME = (
    "the name of a token",
    "a name that sites use for noise",
    "a random value",
    "the time of the request",
)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("authenticity_token", "x", TOKEN),
        ("csrfmiddlewaretoken", "x", TOKEN),
        ("X-CSRF-Token", "x", TOKEN),
        ("form_key", "x", TOKEN),
        ("issue[form_key]", "x", TOKEN),
        ("$.order.formKey", "x", TOKEN),
        ("_wpnonce", "x", TOKEN),
        ("g-recaptcha-response", "x", TOKEN),
        ("__RequestVerificationToken", "x", TOKEN),
        ("PHPSESSID", "x", TOKEN),
        ("isAjax", "true", NOISE),
        ("_", "1", NOISE),
        ("utm_source", "mail", NOISE),
        ("uenc", "aHR0", NOISE),
        ("timestamp", "noon", NOISE),
        ("id", "0b6f1f4e-3a52-4bc6-9a0a-7f4f6d1c2b3a", RANDOM),
        ("ref", "9f86d081884c7d659a2feaa0c55ad015", RANDOM),
        ("key", "kX9vQ2mB7wLp4RtZ8nYc", RANDOM),
        ("at", str(int(MOMENT)), TIME),
        ("at", int(MOMENT * 1000) - 5_000, TIME),
        ("at", "2026-03-14T09:59:58.123Z", TIME),
        ("at", "2026-03-14 10:00:05", TIME),
        # What means something.
        ("size", "10:20", None),
        ("quantity", "5", None),
        ("count", 5, None),
        ("phone", "1555123456", None),
        ("due", "2026-05-01T12:00:00Z", None),
        ("due", "2026-03-14", None),
        ("gift", True, None),
        ("comment", "Customer changed their mind", None),
        ("product", "packing-cubes-set-of-4-extra-light", None),
        ("product", "DotGridNotebookLargeEdition2024", None),
        ("order", "100000000000000000001042", None),
        ("description", "", None),
        ("labels", None, None),
        ("token_ring_cable", "1", None),
        ("sidebar", "1", None),
    ],
)
def test_a_field_is_volatile_by_its_name_or_its_value(name, value, reason):
    assert explain_volatile(name, value, MOMENT) == reason


def test_a_number_is_a_time_only_near_the_request():
    assert explain_volatile("at", "1773482400", MOMENT + 2 * 86_400) is None
    assert explain_volatile("at", "1773482400", None) is None
    assert explain_volatile("at", "1773482400123", None) == TIME
    assert explain_volatile("at", "9" * 13, None) is None


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("password", True),
        ("user[password]", True),
        ("new-passwd", True),
        ("pwd", True),
        ("cardNumber", True),
        ("compass", False),
        ("pinned", False),
        ("email", False),
    ],
)
def test_passwords_and_the_like_are_secret(name, is_one):
    assert is_secret(name) is is_one


@pytest.mark.parametrize(
    ("segment", "is_one"),
    [("1042", True), ("0b6f1f4e-3a52-4bc6-9a0a-7f4f6d1c2b3a", True), ("v4", False), ("orders", False), ("", False)],
)
def test_numbers_and_random_texts_are_ids(segment, is_one):
    assert is_id(segment) is is_one


def test_a_number_is_not_random():
    assert not is_random("1042")
    assert not is_random("4" * 40)
