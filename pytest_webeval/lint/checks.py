"""The checks of the lint, a row each, which says what the check reports. One more is one function and one row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from pytest_webeval.lint import addresses, keys, patterns, requests, tasks, values
from pytest_webeval.lint.findings import Problem, Severity


class Check(Struct, frozen=True):
    """One kind of mistake. `reports` says what is reported, with an example.

    It is looked for in a definition, or in each of its parts that are named `of`: `requests`, `answers` or `singles`.
    With one that `is_fatal` nobody can meet the expectation, or it checks something else than it says: each run that
    this can have decided is an error, whatever the agent did. Of a problem, see also `Problem.is_fatal`.
    """

    name: str
    reports: str
    run: Callable[[Any], Iterator[Problem]]
    severity: Severity = Severity.WARNING
    is_fatal: bool = False
    of: str | None = None


def _fatal(name: str, reports: str, run: Callable[[Any], Iterator[Problem]], of: str | None = None) -> Check:
    return Check(name, reports, run, is_fatal=True, of=of)


HINT = Severity.HINT
UNREADABLE = "unreadable"
CONTRADICTION = "contradiction"

# fmt: off
CHECKS: tuple[Check, ...] = (
    Check("unknown-key", "a key that nothing reads, at any depth: `querry_params`", keys.check_unknown_keys),
    Check("repeated-key", "a key that an object has twice", keys.check_repeated_keys),
    Check("evaluator", "an evaluator whose name is nearly one of the package", keys.check_evaluator_names),
    _fatal(UNREADABLE, "a task or expectation that cannot be read", tasks.check_readable),
    _fatal("unreadable-value", 'a value that its type cannot read: `"soon"` as date', tasks.check_values),
    Check("ignored-field", "an invalid field of another benchmark's row", tasks.check_ignored_fields),
    Check("duplicate-id", "an id that another task has", tasks.check_duplicate_ids),
    _fatal("invalid-pattern", "a regular expression with a mistake: `^(a$`", patterns.check_invalid_patterns),
    Check("broad-pattern", "a pattern that matches everything: `^.*$`", patterns.check_broad_patterns),
    Check("open-alternation", "alternatives that are not grouped: `^a|b$`", patterns.check_open_alternations),
    _fatal("unmatchable-pattern", "a pattern that never matches: `^__SHOPPING__/cart/$`",
          patterns.check_unmatchable_patterns),
    Check("literal-pattern", "a text that is compared literally and looks like a pattern: `lamp.*`",
          patterns.check_literal_patterns, of="singles"),
    _fatal("literal-url", "a URL that is compared literally and looks like a pattern: `__SHOPPING__/items/*`, `/{id}`",
          patterns.check_literal_urls, of="requests"),
    Check("ignored-parameter", "an expected parameter or field that is ignored as well",
          patterns.check_ignored_parameters, of="requests"),
    _fatal("placeholder", "a placeholder that is misspelt, or of a site that the task does not name; fatal at the "
           "beginning of a URL", addresses.check_placeholders),
    Check("site", "with `--config`: a site of the task that the configuration does not have", addresses.check_sites),
    _fatal("placeholder-position", "a placeholder in the middle of a URL", addresses.check_placeholder_positions),
    _fatal("literal-placeholder", "a placeholder where none is replaced: a cookie, response, Markdown or `url_pattern`",
          addresses.check_literal_placeholders),
    _fatal("several-sites", "placeholders of two sites in one text", addresses.check_several_sites),
    Check("real-address", "with `--config`: an address instead of a placeholder", addresses.check_real_addresses),
    _fatal("schema-type", "a type or format that does not exist: `date-time`; a hint where strings are compared then",
           keys.check_types),
    Check("schema-container", "an array without items, or items and properties that do not count",
          keys.check_containers),
    Check("schema-format", "a format that contradicts the type or is not used", keys.check_formats),
    Check("schema-keyword", "a keyword that is not checked: `minItems`", keys.check_keywords, HINT),
    Check("schema-property", "members without a property, and properties that no answer has",
          keys.check_properties, of="answers"),
    Check("posted-property", "a property whose name is nearly that of a posted field",
          keys.check_posted_properties, of="requests"),
    Check("lax-value", "a value that equals others: `0` as string, `0.05` as currency, `1` as boolean",
          values.check_lax_values),
    Check("partial-date", "a date that depends on the day: `March 2022`", values.check_partial_dates),
    Check("alternatives", "alternatives that are equal, or of which only the first counts", values.check_alternatives),
    Check("equal-answers", "two answers that are equal under their type", values.check_equal_answers),
    Check("order", "`ordered` where there is no order", values.check_order, of="answers"),
    Check("filter", "a JSONPath filter whose one hit equals nothing", values.check_posted_filters),
    _fatal("method", "an unknown `http_method`: `post`", requests.check_methods),
    _fatal("posted-data", "`post_data` of a GET, or without `http_method`", requests.check_posted_data, of="requests"),
    _fatal("status", "a `response_status` that no response has", requests.check_statuses, of="requests"),
    Check("last-event-only", "`last_event_only` without effect", requests.check_last_event_only),
    _fatal("query-values", "values of a parameter that are not compared", requests.check_query_values, of="requests"),
    _fatal("query-text", 'a text in place of the list of values of a parameter: `{"sort": "price"}`',
          requests.check_query_texts, of="requests"),
    Check("query-decoding", "of a published task: a parameter that loses + or % where a query is decoded twice: `C++`",
          requests.check_query_decoding),
    _fatal("path", "an invalid JSONPath or name in a body: `$.a[`", requests.check_paths, of="requests"),
    Check("empty", "an empty object that compares nothing, and `Referer` in capitals",
          requests.check_empty_expectations, of="requests"),
    _fatal("empty-headers", "an empty `headers`, which never matches", requests.check_empty_headers, of="requests"),
    _fatal("forbidden-request", "fields that `should_not_exist` never compares", requests.check_forbidden_requests),
    Check("boolean", 'a setting that is neither true nor false: `"no"`', requests.check_switches),
    Check("repeated-expectation", "an expectation that is written twice", tasks.check_repeated_expectations),
    _fatal(CONTRADICTION, "a request that must and must not exist, or two different answers",
          tasks.check_contradictions),
    Check("answer", "a retrieve task without data, or data of another task",
          tasks.check_answers_of_types, of="answers"),
    Check("no-request", "a mutate or navigate task that checks no request", tasks.check_requests_of_types),
    _fatal("unpassable", "a task that no recording can pass", tasks.check_unpassable),
    Check("template", "an intent that is not what its template gives", tasks.check_templates),
)
# fmt: on
