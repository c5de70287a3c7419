"""Rule sets: what `reference`, `default` and `strict` do differently, as one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import fields
from dataclasses import replace
from typing import Any

from pytest_webeval.errors import SettingsError
from pytest_webeval.quirks import QUIRKS
from pytest_webeval.quirks import Quirk

# Told the switch of a rule set that made a difference on the way to a verdict, and the place where it did.
Notice = Callable[[str, str], None]
REFERENCE_VERSION = "1.2.3"


@dataclass(frozen=True, slots=True)
class Rules:
    """One rule set. Each switch is on where the rule set departs from the reference; `quirks.py` says how and why."""

    name: str
    documented_dialect: bool = False
    literal_texts: bool = False
    single_answers: bool = False
    events_required: bool = False
    side_bodies: bool = False
    browser_forms: bool = False
    mended_traces: bool = False
    null_headers: bool = False
    escaped_hosts: bool = False
    plain_paths: bool = False
    finite_measures: bool = False
    finite_numbers: bool = False
    exact_money: bool = False
    null_schema_fails: bool = False
    json_before_fence: bool = False
    tolerant_decoding: bool = False
    whole_money: bool = False
    best_matching: bool = False
    resource_types: bool = False
    every_field: bool = False
    separate_lists: bool = False
    verdict_words: bool = False
    stop_terminates: bool = False
    budgets_in_steps: bool = False
    named_answer: bool = False
    known_keys: bool = False
    visited_sites: bool = False
    folded_addresses: bool = False

    def without(self, *switches: str) -> Rules:
        """The same rules, with the reference's ways where these switches stand."""
        changes: dict[str, Any] = dict.fromkeys(switches, False)
        return replace(self, **changes)


SWITCHES = tuple(one.name for one in fields(Rules) if one.name != "name")
RULE_SETS = ("reference", "default", "strict")
RULES = {
    name: Rules(name, **{quirk.switch: name in quirk.repaired_in for quirk in QUIRKS if quirk.switch})
    for name in RULE_SETS
}


def rules_named(name: str) -> Rules:
    """The rule set of that name. Raises `SettingsError`."""
    if name not in RULES:
        raise SettingsError(f"unknown rules {name!r}; choose one of {', '.join(RULES)}")
    return RULES[name]


def quirk_of(switch: str) -> Quirk:
    """The row of the table that a switch stands for."""
    return next(quirk for quirk in QUIRKS if quirk.switch == switch)


def unnoticed(switch: str, where: str) -> None:
    """The `Notice` of who does not ask which rules made a difference."""
