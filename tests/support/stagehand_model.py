"""A model for Stagehand that looks for its elements by their names. Runs in the environment of the library."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

INSTRUCTION = re.compile(r"following action: (.*?)\. ")


@dataclass(frozen=True)
class Choice:
    """The element that suits an instruction, as the page's tree names it, and what to do with it."""

    element: str  # such as `textbox: Search`
    method: str
    arguments: Sequence[str] = ()


class ScriptedModel:
    """A callback that replies to each instruction with a prepared choice, and with none to others."""

    def __init__(self, choices: Mapping[str, Choice]) -> None:
        self.choices = choices

    async def __call__(self, params: Any) -> Any:
        from stagehand import LLMStructuredGenerateResult, LLMTextContent

        text = json.loads(params.messages[-1].model_dump_json())["content"]["text"]
        chosen = {"action": self._choose(text), "twoStep": False}
        content = LLMTextContent(type="text", text=json.dumps(chosen))
        return LLMStructuredGenerateResult(
            role="assistant", content=content, output_format="json_schema", structured_content=chosen
        )

    def _choose(self, text: str) -> dict[str, Any] | None:
        choice = self.choices.get(INSTRUCTION.search(text)[1])
        if choice is None:
            return None
        (element,) = re.findall(rf"\[(\d+-\d+)\] {re.escape(choice.element)}$", text, re.MULTILINE)
        return {
            "elementId": element,
            "description": choice.element,
            "method": choice.method,
            "arguments": list(choice.arguments),
        }
