"""Secrets of each kind that are detected in texts, for everything that leaves a run directory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.stored_results import assertion, evaluated, result

_LETTERS = "9qWzR4tLm2Kx7VbNc3HdYf5GsJpAe8Ut"  # that no other text has
PASSWORD = "Hunter2Zq777x9Kd"
# A text with a secret by the kind of the secret. All but the password have the same letters in them.
TEXTS = {
    "bearer": f"Authorization: Bearer {_LETTERS}",
    "github": f"use ghp_{_LETTERS}1234",
    "openai": f"the key is sk-proj-{_LETTERS}",
    "pem": f"-----BEGIN RSA PRIVATE KEY-----\n{_LETTERS * 2}\n-----END RSA PRIVATE KEY-----",
    "slack": f"xoxb-123456789012-{_LETTERS}",
    "stripe": f"sk_live_{_LETTERS}",
    "password": f"password={PASSWORD}",
}
_VISIBLE = {PASSWORD.lower(), _LETTERS.lower()}


def list_leaks(*outputs: str | bytes) -> set[str]:
    """The secrets that are readable in any of these, in capitals or not."""
    texts = [output.decode() if isinstance(output, bytes) else output for output in outputs]
    return {secret for secret in _VISIBLE if any(secret in text.lower() for text in texts)}


def secret_result(text: str, run: str = "runs/1", **webeval: Any) -> dict[str, Any]:
    """A result as a run directory has it: with a secret in the answer, in a message, in an error and in a warning."""
    data = {"retrieved_data": [text], "status": "SUCCESS", "task_type": "RETRIEVE"}
    posted = {"url": "__SHOP__/login", "post_data": {"password": PASSWORD}, "http_method": "POST"}
    checked = assertion("retrieved_data_array_values_mismatch", f"got {json.dumps([text])}", error=text)
    evaluations = [
        evaluated(checked, status="failure", actual=data, actual_normalized=data, error_msg=text),
        evaluated(evaluator_name="NetworkEventEvaluator", actual=posted, status="failure", error_msg=text),
    ]
    webeval = {"warnings": [text]} | webeval
    return result(1, run, "failure", evaluators_results=evaluations, error_msg=text, webeval=webeval)


def record_login(directory: Path) -> None:
    """A recording in which somebody logs in, and whose agent answers the password."""
    response = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": [PASSWORD], "error_details": None}
    (directory / "agent_response.json").write_text(json.dumps(response))
    form = {"mimeType": "application/x-www-form-urlencoded", "text": f"user=bob&password={PASSWORD}"}
    request = {"method": "POST", "url": "http://shop.test/login", "headers": [], "postData": form}
    entry = {"request": request, "response": {"status": 200, "headers": [], "content": {}}}
    (directory / "network.har").write_text(json.dumps({"log": {"entries": [entry]}}))
