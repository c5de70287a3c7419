"""`Redacted`: a result without the secrets in it, and what to take for one in whatever is shown beside it."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from pytest_webeval.redaction.explanations import EXPLANATIONS
from pytest_webeval.redaction.explanations import explanations_of
from pytest_webeval.redaction.explanations import searched
from pytest_webeval.redaction.known import KnownSecrets
from pytest_webeval.results import Assertion
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.results import TaskResult

# What `webeval` of a result says of ourselves and of files, which is no part of a recording.
OURS = frozenset(
    {"format", "inputs", "libraries", "redacted", "rules", "run", "skipped", "tasks_from", "version", "wall_time"}
)
# Who names assertions by our words and those of the task alone, so that no secret is in these names.
NAMING = frozenset({"AgentResponseEvaluator", "NetworkEventEvaluator", "RubricEvaluator"})
# What a result calls the parts of an event and of an answer, whatever a recording has for secrets.
_FIXED = frozenset(
    {
        "action",
        "error_details",
        "event_type",
        "headers",
        "http_method",
        "performed_operation",
        "post_data",
        "query_params",
        "query_string",
        "response_content",
        "response_cookies",
        "response_status",
        "results",
        "retrieved_data",
        "status",
        "task_type",
        "url",
    }
)
_FIELDS = ("assertion_name", "assertion_msgs", "error_msg")


@dataclass(frozen=True, slots=True)
class Redacted:
    """A result without secrets, those that were found in it, and what stays readable in each evaluator's part."""

    result: TaskResult
    found: dict[str, str]
    spared: Sequence[Collection[str]]

    def searched(self, secrets: Mapping[str, str]) -> TaskResult:
        """The same without secrets that were found elsewhere."""
        known, about = KnownSecrets.of(secrets), dict(self.result.webeval)
        spared = [*self.spared, *repeat((), len(self.result.evaluators_results) - len(self.spared))]
        parts = zip(self.result.evaluators_results, spared, strict=True)
        found = [searched_result(one, KnownSecrets.of(secrets, kept)) for one, kept in parts]
        explained = explanations_of(self.result)
        if explained is not None:
            named = [kept_names(one.expected) for one in found]
            about[EXPLANATIONS] = [searched(one, known, names) for one, names in zip(explained, named, strict=True)]
        error = self.result.error_msg
        return self.result.with_changes(
            evaluators_results=found, error_msg=error and known.replaced(error), webeval=about_of(about, known)
        )


def about_of(told: dict[str, Any], known: KnownSecrets) -> dict[str, Any]:
    """What a result says of a run, under the names that we gave it."""
    return {name: value if name in OURS else known.everywhere(value, OurNames()) for name, value in told.items()}


class OurNames:
    """Names such as we give: a secret that is equal to one names nothing."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.replace("_", "a").isalpha() and name.islower()


def searched_result(result: EvaluatorResult, known: KnownSecrets) -> EvaluatorResult:
    """The same without secrets that were found elsewhere."""
    if not known.forms:
        return result
    told = result.to_json()
    kept = kept_names(told["expected"])
    values = {name: known.everywhere(told[name], kept) for name in ("actual", "actual_normalized", "expected")}
    is_ours = result.evaluator_name in NAMING
    return result.with_changes(
        **values,
        error_msg=result.error_msg and known.replaced(result.error_msg),
        assertions=result.assertions
        and [_searched_assertion(one, known, is_ours=is_ours) for one in result.assertions],
    )


def _searched_assertion(assertion: Assertion, known: KnownSecrets, *, is_ours: bool) -> Assertion:
    told = known.everywhere(assertion.to_json(), _FIELDS)
    changed = ("assertion_msgs", "error_msg") if is_ours else _FIELDS
    return assertion.with_changes(**{name: told[name] for name in changed})


def kept_names(expected: Any) -> frozenset[str]:
    """Names in what one evaluator found that stay, even if somebody has them for secrets."""
    return _FIXED.union(named_in(expected))


def named_in(expected: Any) -> Iterator[str]:
    """All names that an expectation has in it."""
    if isinstance(expected, dict):
        for name, value in expected.items():
            yield name
            yield from named_in(value)
    elif isinstance(expected, list):
        for one in expected:
            yield from named_in(one)
