"""How data of a task and of a recording are read and compared under the rules of a case."""

from __future__ import annotations

from msgspec.structs import replace

from pytest_webeval.evaluators.case import Case
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.comparison import Comparison
from pytest_webeval.values.schema import ValueParser


def expected_reading(case: Case) -> ParseContext:
    """How the task's own data is read."""
    return ParseContext(
        known_sites=True,
        signed_currency=case.rules.signed_currency,
        exact_money=case.rules.exact_money,
        single_decoding=case.rules.single_decoding,
        exact_numbers=case.rules.exact_numbers,
        derender=lambda text: case.sites.derender(text, case.task.sites),
        today=case.today,
        longest=case.run.inputs.limits.string_length,
    )


def actual_reading(case: Case) -> ParseContext:
    """How data that an agent or a site wrote is read."""
    return replace(
        expected_reading(case),
        known_sites=False,
        patterns=not case.rules.no_recorded_patterns,
        alternatives=not case.rules.no_recorded_alternatives,
        infinities=not case.rules.finite_quantities,
        nonfinite=not case.rules.finite_numbers,
        one_value=case.rules.one_value,
    )


def build_reader(case: Case, where: str, *, strict: bool, sent: bool = False) -> ValueParser:
    """Reads what the task wrote (`strict`) or what was recorded; `where` is what paths in messages begin with.

    In what a browser `sent` or received, a letter is the very letter that was typed (Q67).
    """
    context = expected_reading(case) if strict else actual_reading(case)
    if sent and case.rules.foreign_letters:
        context = replace(context, foreign_letters=True)
    return ValueParser(context, strict, where, case.notice)


def build_comparison(case: Case, *, ordered: bool = False, extra_keys: bool = False) -> Comparison:
    """How values of the task and of the recording are compared."""
    return Comparison(ordered, extra_keys, case.rules.maximum_matching, case.rules.separate_lists, case.notice)
