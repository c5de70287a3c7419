"""Rule sets: what `reference`, `default` and `strict` do differently, as one table."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_webeval.errors import SettingsError

REFERENCE_VERSION = "1.2.3"


@dataclass(frozen=True, slots=True)
class Rules:
    """One rule set. The comment beside a field names the rows of spec §10 that it decides."""

    name: str
    documented_dialect: bool  # Q11: `action` and `results` are read as `task_type` and `retrieved_data`
    agent_patterns: bool  # Q1: a ^…$ that an agent or site wrote is a pattern
    agent_alternatives: bool  # Q2: a list that an agent or site wrote is a list of guesses
    empty_trace: bool  # Q4: a zero-byte trace is a trace without events
    side_bodies: bool  # Q19: bodies kept in side files are read
    null_schema_errs: bool  # Q32: data for a null schema is an error, not a failure
    byte_order_mark_fails: bool  # Q13: a byte order mark makes a response unreadable
    escaped_hosts: bool  # site addresses are put into patterns as plain text, not as patterns


RULES = {
    rules.name: rules
    for rules in (
        #     name         dialect patterns guesses empty  bodies null   bom   hosts
        Rules("reference", False, True, True, True, False, True, True, False),
        Rules("default", True, False, False, False, True, True, True, True),
        Rules("strict", True, False, False, False, True, False, False, True),
    )
}


def rules_named(name: str) -> Rules:
    """The rule set of that name. Raises `SettingsError`."""
    if name not in RULES:
        raise SettingsError(f"unknown rules {name!r}; choose one of {', '.join(RULES)}")
    return RULES[name]
