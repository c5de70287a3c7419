"""Tasks that expect one value of each type, rare ones included, and runs that give it in every spelling."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.parity.harness.choosing import drawn, rank
from tests.parity.harness.drafts import FORM, JSON, Body, Draft, Event
from tests.parity.harness.leaves import Leaf, leaves
from tests.parity.harness.patterns import is_pattern
from tests.parity.harness.recording import GUESSES, HONEST, PATTERN, SITES, Recording
from tests.parity.harness.spellings import other_spellings, typed_spellings
from tests.parity.harness.synthetic import answering, requesting, task
from tests.parity.harness.value_examples import REWRITTEN, VALUES

PER_VALUE, OTHERS, MORE = 9, 4, 11  # spellings of the type, of any type, and values of the other rows
OWN = ("shopping", "gitlab")
HOME = Event(SITES["shopping"][0] + "/")


def made_up_values() -> Iterator[Recording]:
    """One value expected, alone or as one of two, and another given."""
    number = 100_000
    for name, values in VALUES.items():
        for place, wanted in enumerate(values):
            alternatives = [wanted, values[(place + 1) % len(values)]]
            yield from _given(number, name, wanted, values)
            yield from _given(number + 1, name, alternatives, values)
            number += 2


def _given(number: int, name: str, wanted: Any, values: tuple[Any, ...]) -> Iterator[Recording]:
    """The spellings of the wanted value, drawn by the task's number; two in one list are guesses."""
    first = wanted[0] if isinstance(wanted, list) else wanted
    leaf = Leaf((), first, name)
    rewritten = (
        {f"rewritten, {about}": edit(first) for about, edit in REWRITTEN.items()} if isinstance(first, str) else {}
    )
    others = {f"value {place}": value for place, value in enumerate(values)}
    guesses = {f"guess {place}": [value, first] for place, value in enumerate(values[:4])}
    given = [
        ("itself", first, HONEST),
        *((*one, HONEST) for one in drawn(typed_spellings(leaf), PER_VALUE, number)),
        *((*one, HONEST) for one in drawn(other_spellings(leaf), OTHERS, number)),
        *((*one, HONEST) for one in drawn({**rewritten, **others}.items(), MORE, number)),
        *((*one, GUESSES) for one in drawn(guesses.items(), 2, number)),
    ]
    for about, value, kind in given:
        place = _PLACES[rank(number) % len(_PLACES)]
        draft = place(number, name, wanted, value)
        written = (value, *(leaf.value for leaf in leaves(draft.answer, {})))
        patterned = any(is_pattern(str(one).strip()) for one in written)
        yield draft.recording(f"{name}: {about}", PATTERN if patterned else kind)


def _typed(name: str) -> dict[str, str]:
    return {"type": "object"} if name == "full_address" else {"type": "string", "format": name}


def _schema(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _answered(number: int, schema: Any, wanted: Any, given: Any) -> Draft:
    definition = {**task(answering("RETRIEVE", wanted, schema), sites=OWN), "task_id": number}
    answer = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": given, "error_details": None}
    return Draft(definition, answer, (HOME,))


def _alone(number: int, name: str, wanted: Any, given: Any) -> Draft:
    """The only item of the data."""
    return _answered(number, _schema({"type": "string", "format": name}), [wanted], [given])


def _member(number: int, name: str, wanted: Any, given: Any) -> Draft:
    """A member of an object, beside another."""
    schema = _schema(
        {"type": "object", "properties": {"x": {"type": "string", "format": name}, "n": {"type": "number"}}}
    )
    return _answered(number, schema, [{"x": wanted, "n": 1}], [{"n": 1, "x": given}])


def _among_members(number: int, name: str, wanted: Any, given: Any) -> Draft:
    """An item of an array that is a member of an object."""
    schema = _schema({"type": "object", "properties": {"xs": _schema({"type": "string", "format": name})}})
    return _answered(number, schema, [{"xs": [wanted]}], [{"xs": [given]}])


def _second(number: int, name: str, wanted: Any, given: Any) -> Draft:
    """An item behind another that is right, in the other order."""
    return _answered(number, _schema({"type": "string", "format": name}), [wanted, wanted], [given, _plain(wanted)])


def _plain(wanted: Any) -> Any:
    return wanted[0] if isinstance(wanted, list) else wanted


def _event(number: int, given: Any, body: Body | None, query: str, **config: Any) -> Draft:
    definition = {**task(answering("MUTATE"), requesting(**config), sites=OWN), "task_id": number}
    event = Event(f"{SITES['shopping'][0]}/a{query}", "POST", 200, {"accept": "*/*"}, body)
    answer = {"task_type": "MUTATE", "status": "SUCCESS", "retrieved_data": given}
    return Draft(definition, answer, (HOME, event))


def _posted(number: int, name: str, wanted: Any, given: Any) -> Draft:
    """A field of a body: JSON or a form, as the task's number has it."""
    schema = {"type": "object", "properties": {"x": _typed(name)}}
    expected = {"url": "__SHOPPING__/a", "http_method": "POST", "post_data": {"x": wanted}}
    body = Body({"x": given, "y": 1}, (JSON, FORM)[rank(number, "body") % 2])
    return _event(number, None, body, "", expected=expected, post_data_schema=schema)


def _posted_deep(number: int, name: str, wanted: Any, given: Any) -> Draft:
    """A member deep in a JSON body."""
    schema = {"type": "object", "properties": {"$.a[0].x": _typed(name)}}
    expected = {"url": "__SHOPPING__/a", "http_method": "POST", "post_data": {"$.a[0].x": wanted}}
    return _event(number, None, Body({"a": [{"x": given}]}, JSON), "", expected=expected, post_data_schema=schema)


def _queried(number: int, name: str, wanted: Any, given: Any) -> Draft:
    """A parameter of a query."""
    schema = {"type": "object", "properties": {"x": _schema(_typed(name))}}
    values = [str(one) for one in wanted] if isinstance(wanted, list) else [str(wanted)]
    expected = {"url": "__SHOPPING__/a", "http_method": "POST", "query_params": {"x": values}}
    text = given if isinstance(given, str) else json.dumps(given)
    query = Body({"x": text.encode("utf-8", "replace").decode()}).written()
    return _event(number, None, None, f"?{query}", expected=expected, query_params_schema=schema)


_PLACES = (_alone, _alone, _alone, _member, _member, _among_members, _second, _posted, _posted_deep, _queried)
