"""A chat model for agents of browser-use that replies with prepared actions. Runs in the environment of the library."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

RATE_LIMIT = "429"  # a reply that is an error of the provider


def element(pattern: str) -> str:
    """The index of the element whose line in the description of the page matches; it is looked up in each step."""
    return f"find:{pattern}"


def done(text: str, *, success: bool) -> dict[str, Any]:
    return {"done": {"text": text, "success": success, "files_to_display": []}}


class ScriptedModel:
    """A chat model of the library that replies with what was prepared, and judges so.

    A reply that is a text is no JSON.
    """

    _verified_api_keys = True
    model = provider = name = model_name = "scripted"

    def __init__(self, replies: Sequence[list[dict[str, Any]] | str], judgement: dict[str, Any] | None = None) -> None:
        self.replies, self.judgement = iter(replies), judgement

    async def ainvoke(self, messages: list[Any], output_format: Any = None, **_: Any) -> Any:
        from browser_use.llm.views import ChatInvokeCompletion

        if output_format is not None and output_format.__name__ == "JudgementResult":
            if self.judgement is None:
                raise RuntimeError("the judge does not answer")
            return ChatInvokeCompletion(completion=output_format(**self.judgement), usage=None)
        actions = next(self.replies)
        if actions == RATE_LIMIT:
            raise rate_limit_error()
        if isinstance(actions, str):
            raise ValueError(f"Could not parse response: {actions}")
        page = "\n".join(message.text for message in messages)
        reply = {
            "thinking": "Let me look at the page.",
            "evaluation_previous_goal": "Success",
            "memory": "The task is to use the shop.",
            "next_goal": "Go on with " + " and ".join(next(iter(action)) for action in actions),
            "action": [resolve(action, page) for action in actions],
        }
        return ChatInvokeCompletion(completion=output_format.model_validate(reply), usage=None)


def rate_limit_error() -> Exception:
    import httpx
    from openai import RateLimitError

    response = httpx.Response(429, request=httpx.Request("POST", "https://model.example/"))
    return RateLimitError("too many requests", response=response, body=None)


def resolve(action: dict[str, Any], page: str) -> dict[str, Any]:
    """The action with the index of its element on the page."""
    ((name, arguments),) = action.items()
    index = arguments.get("index")
    if not isinstance(index, str):
        return action
    pattern = rf"\[(\d+)\]{index.removeprefix('find:')}"
    match = re.search(pattern, page)
    if match is None:
        raise LookupError(f"no {pattern} in\n{page}")
    return {name: arguments | {"index": int(match[1])}}
