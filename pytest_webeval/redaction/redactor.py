"""`Redactor`: results and texts as they may leave the run directory."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

from msgspec import Struct

from pytest_webeval.redaction.json import JsonRedactor, list_marked, list_tokens, may_hold
from pytest_webeval.redaction.known_secrets import KnownSecrets
from pytest_webeval.redaction.names import COOKIE, FIELD, HEADER, MEMBER, PARAMETER
from pytest_webeval.redaction.patterns import QUOTED
from pytest_webeval.redaction.policy import ANSWER_NAMES, DEFINITION, REDACTED, RedactionPolicy, build_scope
from pytest_webeval.redaction.recording_secrets import RecordingSecrets, repeated_words
from pytest_webeval.redaction.text import Replacements, TextRedactor
from pytest_webeval.results import (
    DIFFERENT,
    EXTRA,
    MISSING,
    UNREADABLE,
    Difference,
    EvaluatorResult,
    Explanation,
    NamedEvent,
    TaskResult,
    plain_json,
)
from pytest_webeval.safety.text import ELLIPSIS
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR

_DIFFERENCES = (DIFFERENT, MISSING, EXTRA, UNREADABLE)
_KINDS_BY_SECTION = {"headers": HEADER, "response_cookies": COOKIE, "post_data": FIELD, "response_content": FIELD}
_KINDS_BY_SECTION |= {"query_params": PARAMETER}
_PREFIXES = ("expected ", "got ", "missing ", "not expected ")


class MessageRedactor(Struct, frozen=True):
    """Replaces secrets in the messages of assertions."""

    trees: JsonRedactor

    def redact(self, path: str, messages: list[str]) -> list[str]:
        """The messages of an assertion about the value at a path."""
        field = self.find_secret_field(path)
        if field is None:
            return [self.trees.texts(message) for message in messages]
        return [self.trees.texts(self._hide_value(message, *field)) for message in messages]

    def find_secret_field(self, path: str) -> tuple[str, str] | None:
        """Kind and name of the secret field that a path leads to; None where it leads to no secret."""
        kind, segments = MEMBER, path.split(".")
        for number, segment in enumerate(segments, 1):
            kind = _KINDS_BY_SECTION.get(segment, kind)
            if segment in _KINDS_BY_SECTION:
                rest = ".".join(segments[number:])
                if rest and self.trees.texts.scope.covers(kind, rest):
                    return kind, rest
            elif self.trees.texts.scope.covers(MEMBER if kind == COOKIE else kind, segment.partition("[")[0]):
                return kind, segment.partition("[")[0]
        return None

    def _hide_value(self, message: str, kind: str, name: str) -> str:
        prefix = next((prefix for prefix in _PREFIXES if message.startswith(prefix)), "")
        body = message.removeprefix(prefix)
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            return prefix + self._hide_quoted(body, kind, name)
        redacted = json.dumps(self.trees.hide(name, value, kind), ensure_ascii=False)
        return f"{prefix}{redacted}" if isinstance(value, str | int | float | list | dict) else message

    def _hide_quoted(self, message: str, kind: str, name: str) -> str:
        """A sentence with each quoted text replaced; a cut quotation extends to the end."""

        def hide(match: Any) -> str:
            text: str = match.group()
            inner = text[1:-1] if len(text) > 1 and text[0] == text[-1] else text[1:]
            secret = inner.rstrip(ELLIPSIS)
            before, _, after = text.partition(secret) if secret else (text, "", "")
            return f"{before}{self.trees.texts.replace_value(kind, name, secret)}{after}"

        return QUOTED.sub(hide, message)

    @property
    def allowed(self) -> Collection[str]:
        """Values that stay readable here."""
        return self.trees.texts.replacements.allowed

    def explanation(self, explanation: Explanation) -> Explanation:
        """The explanation of the evaluation, with its secrets replaced as in the evaluation itself."""
        return _rewrite_explanation(explanation, self._redact_difference, self.trees)

    def _redact_difference(self, difference: Difference) -> Difference:
        """What we write of a difference, with replacements: whoever forged it may have added anything."""
        path, kind, texts = difference.path, difference.kind, self.trees.texts
        known = kind if kind in _DIFFERENCES else DIFFERENT
        if kind != known or kind == EXTRA or not texts.scope.is_strict:  # strict takes long names of fields for secrets
            path = ".".join(map(texts, texts(path).split(".")))
        sides = (self._redact_value(difference.path, side) for side in (difference.expected, difference.actual))
        return Difference(path, known, *sides)

    def _redact_value(self, path: str, value: Any) -> Any:
        if field := self.find_secret_field(path):
            kind, name = field
            return self.trees.hide(name, value, kind)
        head, _, rest = path.partition(".")
        tree = self.trees({head: {rest: value} if rest else value})
        for _ in range(2 if rest else 1):
            tree = next(iter(tree.values())) if isinstance(tree, dict) else tree
        return tree


def replace_in_explanation(explanation: Explanation, secrets: KnownSecrets, allowed: Container[str]) -> Explanation:
    """The same without the known secrets. Our names and those of the task stay."""

    def replace(difference: Difference) -> Difference:
        path = secrets.replace(difference.path) if difference.kind == EXTRA else difference.path
        sides = (secrets.replace_in_json(side, allowed) for side in (difference.expected, difference.actual))
        return Difference(path, difference.kind, *sides)

    return _rewrite_explanation(
        explanation, replace, partial(secrets.replace_in_json, allowed=NamedEvent.__struct_fields__)
    )


def _rewrite_explanation(
    explanation: Explanation, rewrite: Callable[[Difference], Difference], replace: Callable[[Any], Any]
) -> Explanation:
    nearest = explanation.nearest and NamedEvent(**replace(explanation.nearest.to_json()))
    return Explanation([*map(rewrite, explanation.differences)], nearest, explanation.candidates)


# The keys of `webeval` in a result about this package and about files, which are not part of a recording.
OWN_KEYS = frozenset(
    {
        *("excluded_as", "format", "inputs", "libraries", "redacted", "rules", "run", "schema_version", "skipped"),
        *("task_checksum", "tasks_from", "version", "wall_time"),
    }
)
# Evaluators whose assertion names have only our words and those of the task, so that no secret is in these names.
_OWN_EVALUATORS = frozenset(
    {"AgentResponseEvaluator", "NetworkEventEvaluator", "RequestPatternEvaluator", "RubricEvaluator"}
)
# Names of the parts of an event and of an answer in a result, which stay even if they equal a secret.
_EVENT_AND_ANSWER_NAMES = frozenset(
    {
        *("event_type", "headers", "http_method", "post_data", "query_params", "query_string", "response_content"),
        *("response_cookies", "response_status", "url", *ANSWER_NAMES),
    }
)


class RedactedResult(Struct, frozen=True):
    """A result without secrets, its secrets with their replacements, and the values that stay in each evaluation."""

    result: TaskResult
    secrets: dict[str, str]
    allowed: Sequence[Collection[str]]

    def then(self, redacted: RedactedResult) -> RedactedResult:
        """What was redacted again."""
        allowed = [{*one, *other} for one, other in zip_longest(self.allowed, redacted.allowed, fillvalue=())]
        return RedactedResult(redacted.result, self.secrets | redacted.secrets, allowed)

    def without(self, secrets: dict[str, str]) -> RedactedResult:
        """The same without these secrets."""
        every = RedactedResult(self.result, self.secrets | secrets, self.allowed)
        replacer = KnownSecrets.of(secrets)
        values = [self.result.evaluators_results, self.result.error_msg, *_list_run_values(self.result)]
        if not secrets or not replacer.may_be_in(values):
            return every
        parts = self.result.evaluators_results
        replacers = [
            KnownSecrets.of(secrets, allowed) if allowed else replacer
            for _, allowed in zip_longest(parts, self.allowed[: len(parts)], fillvalue=())
        ]
        webeval = {
            name: value if name in OWN_KEYS else replacer.replace_in_json(value, _OwnNames())
            for name, value in self.result.webeval.items()
        }
        changed = self.result.with_changes(
            evaluators_results=[_replace_in_result(*pair) for pair in zip(parts, replacers, strict=True)],
            error_msg=self.result.error_msg and replacer.replace(self.result.error_msg),
            webeval=webeval,
        )
        return RedactedResult(changed, every.secrets, self.allowed)


class _OwnNames:
    """Names in our spelling: a name that equals a secret stays if it is spelled so."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.replace("_", "a").isalpha() and name.islower()


