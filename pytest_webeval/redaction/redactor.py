"""`Redactor`: results and texts as they may leave the run directory."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from pytest_webeval.redaction.json import JsonRedactor
from pytest_webeval.redaction.json import may_hold
from pytest_webeval.redaction.known_secrets import KnownSecrets
from pytest_webeval.redaction.messages import EXPLANATIONS
from pytest_webeval.redaction.messages import ExplanationRedactor
from pytest_webeval.redaction.messages import MessageRedactor
from pytest_webeval.redaction.messages import explanations_of
from pytest_webeval.redaction.messages import searched
from pytest_webeval.redaction.policy import REDACTED
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.policy import scope_of
from pytest_webeval.redaction.recording_secrets import RecordingSecrets
from pytest_webeval.redaction.recording_secrets import opaque_words
from pytest_webeval.redaction.replacements import Replacements
from pytest_webeval.redaction.text import TextRedactor
from pytest_webeval.results import Assertion
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.results import TaskResult
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR

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
class RedactedResult:
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
    return {name: value if name in OURS else known.replace_in_json(value, OurNames()) for name, value in told.items()}


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
    values = {name: known.replace_in_json(told[name], kept) for name in ("actual", "actual_normalized", "expected")}
    is_ours = result.evaluator_name in NAMING
    return result.with_changes(
        **values,
        error_msg=result.error_msg and known.replaced(result.error_msg),
        assertions=result.assertions
        and [_searched_assertion(one, known, is_ours=is_ours) for one in result.assertions],
    )


def _searched_assertion(assertion: Assertion, known: KnownSecrets, *, is_ours: bool) -> Assertion:
    told = known.replace_in_json(assertion.to_json(), _FIELDS)
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


@dataclass(frozen=True, slots=True)
class _Part:
    """What one evaluator found, without the secrets that stood in it, and how they were replaced."""

    result: EvaluatorResult
    messages: MessageRedactor

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
    recorded: RecordingSecrets | None = None

    def result(self, result: TaskResult) -> TaskResult:
        """The result without secrets, as it is written elsewhere and as all that is told of it is made from."""
        return self.redacted(result).result

    def redacted(self, result: TaskResult) -> RedactedResult:
        """The same, with what was replaced."""
        if self.policy.is_off or result.webeval.get(REDACTED) == self.policy.mode:
            return RedactedResult(result, {}, [])
        if not self.policy.is_strict and not may_hold([result.evaluators_results, result.error_msg, *_of_run(result)]):
            found = self._found(result, ())
            if not found:
                plain = result.with_changes(webeval=result.webeval | {REDACTED: self.policy.mode})
                return RedactedResult(plain, {}, [() for _ in result.evaluators_results])
        parts = [self._redacted(one) for one in result.evaluators_results]
        around = Replacements(self.salt)
        trees = JsonRedactor(TextRedactor(scope_of(self.policy), around))
        error = result.error_msg and trees.texts(result.error_msg)
        explained = explanations_of(result)
        kept = OURS if explained is None else OURS | {EXPLANATIONS}
        told = {name: value if name in kept else trees(value) for name, value in result.webeval.items()}
        if explained is not None:
            explained = [ExplanationRedactor(part.messages)(one) for one, part in zip(explained, parts, strict=True)]
        found = self._found(result, [*(part.made for part in parts), around])
        known = KnownSecrets.of(found)
        searching = [KnownSecrets.of(found, part.made.spared) if part.made.spared else known for part in parts]
        about = about_of(told, known)
        if explained is not None:
            named = (kept_names(part.result.expected) for part in parts)
            whole = zip(explained, searching, named, strict=True)
            about[EXPLANATIONS] = [searched(one, secrets, names) for one, secrets, names in whole]
        changed = result.with_changes(
            evaluators_results=[searched_result(part.result, one) for part, one in zip(parts, searching, strict=True)],
            error_msg=error and known.replaced(error),
            webeval=about | {REDACTED: self.policy.mode},
        )
        return RedactedResult(changed, found, [part.made.spared for part in parts])

    def beside(self, redacted: RedactedResult, shown: Any, said: Any = None) -> tuple[TaskResult, Any]:
        """The result and JSON that is shown beside it: what is a secret in one of the two is one in the other.

        `said` is what of that JSON the agent said: it may repeat what only the recording calls a secret.
        """
        if self.policy.is_off:
            return redacted.result, shown
        made = Replacements(self.salt)
        trees = JsonRedactor(TextRedactor(scope_of(self.policy, NETWORK_EVALUATOR), made))
        told = trees(shown) if self.policy.is_strict or may_hold(shown) else shown
        recorded = self._recorded([], redacted.result.webeval.get("inputs") or (), said) if said else {}
        new = {secret: one for secret, one in (recorded | made.found).items() if secret not in redacted.found}
        known = KnownSecrets.of(redacted.found | new, made.spared)
        result = redacted.searched(new) if new else redacted.result
        return result, known.replace_in_json(told, OurNames(), known.replaced_in_any_case) if known.forms else told

    def _found(self, result: TaskResult, made: Iterable[Replacements]) -> dict[str, str]:
        """All secrets that were replaced in the parts of a result, and those of the recording that it repeats."""
        around = (result.error_msg, _of_run(result))
        recorded = self._recorded(result.evaluators_results, result.webeval.get("inputs") or (), *around)
        return recorded | {secret: told for one in made for secret, told in one.found.items()}

    def evaluated(self, result: EvaluatorResult) -> EvaluatorResult:
        """The same of what one evaluator found."""
        if self.policy.is_off:
            return result
        part = self._redacted(result)
        found = self._recorded([result]) | part.made.found
        return searched_result(part.result, KnownSecrets.of(found, part.made.spared))

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
        texts = TextRedactor(scope_of(self.policy), made)
        told = texts(text)
        return texts(KnownSecrets.of(made.found).replaced(told)) if made.found else told

    def _redacted(self, result: EvaluatorResult) -> _Part:
        made = Replacements(self.salt)
        found = result.to_json()
        trees = JsonRedactor(
            TextRedactor(scope_of(self.policy, result.evaluator_name, list(named_in(found["expected"]))), made)
        )
        values = {name: trees(found[name]) for name in ("actual", "actual_normalized", "expected")}
        messages = MessageRedactor(trees)
        redacted = result.with_changes(
            **values,
            assertions=result.assertions
            and [_asserted(one, messages, is_ours=result.evaluator_name in NAMING) for one in result.assertions],
            error_msg=result.error_msg and trees.texts(result.error_msg),
        )
        return _Part(redacted, messages)


def _of_run(result: TaskResult) -> list[Any]:
    """What a result says of a run beside what evaluators found, but for what is ours."""
    return [value for name, value in result.webeval.items() if name not in OURS]


def _asserted(assertion: Assertion, messages: MessageRedactor, *, is_ours: bool) -> Assertion:
    name, told, error = assertion.assertion_name, assertion.assertion_msgs, assertion.error_msg
    return assertion.with_changes(
        assertion_name=name if is_ours else messages.trees.texts(name),
        assertion_msgs=told and messages.of(name, told),
        error_msg=error and messages.of(name, [error])[0],
    )
