"""The request judge: would a person accept the nearest recorded request? Its answer is a proposal, never a verdict.

It is asked where the deterministic check says "near miss": one question without pictures to the cheap model. The check
stands; a person decides whether to add the proposed pattern to the task.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pytest_webeval.judges.calls import InvalidReply, JudgeCalls, Request, build_messages
from pytest_webeval.judges.evidence import build_system, fence
from pytest_webeval.judges.methods.conclusions import Echoes
from pytest_webeval.judges.methods.replies import build_object_schema, parse_json_object
from pytest_webeval.judges.questions import Role
from pytest_webeval.safety.text import describe_unknown_keys, escape_surrogates, truncate

NAME = "request"
VERSION = "1"
ACCEPTANCE = {"yes": True, "no": False, "unclear": None}
_LONGEST_BLOCK = 20_000  # characters

INSTRUCTIONS = """\
An automatic check compares the requests of a web agent with the request that a task expects. No request fits, but one \
is near. You see the task, the expected request and the nearest recorded one. Decide whether a person would accept the \
recorded request as doing what the task asks for.

- Accept it if it has the same effect on the same thing with the same values, but in another form: another order or \
spelling of parameters, a more specific or a redirected URL, extra parameters that change nothing, another method or \
status that the site also accepts.
- Do not accept it if it acts on another thing, with another value, or not at all, or if a value that the task asks \
for is missing.
- If the two requests and the task do not suffice to decide, the answer is "unclear".

If you accept it, write the expected request with the smallest change that makes it fit. It must not fit requests \
that do something else. Keep the values that the task asks for."""

FORM = """\
Reply with one JSON object and nothing else:
{"reasoning": "...", "acceptance": "yes", "no" or "unclear", \
"expected": "the changed expected request as JSON text; an empty text unless the acceptance is yes"}"""

SCHEMA = build_object_schema(
    {
        "reasoning": {"type": "string"},
        "acceptance": {"type": "string", "enum": list(ACCEPTANCE)},
        "expected": {"type": "string"},
    }
)


def propose(task_text: str, expectation: Mapping[str, Any], recorded: str, calls: JudgeCalls) -> dict[str, Any]:
    """The proposal about the nearest request, as a result has it. Raises `JudgeFailed`.

    `expectation` is the object `expected` of the task, `recorded` the request as JSON text, without secrets. In the
    proposal, `is_accepted` is None where the judge does not know. `expected` is the object `expected` that would have
    to be added to the task; None unless the judge accepts the request and changes something.
    """
    recorded = escape_surrogates(truncate(recorded, _LONGEST_BLOCK))
    echoes = Echoes.of_texts((task_text, recorded))

    def parse(text: str) -> dict[str, Any]:
        reply = parse_json_object(text)
        echoes.refuse_object(reply.source)
        is_accepted, changed = reply.choice("acceptance", ACCEPTANCE), reply.text("expected", may_be_empty=True)
        expected = _read_expected(changed, expectation) if is_accepted and changed.strip() else None
        return {
            "is_accepted": is_accepted,
            "reasoning": reply.text("reasoning"),
            "expected": None if expected == expectation else expected,
        }

    described = escape_surrogates(json.dumps(expectation, ensure_ascii=False, indent=1, default=str))
    messages = build_messages(
        build_system(INSTRUCTIONS, FORM),
        fence("task", escape_surrogates(truncate(task_text, _LONGEST_BLOCK))),
        fence("expected request", truncate(described, _LONGEST_BLOCK)),
        fence("recorded request", recorded),
    )
    return calls.ask(Request("request", messages, parse, schema=SCHEMA, role=Role.TEXT))


def _read_expected(text: str, expectation: Mapping[str, Any]) -> dict[str, Any]:
    fields = parse_json_object(text).fields
    problem = describe_unknown_keys(fields, tuple(expectation), "expected")
    if not fields or problem is not None:
        raise InvalidReply(problem or "the expected request is empty, so that every request fits it; write its members")
    expected: dict[str, Any] = json.loads(json.dumps(fields, default=float))
    return expected
