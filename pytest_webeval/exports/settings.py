"""What a user says of an export, and what only the user can know of an evaluation."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
DEPLOYMENTS = ("self_deployed", "externally_managed", "unknown")
AVAILABILITIES = ("open_weights", "closed_weights", "unknown")

RowKind = Literal["tasks", "assertions"]


class EvaluationFacts(Struct, frozen=True):
    """Facts for a public record. None for what the user did not say."""

    benchmark: str | None = None
    model: str | None = None
    developer: str | None = None
    organization: str | None = None
    relationship: str | None = None
    deployment: str | None = None
    availability: str | None = None
    dataset_url: str | None = None
    tasks: str | None = None


class ExportSettings(Struct, frozen=True):
    """The kind of rows, and the facts for a public record."""

    rows: RowKind = "tasks"
    facts: EvaluationFacts = EvaluationFacts()
