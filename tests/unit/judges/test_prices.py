from __future__ import annotations

import tomllib
from datetime import date
from decimal import Decimal

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.judges.prices import ADVICE, is_version_of, load_prices
from pytest_webeval.judges.questions import TokenUsage

USAGE = TokenUsage(prompt=1_000, completion=100, reasoning=60, cached=400)


def test_a_cost_is_exact():
    assert load_prices().cost(USAGE, "gpt-4o") == Decimal("0.003")  # 600 * 2.50 + 400 * 1.25 + 100 * 10.00
    assert load_prices().cost(TokenUsage(prompt=1), "gpt-4.1-nano") == Decimal("0.0000001")
    assert load_prices().cost(TokenUsage(prompt=1, cached=9), "gpt-4o") == Decimal("0.00000125")


def test_a_model_without_a_price_has_no_cost():
    assert load_prices().cost(USAGE, "llama") is None


@pytest.mark.parametrize(
    ("name", "model", "is_version"),
    [
        ("gpt-4o", "gpt-4o", True),
        ("GPT-4o", "gpt-4o", True),
        ("gpt-4o-2024-08-06", "gpt-4o", True),
        ("claude-sonnet-4-20250514", "claude-sonnet-4", True),
        ("gpt-4-0613", "gpt-4", True),
        ("gpt-4o-mini", "gpt-4o", False),
        ("gpt-4o-mini-2024-07-18", "gpt-4o", False),
        ("gpt-4o", "gpt-4o-2024-08-06", False),
        ("gpt-4o-2024-08-06", "gpt-4o-2024-05-13", False),
        ("gpt-4o2024-08-06", "gpt-4o", False),
        ("gpt-4o-2024-08-06x", "gpt-4o", False),
    ],
)
def test_a_dated_version_is_the_same_model(name, model, is_version):
    assert is_version_of(name, model) is is_version


def test_the_longest_name_decides():
    prices = load_prices()
    assert prices.find("gpt-4o-2024-08-06") == prices.rows["gpt-4o"]
    assert prices.find("gpt-4o-2024-05-13") == prices.rows["gpt-4o-2024-05-13"] != prices.rows["gpt-4o"]


def test_each_published_price_has_its_day():
    assert all(isinstance(price.as_of, date) and price.input < price.output for price in load_prices().rows.values())


def test_rows_of_a_user_replace_published_ones(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text('["gpt-4o"]\ninput = 1\noutput = 2\n["local/model"]\ninput = 0\noutput = 0.0\n')
    prices = load_prices(path)
    assert prices.cost(USAGE, "gpt-4o") == Decimal("0.0012")
    assert prices.cost(USAGE, "local/model") == 0
    assert prices.find("gpt-4.1") is not None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a", "invalid prices .*prices.toml: .*; write "),
        ("\xff", "invalid prices"),
        ("a = 1", "Expected `object`, got `int` @ a; write "),
        ("[a]\ninput = 1", "missing required field `output` @ a; write "),
        ('[a]\ninput = "x"\noutput = 1', "@ a.input; write "),
        ("[a]\ninput = -1\noutput = 1", "Expected prices that are finite and not negative @ a; write "),
        ("[a]\ninput = nan\noutput = 1", "finite and not negative @ a"),
        ("[a]\ninput = 1\noutput = 1\nprice = 1", "unknown field `price` @ a"),
    ],
)
def test_an_invalid_table_is_refused_with_its_place(tmp_path, text, message):
    path = tmp_path / "prices.toml"
    path.write_text(text, "latin-1")
    with pytest.raises(SettingsError, match=message):
        load_prices(path)


def test_a_missing_table_is_refused(tmp_path):
    with pytest.raises(SettingsError, match=r"cannot read prices .*No such file or directory; pass a TOML file"):
        load_prices(tmp_path / "prices.toml")


def test_the_advice_is_a_table():
    lines = ADVICE.removeprefix("write ").removesuffix(" in USD per million tokens").replace(", ", "\n")
    assert tomllib.loads(lines) == {"MODEL": {"input": 2.5, "cached_input": 1.25, "output": 10.0}}
