"""Hypothesis strategies for what readers read: bytes in the shape of a HAR, a log, a payload, a task file and so on."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.fuzz.engine.parts import of_files
from tests.fuzz.engine.tokens import TOKENS, VALUES

Bytes = st.SearchStrategy[bytes]

KEYS = ("a", "name", "value", "type", "items", "url", "text", "status", "score", "", "é", "\ud800")
words = st.sampled_from(KEYS) | st.text(max_size=8)
scalars = st.sampled_from(VALUES) | st.integers() | st.floats() | st.text(max_size=20)
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


def encoded(strategy: st.SearchStrategy[Any]) -> Bytes:
    """JSON of what a strategy draws."""
    return strategy.map(lambda tree: json.dumps(tree).encode())


def shaped(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """An object with some of these members, each now and then of another type."""
    either = {name: st.one_of(member, member, member, trees) for name, member in members.items()}
    return st.fixed_dictionaries({}, optional=either)


def several(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """A few of them."""
    return st.lists(strategy, max_size=3)


def lines(strategy: Bytes) -> Bytes:
    """A few of them, each on its line."""
    return several(strategy).map(b"\n".join)


texts = st.lists(st.sampled_from(TOKENS) | st.binary(max_size=12), max_size=6).map(b"".join)
documents = encoded(trees) | texts

urls = st.sampled_from(
    ("http://shop.test:7770/a?b=c", "https://x/y.css", "http://[::1", "", "ssh://git@x/y", "data:,x")
)
pairs = several(shaped(name=words, value=scalars))
stored = shaped(
    mimeType=st.sampled_from(("application/json", "text/html", "")), text=st.text(), encoding=st.just("base64")
)
asides = shaped(mimeType=words, _file=st.sampled_from(("a", "../a")), _sha1=st.sampled_from(("a", "b")))
requests = shaped(method=st.sampled_from(("GET", "POST")), url=urls, headers=pairs, postData=stored | asides)
responses = shaped(status=st.integers() | st.floats() | st.text(), cookies=pairs, content=stored | asides)
entries = shaped(request=requests, response=responses, _resourceType=words, pageref=words, _frameref=words)
hars = shaped(log=shaped(entries=several(entries)))
snapshots = shaped(type=st.just("resource-snapshot") | words, snapshot=entries)
trace_lines = lines(encoded(snapshots))

numbers = st.sampled_from((0, 1, 2.5, 4, -1, "3", None)) | st.floats() | st.integers()
leaves = shaped(
    criterion=words, max_points=numbers, earned_points=numbers, post_image_earned_points=numbers, condition=words
)
payloads = shaped(
    is_success=numbers,
    outcome_success=st.none() | st.booleans(),
    rubric_is_success=numbers,
    rubric_items=several(leaves),
    items=several(leaves | shaped(items=several(leaves))),
    rubric_outcome_verification=shaped(output_success=st.booleans(), reasoning=st.text()),
    majority_vote_metadata=trees,
    rubric_error=st.none() | st.text(),
    verifier_success=st.booleans(),
    success_criterion=st.sampled_from(("outcome", "process", "both", "x")),
)
scores = shaped(score=numbers, gpt_response_text=payloads.map(json.dumps) | payloads | st.text())

actions = shaped(action=words, arguments=trees, source=st.just("FaraAgent"), message=st.text(), url=urls)
thoughts = st.builds(
    "Thought #{}: {}\nAction #{}: executing tool '{}' with arguments {}".format,
    st.integers(0, 20),
    st.text(max_size=9),
    st.integers(0, 20),
    words,
    trees.map(json.dumps) | trees.map(repr),
)
logs = lines(encoded(actions | shaped(message=thoughts | st.just("Observation#1: x"))) | texts)

kinds = shaped(type=st.sampled_from(("string", "number", "array", "object", "date", "null", "x")), format=words)
schemas = st.recursive(kinds, lambda inner: shaped(type=st.just("array"), items=inner) | shaped(properties=inner))
responses_given = shaped(
    task_type=words, action=words, status=words, results=trees, retrieved_data=trees, error_details=words
)
expectations = shaped(
    evaluator=st.sampled_from(("AgentResponseEvaluator", "NetworkEventEvaluator", "RubricEvaluator")),
    expected=responses_given | shaped(url=urls, post_data=trees, headers=trees, query_params=trees),
    results_schema=schemas,
)
definitions = shaped(
    sites=several(st.sampled_from(("shopping", "gitlab", "x"))),
    task_id=st.integers(0, 9) | words,
    id=words,
    ques=words,
    confirmed_task=words,
    intent=words,
    intent_template=words,
    intent_template_id=st.integers(),
    start_urls=several(urls),
    instantiation_dict=trees,
    revision=st.integers(),
    eval=several(expectations),
)
results = shaped(
    task_id=st.integers() | words,
    status=st.sampled_from(("success", "failure", "error", "x")),
    score=numbers,
    sites=several(words),
    evaluators_results=several(shaped(evaluator_name=words, status=words, assertions=trees)),
    webeval=trees,
)
fenced = encoded(responses_given).map(lambda text: b"```json\n" + text + b"\n```")


def files(**members: Bytes) -> Bytes:
    """Several files, `_` standing for the dot in their names and `__` for a slash."""
    names = {name: name.replace("__", "/").replace("_", ".") for name in members}
    return st.fixed_dictionaries({names[name]: member for name, member in members.items()}).map(of_files)


STRATEGIES: dict[str, Bytes] = {
    "json": documents,
    "text": texts,
    "har": encoded(hars) | documents,
    "lines": trace_lines,
    "trace_files": files(trace_network=trace_lines, resources__a=documents),
    "bodies": files(bodies=lines(encoded(stored | asides)), a=documents),
    "response": encoded(responses_given) | fenced | documents,
    "posted": st.tuples(st.sampled_from((b"application/json\n", b"text/plain\n")), documents).map(b"".join),
    "result": encoded(results),
    "tasks": encoded(several(definitions)) | lines(encoded(definitions)) | texts,
    "log": logs,
    "payload": encoded(payloads),
    "score": encoded(scores),
    "thought": thoughts.map(lambda text: text.encode("utf-8", "surrogatepass")) | texts,
    "value": st.tuples(st.integers(0, 25).map(lambda number: bytes([65 + number])), documents).map(b"".join),
    "projection": st.tuples(st.sampled_from((b"a\t$.a\n", b"$..*\n", b"^a$\n")), encoded(trees)).map(b"".join),
    "tree": encoded(shaped(schema=schemas, expected=trees, actual=trees)),
    "run": files(
        tasks_json=encoded(several(definitions)),
        config_json=encoded(trees),
        runs__7__agent_response_json=encoded(responses_given),
        runs__7__network_har=encoded(hars),
    ),
}


def drawn(strategy: Bytes, count: int, number: int = 0) -> list[bytes]:
    """Documents of a strategy, the same for the same number."""
    found: list[bytes] = []
    unhurried = settings(
        max_examples=max(count, 1),
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )

    @seed(number)
    @unhurried
    @given(strategy)
    def collect(one: bytes) -> None:
        found.append(one)

    collect()
    return found[:count]
