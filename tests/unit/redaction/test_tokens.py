"""What need not be searched for secrets: the fast ways find exactly what the slow ones find."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings, strategies

from pytest_webeval.redaction.json import JsonRedactor, decode_token, is_plain_text, list_marked, list_tokens
from pytest_webeval.redaction.known_secrets import KnownSecrets, fold
from pytest_webeval.redaction.policy import RedactionPolicy, build_scope
from pytest_webeval.redaction.redactor import Redactor
from pytest_webeval.redaction.text import Replacements, TextRedactor
from tests.support.default_run import examples
from tests.support.stored_results import build

SECRET = "Zq7wertyuiop90"
PIECES = (
    *("to%5Bken", "s%5Bid%5D", '"response_cookies'),
    *(
        "token",
        "Pass",
        "word",
        "-",
        " ",
        "_",
        "=",
        ":",
        '"',
        "\\",
        "\n",
        "·",
        "é",
        "Σ",
        "code",
        "state",
        "desk-lamp",
        "sk-",
    ),
    *(
        "https://ann:",
        "@shop.test/",
        "%40",
        "%2F%2F",
        "signed-exchange",
        "a",
        "lamp",
        SECRET,
        "…",
        "cookie",
        "%5B",
        "x" * 210,
    ),
)
TEXTS = strategies.lists(strategies.sampled_from(PIECES), max_size=4).map("".join)
NAMES = strategies.one_of(
    TEXTS,
    strategies.sampled_from(["headers", "response_cookies", "cookies", "post_data", "name", "value", "code", "state"]),
)
TREES = strategies.recursive(
    strategies.one_of(TEXTS, strategies.none(), strategies.integers()),
    lambda inner: strategies.one_of(
        strategies.lists(inner, max_size=3),
        strategies.dictionaries(NAMES, inner, max_size=3),
        strategies.builds(lambda name, value: {"name": name, "value": value}, NAMES, inner),
    ),
    max_leaves=12,
)
MANY = [f"/product/{number}" for number in range(300)]


def redactor(marked=None):
    return JsonRedactor(TextRedactor(build_scope(RedactionPolicy()), Replacements(b"salt")), marked)


def redact_slowly(tree):
    trees = redactor()
    return trees(tree), trees.texts.replacements.secrets


@given(TREES, strategies.booleans())
@settings(max_examples=examples(600))
@example(tree={"response_cookies": [{"name": "lang", "value": "en"}]}, is_long=False)
@example(tree={"post_data": {"to-ken": "x"}}, is_long=True)
@example(tree={"a": [{"name": "code", "value": "ab12cd34"}, {"name": "s tate", "value": "x"}]}, is_long=True)
@example(tree={"https://ann:to%5Bken": "word"}, is_long=False)
@example(tree={"headers": [{"name": "Accept", "value": "image/avif,application/signed-exchange"}]}, is_long=False)
def test_what_is_searched_in_parts_is_redacted_as_what_is_searched_whole(tree, is_long):
    tree = {"shown": tree, "others": MANY} if is_long else {"shown": tree}
    expected, secrets = redact_slowly(tree)
    marked = list_marked(tree)
    trees = redactor(marked)
    assert trees(tree) == expected
    assert trees.texts.replacements.secrets == secrets
    if marked == frozenset():
        assert (expected, secrets) == (tree, {})


@pytest.mark.parametrize(
    "tree",
    [
        {"tok\u00b7en": SECRET},
        {"to\nken": SECRET},
        {"pass-word": SECRET},
        {"page": f"{'x' * 300} sk-abcdefghijklmnopqrstuvwx"},
        {"form": [{"name": " code", "value": "ab12cd34"}, {"name": "state", "value": "x"}]},
        {"cookies": [{"name": "lang", "value": "english-12"}]},
    ],
)
def test_what_stands_among_many_texts_is_found(tree):
    tree = {"shown": tree, "others": MANY}
    expected, _ = redact_slowly(tree)
    assert list_marked(tree) != frozenset()
    assert redactor(list_marked(tree))(tree) == expected != tree


@given(TREES)
@settings(max_examples=examples(300))
@example({'a"response_cookies': [], "password": "x"})
@example({"response_cookies": [{}]})
def test_all_texts_are_listed_as_they_are(tree):
    listed = list_tokens(tree)
    if listed is not None:
        assert list_texts(tree) - {"response_cookies"} <= set(map(decode_token, listed)) <= list_texts(tree)


def list_texts(tree):
    if isinstance(tree, dict):
        return set(tree).union(*map(list_texts, tree.values()))
    return (
        set().union(*map(list_texts, tree)) if isinstance(tree, list) else ({tree} if isinstance(tree, str) else set())
    )


@pytest.mark.parametrize("mode", [{}, {"mode": "strict"}, {"allowed": {"NetworkEventEvaluator": ("form_key",)}}])
def test_a_name_that_ends_as_that_of_no_cookies_hides_no_text_from_the_search(mode):
    answer = {'a"response_cookies': [], "note": "the password I used is hunter2222"}
    shown = {"parts": {"answer": answer}, "details": [{"body": {"post_data": {"password": "hunter2222"}}}]}
    one = Redactor(RedactionPolicy(**mode), b"salt")
    _, told = one.redact_attachment(one.redact_result(build([], {"run": "runs/1"})), shown)
    assert "hunter2222" not in json.dumps(told)


@pytest.mark.parametrize("name", ["to%5Bken%5D", "s%5Bid%5D", "pass%5Bword"])
@pytest.mark.parametrize("others", [[], MANY])
def test_a_name_with_encoded_brackets_is_found(name, others):
    tree = {"headers": [{"name": "Cookie", "value": "sid=abcdef123456"}], "post_data": {name: SECRET}, "others": others}
    expected, _ = redact_slowly(tree)
    assert redactor(list_marked(tree))(tree) == expected
    assert expected["post_data"][name] != SECRET
    assert not is_plain_text(json.dumps({name: SECRET}))


def test_words_that_only_look_like_marks_of_secrets_need_no_search():
    headers = [
        {"name": "Accept", "value": "text/html,application/signed-exchange;v=b3;q=0.7"},
        {"name": "Referer", "value": "http://shop.test/product/desk-lamp"},
    ]
    assert list_marked({"headers": headers, "response_cookies": []}) == frozenset()
    assert list_marked({"headers": headers, "others": MANY}) == frozenset()


def test_only_texts_with_something_in_them_are_found():
    tree = {"headers": [{"name": "X-Auth-Token", "value": "a"}, {"name": "Accept", "value": "*/*"}], "others": MANY}
    assert list_marked(tree) == {b'"X-Auth-Token"'}


@given(TEXTS)
def test_a_text_without_marks_is_no_json_with_secrets(text):
    if is_plain_text(text) and "\\" not in text:
        for tree in ({text: SECRET}, [text], {"name": text, "value": SECRET}):
            assert redact_slowly(tree) == (tree, {})


@pytest.mark.parametrize(
    ("secret", "text"),
    [
        ("abcde\u03a3", "abcde\u03a3x"),
        ("58d17385ff386c3fed36115d51", "signed in as 58d17385ff386c3fe"),
        ("58d17385ff386c3fed36115d51", 'as "58D17385FF386C3FED36115D51"'),
        ('say "hi" 12', 'say \\"hi\\" 12'),
    ],
)
def test_a_known_secret_is_replaced_among_many_texts(secret, text):
    replacer = KnownSecrets.of({secret: "redacted-1"})
    shown = replacer.replace_in_json([text, *MANY])
    assert shown == [replacer.replace(text), *MANY]
    assert "redacted-1" in shown[0]


SECRETS = strategies.dictionaries(
    strategies.sampled_from([SECRET, "päss wörd", 'say "hi" 12', "ΣΑΣ-secret", "sid=abcdef123", "back\\slash1"]),
    strategies.just("redacted-1"),
    min_size=1,
    max_size=3,
)
AROUND = strategies.sampled_from(["", " ", "lamp ", "ÄΣ", '"', "\n", "x" * 30])


def spellings(secret):
    lowered = secret.lower()
    return [
        secret,
        lowered,
        secret.upper(),
        secret[:17],
        lowered[:9],
        json.dumps(secret)[1:-1],
        *sorted(KnownSecrets.of({secret: "r"}).forms),
    ]


@given(SECRETS, strategies.data())
@settings(max_examples=examples(400))
def test_known_secrets_are_replaced_wherever_each_text_alone_has_them(secrets, data):
    replacer = KnownSecrets.of(secrets)
    texts = strategies.builds(
        "".join,
        strategies.tuples(
            AROUND, strategies.sampled_from([word for one in secrets for word in spellings(one)]), AROUND
        ),
    )
    tree = data.draw(strategies.lists(strategies.one_of(texts, AROUND), max_size=4))
    shown = [*map(replacer.replace, tree)]
    assert replacer.replace_in_json({"a": tree, "b": MANY}) == {"a": shown, "b": MANY}
    assert not any(fold(word) in fold(text) for word in secrets for text in shown)
    if not replacer.may_be_in(tree):
        assert shown == tree
