"""A sound task, and what becomes of it when a mistake is planted."""

from __future__ import annotations

import copy
from typing import Any


def answer(data: Any = None, schema: Any = None, kind: str = "retrieve", **more: Any) -> dict[str, Any]:
    """A response expectation; `schema` is that of one datum."""
    results_schema = {"type": "null"} if data is None else {"type": "array", "items": schema or {"type": "string"}}
    expected = {"task_type": kind, "status": "SUCCESS", "retrieved_data": data}
    return {"evaluator": "AgentResponseEvaluator", "expected": expected, "results_schema": results_schema, **more}


def request(expected: Any = None, **more: Any) -> dict[str, Any]:
    """An expected request."""
    return {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__SHOPPING__/cart", **(expected or {})}, **more}


def post(fields: Any, types: Any = None, **more: Any) -> dict[str, Any]:
    """An expected POST."""
    schema = {"post_data_schema": {"type": "object", "properties": types}} if types else {}
    return request({"http_method": "POST", "post_data": fields}, **schema, **more)


def task(*entries: dict[str, Any], sites: Any = ("shopping",), **fields: Any) -> dict[str, Any]:
    """A task of these expectations; of requests alone it is one to change something."""
    if not any(entry.get("evaluator") == "AgentResponseEvaluator" for entry in entries):
        entries = (answer(kind="mutate"), *entries)
    texts = {"intent": "Buy a lamp", "intent_template": "Buy a {{thing}}", "instantiation_dict": {"thing": "lamp"}}
    numbers = {"task_id": 7, "intent_template_id": 3, "revision": 1}
    return copy.deepcopy(
        {**numbers, "sites": list(sites), "start_urls": ["__SHOPPING__"], **texts, "eval": list(entries), **fields}
    )
