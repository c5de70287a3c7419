"""Value types: how a datum is read, its canonical form, and when two of them mean the same."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from pytest_webeval.errors import SettingsError
from pytest_webeval.extensions import load_extensions
from pytest_webeval.safety.text import shorten_repr

if TYPE_CHECKING:
    from pytest_webeval.values.base import Value


VALUE_TYPES: dict[str, str] = {
    "string": "pytest_webeval.values.string:StringValue",
    "number": "pytest_webeval.values.number:NumberValue",
    "integer": "pytest_webeval.values.number:NumberValue",
    "boolean": "pytest_webeval.values.boolean:BooleanValue",
    "date": "pytest_webeval.values.date:DateValue",
    "duration": "pytest_webeval.values.duration:DurationValue",
    "currency": "pytest_webeval.values.currency:CurrencyValue",
    "month": "pytest_webeval.values.month:MonthValue",
    "null": "pytest_webeval.values.null:NullValue",
    "url": "pytest_webeval.values.url:UrlValue",
    "distance": "pytest_webeval.values.distance:DistanceValue",
    "coordinates": "pytest_webeval.values.coordinates:CoordinatesValue",
    "location-name": "pytest_webeval.values.location_name:LocationNameValue",
    "full_address": "pytest_webeval.values.full_address:FullAddressValue",
    "markdown": "pytest_webeval.values.markdown:MarkdownValue",
    "json": "pytest_webeval.values.json:JsonValue",
    "string_list": "pytest_webeval.values.string_list:StringListValue",
    "base64": "pytest_webeval.values.base64:Base64Value",
}


def value_type(name: str) -> type[Value] | None:
    """The value type that tasks call `name`, imported on first use; None when there is no such type.

    Raises `SettingsError` for one of another package that cannot be imported.
    """
    location = VALUE_TYPES.get(name)
    return load_installed().get(name) if location is None else _import_type(location)


@cache
def _import_type(location: str) -> type[Value]:
    module, _, class_name = location.partition(":")
    return cast("type[Value]", getattr(import_module(module), class_name))


@cache
def list_value_types() -> tuple[str, ...]:
    """The names of all value types, those of other packages last."""
    return (*VALUE_TYPES, *load_installed())


def load_installed() -> Mapping[str, type[Value]]:
    """Value types of other packages by their names. Raises `SettingsError` for one that cannot be used."""
    return load_extensions("value_types", (*VALUE_TYPES,), _check_type)


def _check_type(name: str, found: Any) -> type[Value]:
    from pytest_webeval.values.base import Value  # for who has such a package

    if not (isinstance(found, type) and issubclass(found, Value) and found.type_name == name):
        raise SettingsError(f"{shorten_repr(found)} is not a subclass of Value whose type_name is {name!r}")
    return found
