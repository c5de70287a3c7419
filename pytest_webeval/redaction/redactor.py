"""`Redactor`: results and texts as they may leave the run directory."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pytest_webeval.redaction.assertions import Messages
from pytest_webeval.redaction.explanations import EXPLANATIONS
from pytest_webeval.redaction.explanations import ExplanationRedactor
from pytest_webeval.redaction.explanations import explanations_of
from pytest_webeval.redaction.explanations import searched
from pytest_webeval.redaction.known import KnownSecrets
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.recorded import Recorded
from pytest_webeval.redaction.recorded import opaque_words
from pytest_webeval.redaction.replacements import Replacements
from pytest_webeval.redaction.scope import scope_of
from pytest_webeval.redaction.texts import Texts
from pytest_webeval.redaction.trees import Trees
from pytest_webeval.results import Assertion
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.results import TaskResult

REDACTED = "redacted"
# What `webeval` of a result says of ourselves and of files, which is no part of a recording.
_OURS = frozenset(
    {"format", "inputs", "libraries", "redacted", "rules", "run", "skipped", "tasks_from", "version", "wall_time"}
)
# Who names assertions by our words and those of the task alone, so that no secret is in these names.
_NAMING = frozenset({"AgentResponseEvaluator", "NetworkEventEvaluator", "RubricEvaluator"})
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
class _Part:
    """What one evaluator found, without the secrets that stood in it, and how they were replaced."""

    result: EvaluatorResult
    messages: Messages

    @property
    def made(self) -> Replacements:
        return self.messages.trees.texts.replacements


@dataclass(frozen=True, slots=True)
class Redactor:
    """Replaces secrets, equal ones by equal words. Without a salt, those of equal length are alike.

    Results may repeat what only the recording calls a secret: it is looked for there where that is known.
    """

    policy: RedactionPolicy
    salt: bytes | None = None
    recorded: Recorded | None = None

    def result(self, result: TaskResult) -> TaskResult:
        """The result without secrets, as it is written elsewhere and as all that is told of it is made from."""
        if self.policy.is_off or result.webeval.get(REDACTED) == self.policy.mode:
            return result
        parts = [self._redacted(one) for one in result.evaluators_results]
        explained = explanations_of(result)
        if explained is not None:
            explained = [ExplanationRedactor(part.messages)(one) for one, part in zip(explained, parts, strict=True)]
        around = Replacements(self.salt)
        trees = Trees(Texts(scope_of(self.policy), around))
        kept = _OURS if explained is None else _OURS | {EXPLANATIONS}
        told = {name: value if name in kept else trees(value) for name, value in result.webeval.items()}
        error = result.error_msg and trees.texts(result.error_msg)
        everywhere = (*(part.made for part in parts), around)
        found = {secret: told for one in everywhere for secret, told in one.found.items()}
        told_of = (result.error_msg, [value for name, value in result.webeval.items() if name not in _OURS])
        found = self._recorded(result.evaluators_results, result.webeval.get("inputs") or (), *told_of) | found
        known = KnownSecrets.of(found)
        searching = [KnownSecrets.of(found, part.made.spared) if part.made.spared else known for part in parts]
        about = _about(told, known)
        if explained is not None:
            whole = zip(explained, searching, parts, strict=True)
            about[EXPLANATIONS] = [searched(one, secrets, _kept(part.result.expected)) for one, secrets, part in whole]
        return result.with_changes(
            evaluators_results=[_searched(part.result, one) for part, one in zip(parts, searching, strict=True)],
            error_msg=error and known.replaced(error),
            webeval=about | {REDACTED: self.policy.mode},
        )

    def evaluated(self, result: EvaluatorResult) -> EvaluatorResult:
        """The same of what one evaluator found."""
        if self.policy.is_off:
            return result
        part = self._redacted(result)
        found = self._recorded([result]) | part.made.found
        return _searched(part.result, KnownSecrets.of(found, part.made.spared))

    def _recorded(self, results: list[EvaluatorResult], names: Iterable[str] = (), *around: Any) -> dict[str, str]:
        """Secrets of the recording that results repeat."""
        if self.recorded is None:
            return {}
        return self.recorded.secrets(opaque_words(results, *around), self.policy, self.salt, names)

    def text(self, text: str) -> str:
        """A text without secrets, such as a message, a log or a question to a judge."""
        if self.policy.is_off:
            return text
        made = Replacements(self.salt)
        texts = Texts(scope_of(self.policy), made)
        told = texts(text)
        return texts(KnownSecrets.of(made.found).replaced(told)) if made.found else told

    def _redacted(self, result: EvaluatorResult) -> _Part:
        made = Replacements(self.salt)
        found = result.to_json()
        trees = Trees(Texts(scope_of(self.policy, result.evaluator_name, list(_named(found["expected"]))), made))
        values = {name: trees(found[name]) for name in ("actual", "actual_normalized", "expected")}
        messages = Messages(trees)
        redacted = result.with_changes(
            **values,
            assertions=result.assertions
            and [_asserted(one, messages, is_ours=result.evaluator_name in _NAMING) for one in result.assertions],
            error_msg=result.error_msg and trees.texts(result.error_msg),
        )
        return _Part(redacted, messages)


def _asserted(assertion: Assertion, messages: Messages, *, is_ours: bool) -> Assertion:
    name, told, error = assertion.assertion_name, assertion.assertion_msgs, assertion.error_msg
    return assertion.with_changes(
        assertion_name=name if is_ours else messages.trees.texts(name),
        assertion_msgs=told and messages.of(name, told),
        error_msg=error and messages.of(name, [error])[0],
    )


def _about(told: dict[str, Any], known: KnownSecrets) -> dict[str, Any]:
    """What a result says of a run, under the names that we gave it."""
    return {name: value if name in _OURS else known.everywhere(value, _Names()) for name, value in told.items()}


class _Names:
    """Names such as we give: a secret that is equal to one names nothing."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.replace("_", "a").isalpha() and name.islower()


def _searched(result: EvaluatorResult, known: KnownSecrets) -> EvaluatorResult:
    """The same without secrets that were found elsewhere."""
    if not known.forms:
        return result
    told = result.to_json()
    kept = _kept(told["expected"])
    values = {name: known.everywhere(told[name], kept) for name in ("actual", "actual_normalized", "expected")}
    is_ours = result.evaluator_name in _NAMING
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


def _kept(expected: Any) -> frozenset[str]:
    """Names in what one evaluator found that stay, even if somebody has them for secrets."""
    return _FIXED.union(_named(expected))


def _named(expected: Any) -> Iterator[str]:
    """All names that an expectation has in it."""
    if isinstance(expected, dict):
        for name, value in expected.items():
            yield name
            yield from _named(value)
    elif isinstance(expected, list):
        for one in expected:
            yield from _named(one)
