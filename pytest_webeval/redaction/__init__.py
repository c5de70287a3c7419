"""Redaction: replaces the secrets in results and texts that leave the run directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_webeval.redaction.policy import RedactionPolicy
    from pytest_webeval.redaction.redactor import Redactor


__all__ = ["RedactionPolicy", "Redactor"]


def __getattr__(name: str) -> Any:
    if name == "Redactor":
        from pytest_webeval.redaction.redactor import Redactor  # with all of its patterns, which few sessions need

        return Redactor
    if name == "RedactionPolicy":
        from pytest_webeval.redaction.policy import RedactionPolicy

        return RedactionPolicy
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
