"""What tokens cost: a table of models, and the exact price of a reply. It is a file of TOML that users can extend."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from pytest_webeval.errors import SettingsError
from pytest_webeval.judges.questions import TokenUsage
from pytest_webeval.safety.json import format_validation_error
from pytest_webeval.safety.text import to_line

_PUBLISHED = Path(__file__).with_name("prices.toml")
_MILLION = 1_000_000
_LONGEST_NAME = 80  # characters in a message
_USUAL_IMAGE_TOKENS = 1_500  # an upper estimate for a picture of up to 2048 pixels
_VERSION = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{4})")  # gpt-4o-2024-08-06, claude-sonnet-4-20250514, gpt-4-0613


class Price(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """US dollars per million tokens of a model.

    `cached_input` are the tokens of a prompt that the server had in its cache; without it they cost what others cost.
    `image_tokens` is an upper estimate for a picture. `as_of` is the day on which somebody checked the price.
    """

    input: Decimal
    output: Decimal
    cached_input: Decimal | None = None
    image_tokens: int = _USUAL_IMAGE_TOKENS
    as_of: date | None = None

    def __post_init__(self) -> None:
        numbers = (self.input, self.output, self.cached_input or Decimal(0), Decimal(self.image_tokens))
        if not all(number.is_finite() and number >= 0 for number in numbers):
            raise ValueError("Expected prices that are finite and not negative")

    def cost(self, usage: TokenUsage) -> Decimal:
        """What a reply costs. Reasoning is part of the completion."""
        cached = min(usage.cached, usage.prompt)
        cached_price = self.input if self.cached_input is None else self.cached_input
        total = (usage.prompt - cached) * self.input + cached * cached_price + usage.completion * self.output
        return total / _MILLION


class PriceTable(Struct, frozen=True):
    rows: Mapping[str, Price]

    def find(self, model: str) -> Price | None:
        """The price of a model: its own row, or that of the model of which it is a dated version."""
        names = [name for name in self.rows if is_version_of(model, name)]
        return self.rows[max(names, key=len)] if names else None

    def require(self, model: str) -> Price:
        """The price of a model, without which no limit can be kept. Raises `SettingsError`."""
        price = self.find(model)
        if price is None:
            problem = f"no price for model '{to_line(model, _LONGEST_NAME)}', so --webeval-judge-max-usd cannot be kept"
            raise SettingsError(f"{problem}; add it to a file for --webeval-judge-prices: {ADVICE}")
        return price

    def cost(self, usage: TokenUsage, model: str) -> Decimal | None:
        """What tokens of a model cost, exactly; None where the table has no price for it."""
        price = self.find(model)
        return None if price is None else price.cost(usage)


def is_version_of(name: str, model: str) -> bool:
    """Whether a name is that of the model or of a dated version: `gpt-4o-2024-08-06` of `gpt-4o`; not `gpt-4o-mini`."""
    name, model = name.casefold(), model.casefold()
    return name == model or (name.startswith(model) and _VERSION.fullmatch(name, len(model)) is not None)


def load_prices(path: Path | None = None) -> PriceTable:
    """The published prices, and those of a file of the user over them. Raises `SettingsError`."""
    rows = _read_rows(_PUBLISHED)
    return PriceTable(rows if path is None else rows | _read_rows(path))


def _read_rows(path: Path) -> dict[str, Price]:
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text("utf-8"), parse_float=Decimal)
    except OSError as error:
        raise SettingsError(f"cannot read prices {path}: {error.strerror}; pass a TOML file") from error
    except ValueError as error:  # not UTF-8, not TOML
        raise _invalid(path, str(error)) from error
    rows = {}
    for name, row in table.items():
        try:
            rows[name] = msgspec.convert(row, Price)
        except msgspec.ValidationError as error:
            raise _invalid(path, format_validation_error(error, name)) from error
    return rows


def _invalid(path: Path, problem: str) -> SettingsError:
    return SettingsError(f"invalid prices {path}: {problem}; {ADVICE}")


ADVICE = 'write ["MODEL"], input = 2.50, cached_input = 1.25, output = 10.00 in USD per million tokens'
