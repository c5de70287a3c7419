"""How people and programs write distances, points on a map and names of places."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.parity.harness.number_spellings import in_words
from tests.parity.harness.text_spellings import Spellings

_LENGTH = re.compile(r"([\d.]+)\s*(km|m|mi|ft)")
_METRES = {"km": 1000.0, "m": 1.0, "mi": 1609.344, "ft": 0.3048}

DISTANCE: Spellings = {
    "km": lambda m: f"{m / 1000:.3f} km",
    "km, no blank": lambda m: f"{m / 1000:g}km",
    "capital KM": lambda m: f"{m / 1000:g} KM.",
    "kilometres": lambda m: f"{m / 1000:g} kilometres",
    "kilometers": lambda m: f"{m / 1000:g} kilometers",
    "kms": lambda m: f"{m / 1000:g} kms",
    "k": lambda m: f"{m / 1000:g}k",
    "metres": lambda m: f"{m:.0f} m",
    "meters": lambda m: f"{m:,.0f} meters",
    "miles": lambda m: f"{m / 1609.344:.2f} miles",
    "mi": lambda m: f"{m / 1609.344:.1f}mi",
    "feet": lambda m: f"{m / 0.3048:.0f} ft",
    "yards": lambda m: f"{m / 0.9144:.0f} yards",
    "bare number": lambda m: m,
    "bare number as text": lambda m: f"{m / 1000:g}",
    "decimal comma": lambda m: f"{m / 1000:.1f} km".replace(".", ","),
    "about": lambda m: f"about {m / 1000:g} km",
    "tilde": lambda m: f"~{m / 1000:g} km",
    "km and m": lambda m: f"{m // 1000:.0f} km {m % 1000:.0f} m",
    "sum": lambda m: f"{m // 1000:.0f} km + {m % 1000:.0f} m",
    "product": lambda m: f"2 * {m / 2000:g} km",
    "ten metres more": lambda m: f"{m + 10:.1f} m",
    "eleven metres more": lambda m: f"{m + 11:.1f} m",
    "two percent more": lambda m: f"{m / 0.98:.6f} m",
    "three percent more": lambda m: f"{m * 1.03:.1f} m",
    "two percent less": lambda m: f"{m * 0.98:.1f} m",
    "negative": lambda m: f"-{m / 1000:g} km",
    "km in words": lambda m: f"{in_words(int(m // 1000))} km",
    "hours": lambda m: f"{m / 1000:g} hours",
    "km, full stop": lambda m: f"{m / 1000:g} km.",
    "no-break blank": lambda m: f"{m / 1000:g}\u00a0km",
    "km first": lambda m: f"km {m / 1000:g}",
    "nautical": lambda m: f"{m / 1852:.3f} nautical miles",
}
COORDINATES: Spellings = {
    "list": lambda at: [at[0], at[1]],
    "list of texts": lambda at: [str(at[0]), str(at[1])],
    "swapped list": lambda at: [at[1], at[0]],
    "comma": lambda at: f"{at[0]}, {at[1]}",
    "blank": lambda at: f"{at[0]} {at[1]}",
    "semicolon": lambda at: f"{at[0]};{at[1]}",
    "parentheses": lambda at: f"({at[0]}, {at[1]})",
    "compass": lambda at: f"{at[0]}N {-at[1]}W",
    "degrees": lambda at: f"{at[0]}° N, {-at[1]}° W",
    "lat lon": lambda at: {"lat": at[0], "lon": at[1]},
    "lat lng": lambda at: {"lat": str(at[0]), "lng": str(at[1])},
    "capital keys": lambda at: {"Latitude": at[0], "LONGITUDE": at[1]},
    "x y": lambda at: {"x": at[0], "y": at[1]},
    "other order of keys": lambda at: {"longitude": at[1], "latitude": at[0]},
    "only latitude": lambda at: {"latitude": at[0]},
    "a third key": lambda at: {"latitude": at[0], "longitude": at[1], "altitude": 3},
    "three items": lambda at: [at[0], at[1], 0],
    "within tolerance": lambda at: [round(at[0] + 1e-5, 7), at[1]],
    "beyond tolerance": lambda at: [round(at[0] + 1.2e-5, 7), at[1]],
    "one turn more": lambda at: [at[0], at[1] + 360],
    "beyond the pole": lambda at: [at[0] + 90, at[1]],
    "rounded": lambda at: [round(at[0], 3), round(at[1], 3)],
    "JSON text": lambda at: f'{{"latitude": {at[0]}, "longitude": {at[1]}}}',
    "list text": lambda at: f"[{at[0]}, {at[1]}]",
    "minutes": lambda at: f"{int(at[0])} {at[0] % 1 * 60:.4f}m, {int(at[1])} 0m",
    "sign lost": lambda at: [at[0], -at[1]],
}
PLACE: Spellings = {
    "city added": lambda text: f"{text}, Pittsburgh, PA 15213",
    "one letter lost": lambda text: text[:3] + text[4:],
    "one letter other": lambda text: text[:4] + "x" + text[5:],
    "three letters lost": lambda text: text[:-3],
    "last word lost": lambda text: text.rsplit(" ", 1)[0],
    "first word lost": lambda text: text.split(" ", 1)[-1],
    "one word more": lambda text: f"{text} Downtown",
    "two words more": lambda text: f"Big {text} Plaza",
    "words sorted": lambda text: " ".join(sorted(text.split())),
    "commas": lambda text: ", ".join(text.split()),
    "initials": lambda text: "".join(word[0] for word in text.split()),
    "abbreviated": lambda text: " ".join(f"{word[:4]}." for word in text.split()),
}


def metres_of(text: Any) -> float | None:
    """The metres in a task's distance."""
    found = _LENGTH.fullmatch(str(text))
    return float(found[1]) * _METRES[found[2]] if found else None


def point_of(value: Any) -> tuple[float, float] | None:
    """Latitude and longitude of a task's point."""
    pair = list(value.values()) if isinstance(value, Mapping) else value
    return (float(pair[0]), float(pair[1])) if isinstance(pair, list) and len(pair) == 2 else None