def _replace_in_result(result: EvaluatorResult, replacer: KnownSecrets) -> EvaluatorResult:
    """The same without the secrets that are known from other parts of the result."""
    if not replacer.forms:
        return result
    allowed = _EVENT_AND_ANSWER_NAMES.union(_list_names(plain_json(result.expected)))  # also if they equal a secret
    replace = partial(replacer.replace_in_json, allowed=allowed)
    explanation = result.explanation and replace_in_explanation(result.explanation, replacer, allowed)
    return _rewrite(result, replace, lambda _, messages: replace(messages), explanation)


def _rewrite(
    result: EvaluatorResult,
    replace: Callable[[Any], Any],
    replace_messages: Callable[[str, list[str]], list[str]],
    explanation: Explanation | None,
) -> EvaluatorResult:
    """The same with other values, texts and messages about the value at a path. Names of our own assertions stay."""
    is_ours = result.evaluator_name in _OWN_EVALUATORS
    return result.with_changes(
        **{name: replace(plain_json(getattr(result, name))) for name in ("actual", "actual_normalized", "expected")},
        assertions=result.assertions
        and [
            assertion.with_changes(
                assertion_name=assertion.assertion_name if is_ours else replace(assertion.assertion_name),
                assertion_msgs=assertion.assertion_msgs and replace_messages(assertion.path, assertion.assertion_msgs),
                error_msg=assertion.error_msg and replace_messages(assertion.path, [assertion.error_msg])[0],
            )
            for assertion in result.assertions
        ],
        error_msg=result.error_msg and replace(result.error_msg),
        explanation=explanation,
    )


