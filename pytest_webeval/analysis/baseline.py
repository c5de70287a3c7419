"""The summary of an earlier session, as far as another one is compared with it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec import ValidationError
from msgspec import convert

from pytest_webeval.bounded_json import read_json
from pytest_webeval.definitions import told_of
from pytest_webeval.errors import EvaluationError
from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import SettingsError
from pytest_webeval.files import read_inside
from pytest_webeval.limits import USUAL

OPTION = "--webeval-baseline"


class Row(Struct, frozen=True):
    """What became of one run."""

    run: str
    task_id: int | str
    status: Literal["success", "failure", "partial_match", "error", "excluded"]


class About(Struct, frozen=True):
    """What stands under `webeval`."""

    rules: str
    success_rate: float | None
    partial: bool = False


class Baseline(Struct, frozen=True):
    """The earlier session. Fields that are not named here may hold anything."""

    timestamp: str
    webarena_verified_evaluator_checksum: str
    webarena_verified_data_checksum: str
    task_results: list[Row]
    webeval: About


def read_baseline(path: Path) -> Baseline:
    """The summary in a file. Raises `SettingsError`."""
    place = path.resolve()
    try:
        raw = read_json(read_inside(place.parent, place.name).decode(), USUAL, str(path))
        return convert(raw, Baseline)
    except (RecordingError, EvaluationError) as error:
        raise SettingsError(f"{OPTION}: {error}") from error
    except ValidationError as error:
        told = f"{path} is no eval_summary.json of ours: {told_of(error)}"
        raise SettingsError(f"{OPTION}: {told}; name the one that an earlier session wrote") from error
    except ValueError as error:
        raise SettingsError(f"{OPTION}: {path} is no JSON: {error}; name an eval_summary.json") from error
