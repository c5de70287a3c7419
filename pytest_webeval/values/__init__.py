"""Value types: how a datum is read, its canonical form, and when two of them mean the same."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

from pytest_webeval.extensions import list_extensions

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


@cache
def value_type(name: str) -> type[Value] | None:
    """The value type that tasks call `name`, imported on first use; None when there is no such type.

    Raises `SettingsError` for one of another package that cannot be imported.
    """
    if (location := VALUE_TYPES.get(name)) is not None:
        module, _, class_name = location.partition(":")
        return cast("type[Value]", getattr(import_module(module), class_name))
    load = list_extensions("value_types", VALUE_TYPES).get(name)
    return None if load is None else cast("type[Value]", load())


def list_value_types() -> tuple[str, ...]:
    """The names of all value types, those of other packages last."""
    return (*VALUE_TYPES, *list_extensions("value_types", VALUE_TYPES))


def list_installed() -> list[type[Value]]:
    """Value types of other packages. Raises `SettingsError` for one that cannot be imported."""
    return [cast("type[Value]", load()) for load in list_extensions("value_types", VALUE_TYPES).values()]