def _list_names(expected: Any) -> Iterator[str]:
    """All names that an expectation has in it."""
    if isinstance(expected, dict):
        for name, value in expected.items():
            yield name
            yield from _list_names(value)
    elif isinstance(expected, list):
        for child in expected:
            yield from _list_names(child)


class Redactor(Struct, frozen=True):
    """Replaces secrets, equal ones by equal words. Without a salt, those of equal length are alike.

    Results may repeat secrets that only the recording names: these are searched for in `recorded`.
    """

    policy: RedactionPolicy
    salt: bytes | None = None
    recorded: RecordingSecrets | None = None

    def result(self, result: TaskResult) -> TaskResult:
        """The result without secrets, as it is written outside of the run directory and used in all reports."""
        return self.redact_result(result).result

    def redact_result(self, result: TaskResult) -> RedactedResult:
        """The same, with what was replaced."""
        redacted = RedactedResult(result, {}, [])
        for policy in self.policy.steps:
            redacted = redacted.then(self._redact_result_once(policy, redacted.result))
        return redacted

    def redact_attachment(
        self, redacted: RedactedResult, attachment: dict[str, Any], agent_values: Any = None
    ) -> tuple[TaskResult, Any]:
        """The result and the JSON that is shown with it: a secret of one of the two is a secret in the other.

        In that JSON, the names of a task's definition stay readable within it, as in the results of its evaluators.
        `agent_values` are the parts of that JSON that the agent wrote: they may repeat secrets of the recording.
        """
        for policy in self.policy.steps:
            replacements = Replacements(self.salt)
            safe = self._redact_parts(policy, attachment, replacements)
            inputs = redacted.result.webeval.get("inputs") or ()
            recorded = self._find_recorded(policy, [], inputs, agent_values) if agent_values else {}
            secrets = recorded | replacements.secrets
            new = {secret: secrets[secret] for secret in secrets if secret not in redacted.secrets}
            replacer = KnownSecrets.of(redacted.secrets | new, replacements.allowed)
            redacted = redacted.without(new) if new else redacted
            attachment = replacer.replace_in_json(safe, _OwnNames())
        return redacted.result, attachment

    def redact_evaluation(self, result: EvaluatorResult) -> EvaluatorResult:
        """The same for one evaluation."""
        for policy in self.policy.steps:
            secrets = self._find_recorded(policy, [result])
            redacted, messages = self._redact_part(policy, result, secrets)
            result = _replace_in_result(redacted, KnownSecrets.of(secrets, messages.allowed))
        return result

    def text(self, text: str) -> str:
        """A text without secrets, such as a message or a log."""
        return self.texts([text])[0]

    def texts(self, texts: Sequence[str]) -> list[str]:
        """Texts that belong together, such as those of a question to a judge: a secret in one is one in all."""
        for policy in self.policy.steps:
            replacements = Replacements(self.salt)
            redact = TextRedactor(build_scope(policy), replacements)
            texts = list(map(redact, texts))
            if replacements.secrets:
                known = KnownSecrets.of(replacements.secrets)
                texts = [redact(known.replace(text)) for text in texts]
        return list(texts)

    def _redact_result_once(self, policy: RedactionPolicy, result: TaskResult) -> RedactedResult:
        """The result without what one policy takes for secrets."""
        if result.webeval.get(REDACTED) == policy.mode:
            return RedactedResult(result, {}, [])
        parts = result.evaluators_results
        values = [parts, result.error_msg, *_list_run_values(result)]
        tokens = None if policy.is_strict else list_tokens(values)
        if tokens is not None and not may_hold(tokens):
            plain = result.with_changes(webeval=result.webeval | {REDACTED: policy.mode})
            return RedactedResult(plain, {}, [() for _ in parts]).without(self._find_repeated(policy, result))
        secrets: dict[str, str] = {}
        redacted = [self._redact_part(policy, part, secrets) for part in parts]
        trees = JsonRedactor(TextRedactor(build_scope(policy), Replacements(self.salt, secrets)))
        webeval: dict[str, Any] = {}
        for name, value in result.webeval.items():
            webeval |= {name: value} if name in OWN_KEYS and _is_simple(value) else trees({name: value})
        changed = result.with_changes(
            evaluators_results=[part for part, _ in redacted],
            error_msg=result.error_msg and trees.texts(result.error_msg),
            webeval=webeval | {REDACTED: policy.mode},
        )
        allowed = [messages.allowed for _, messages in redacted]
        return RedactedResult(changed, {}, allowed).without(self._find_repeated(policy, result) | secrets)

    def _redact_part(
        self, policy: RedactionPolicy, result: EvaluatorResult, secrets: dict[str, str]
    ) -> tuple[EvaluatorResult, MessageRedactor]:
        """One evaluation without its secrets, which are added to those that are known, and what has replaced them."""
        names = list(_list_names(plain_json(result.expected)))
        scope = build_scope(policy, result.evaluator_name, names)
        trees = JsonRedactor(TextRedactor(scope, Replacements(self.salt, secrets)))
        messages = MessageRedactor(trees)
        explanation = result.explanation and messages.explanation(result.explanation)
        return _rewrite(result, trees, messages.redact, explanation), messages

    def _redact_parts(
        self, policy: RedactionPolicy, attachment: dict[str, Any], replacements: Replacements
    ) -> dict[str, Any]:
        """The same JSON. Each part of it, whose name is our own, is searched only if it may hold secrets."""
        safe: dict[str, Any] = {}
        for name, part in attachment.items():
            named = {name: part}
            marked = None if policy.is_strict or policy.allowed else list_marked(named)
            if marked == frozenset():
                safe[name] = part
                continue
            scope = build_scope(policy, NETWORK_EVALUATOR, list(_list_names(part)) if name == DEFINITION else ())
            safe |= JsonRedactor(TextRedactor(scope, replacements), marked)(named)
        return safe

    def _find_repeated(self, policy: RedactionPolicy, result: TaskResult) -> dict[str, str]:
        """The secrets of the recording that a result repeats."""
        others, names = [result.error_msg, *_list_run_values(result)], result.webeval.get("inputs") or ()
        return self._find_recorded(policy, result.evaluators_results, names, others=others)

    def _find_recorded(
        self,
        policy: RedactionPolicy,
        results: list[EvaluatorResult],
        names: Iterable[str] = (),
        agent_values: Any = None,
        others: Any = None,
    ) -> dict[str, str]:
        """Secrets of the recording that results and values repeat."""
        if self.recorded is None:
            return {}
        return self.recorded.secrets(repeated_words(results, agent_values, others), policy, self.salt, names)


def _is_simple(value: Any) -> bool:
    """Whether a value has the shape of our own: a text, a number, or a list or an object of these."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return not any(isinstance(part, dict | list) for part in parts)


def _list_run_values(result: TaskResult) -> list[Any]:
    """The values under `webeval` in a result that come from user code."""
    return [{name: value} for name, value in result.webeval.items() if name not in OWN_KEYS or not _is_simple(value)]
