"""Changes of one place in JSON."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tests.fuzz.engine.tokens import VALUES

_DEEP = 150  # levels, more than any reader follows


def changed(tree: Any, random: Random) -> Any:
    """The tree with another value, key or length in one place, be it in the JSON inside one of its texts."""
    if isinstance(tree, str) and tree.startswith(("{", "[")) and random.random() < 0.8:
        return _changed_text(tree, random)
    if not isinstance(tree, dict | list) or not tree or random.random() < 0.1:
        return _another(tree, random)
    if random.random() < 0.15:
        return _reshaped(tree, random)
    key = random.choice(list(tree)) if isinstance(tree, dict) else random.randrange(len(tree))
    tree[key] = changed(tree[key], random)
    return tree


def _changed_text(text: str, random: Random) -> str:
    try:
        return json.dumps(changed(json.loads(text), random))
    except (ValueError, RecursionError):
        return text[: random.randint(0, len(text))]


def _another(old: Any, random: Random) -> Any:
    what = random.random()
    if what < 0.1:
        return [old]
    if what < 0.15:
        return {"a": old}
    if what < 0.18:
        return _deep(old)
    if what < 0.3 and isinstance(old, str):
        return _edited(old, random)
    if what < 0.4 and isinstance(old, int | float):
        return -old
    return random.choice(VALUES)


def _edited(text: str, random: Random) -> str:
    place = random.randint(0, len(text))
    other = random.choice([one for one in VALUES if isinstance(one, str)])
    return text[:place] + other + text[place + random.randint(0, 3) :]


def _deep(tree: Any) -> Any:
    for _ in range(_DEEP):
        tree = [tree]
    return tree


def _reshaped(tree: Any, random: Random) -> Any:
    if isinstance(tree, list):
        place = random.randrange(len(tree))
        return random.choice((tree[:place], tree[place:], tree * 2, tree * 40, [*tree, random.choice(VALUES)]))
    name = random.choice(list(tree))
    value = tree.pop(name)
    if random.random() < 0.5:
        tree[random.choice((f"{name}x", name.upper(), "", "items", "type", "\ud800", name[:1]))] = value
    return tree
