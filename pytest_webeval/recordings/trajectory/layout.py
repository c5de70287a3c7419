"""Where a run of Fara belongs, and what its files are called (`fara_webeval.md` §1.1, §1.3, §2.7, §5.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import PurePath

from msgspec import Struct

LOG = "web_surfer.log"
CORE_LOG = "core.log"
TIMES = "times.json"
TASK_DATA = "task_data.json"
SCORES = "scores"
RUBRIC = "rubric.json"
HARNESS_FILE = "data_point.json"  # Fara 1.5, whose layout is another


GATED = "webtailbench"  # the benchmark that gives no points to some runs without asking a judge
_RUNS = "runs"
_TRAJECTORIES = "traj"
_MOST_DIGITS = 9
_SYSTEM = re.compile(r"[A-Za-z]\w{0,80}-\w{1,80}-[0-9]{1,9}-[^/]{0,200}")  # WebSurfer-fara-100-max_n_images-3
_BENCHMARKS = {"WebTailBench_": GATED, "WebVoyager_": "webvoyager", "OnlineM2W_": "om2w"}


class RunLocation(Struct, frozen=True):
    """What the directories above a trajectory say; None where they do not.

    `system` is the name with its settings, `benchmark` the name with its data file (upstream's `system.hash` and
    `exec_hash`). `user` is personal. `max_rounds` is a hint: solvers ignore it (Q9). Only older layouts have a `split`.
    """

    system: str | None = None
    model: str | None = None
    user: str | None = None
    benchmark: str | None = None
    run_id: str | None = None
    max_rounds: int | None = None
    has_traj: bool = False
    split: str | None = None

    @property
    def benchmark_kind(self) -> str | None:
        """`webtailbench`, `webvoyager` or `om2w`; None for any other benchmark."""
        kinds = (kind for prefix, kind in _BENCHMARKS.items() if (self.benchmark or "").startswith(prefix))
        return next(kinds, None)

    @property
    def experiment(self) -> str | None:
        """What several runs have in common that may be compared: `system/model/benchmark`, if all three are known."""
        if self.system is None or self.model is None or self.benchmark is None:
            return None
        return f"{self.system}/{self.model}/{self.benchmark}"


def locate(path: PurePath) -> RunLocation:
    """What the path of a trajectory's directory says. Reads nothing from the disk."""
    above = path.parts[:-1]
    has_traj = above[-1:] == (_TRAJECTORIES,)
    inside = _parts_from_system(above[:-1] if has_traj else above)
    if len(inside) < 4:
        return RunLocation(has_traj=has_traj)
    run_id = "/".join(inside[4:]) or None
    numbers = (part for part in inside[0].split("-") if part.isascii() and part.isdigit())
    digits = next(numbers, "")
    rounds = int(digits) if 0 < len(digits) <= _MOST_DIGITS else None
    if has_traj:
        system, model, user, benchmark = inside[:4]
        return RunLocation(system, model, user, benchmark, run_id, rounds, has_traj)
    system, benchmark, split = inside[:3]
    return RunLocation(system, None, None, benchmark, "/".join(inside[3:]), rounds, has_traj, split)


def _parts_from_system(above: tuple[str, ...]) -> tuple[str, ...]:
    """The parts from the system on: a run that was filed elsewhere is known by what a system's name looks like."""
    after = len(above) - above[::-1].index(_RUNS) if _RUNS in above else 0
    system_positions = (position for position in range(after, len(above)) if _SYSTEM.fullmatch(above[position]))
    start = next(system_positions, after if _RUNS in above else len(above))
    return above[start:]


MMRUBRIC = "mmrubric"  # the kind that WebTailBench stores
_NUMBER = r"([0-9]{1,9}(?:\.[0-9]{1,20})?)"
_INTEGER = r"([0-9]{1,9})(?:\.0+)?"
_RUBRIC_NAME = re.compile(rf"(mmrubric_)?{_NUMBER}-{_INTEGER}-{_INTEGER}\.json")
_WEBJUDGE_NAME = re.compile(rf"([A-Za-z0-9_]+_eval)-{_NUMBER}\.json")


@dataclass(frozen=True, slots=True)
class ScoreFileName:
    """What the name of a score file says (`fara_webeval.md` §5.1). Equal for names that mean the same configuration."""

    kind: str  # mmrubric, heldout, gpt_eval, webjudge, other
    threshold: Decimal | None = None
    max_images: int | None = None
    keypoint: int | None = None
    method: str | None = None


def parse_name(name: str) -> ScoreFileName:
    """The configuration that the name of a file in `scores/` stands for; of kind `other` where it stands for none."""
    if name == "gpt_eval.json":
        return ScoreFileName("gpt_eval")
    if match := _RUBRIC_NAME.fullmatch(name):
        kind = MMRUBRIC if match[1] else "heldout"
        return ScoreFileName(kind, _parse_number(match[2]), max_images=int(match[3]), keypoint=int(match[4]))
    if match := _WEBJUDGE_NAME.fullmatch(name):
        return ScoreFileName("webjudge", _parse_number(match[2]), method=match[1])
    return ScoreFileName("other")


def _parse_number(number: str) -> Decimal:
    """The number without trailing zeros, so that 1 and 1.0 also look the same in a message."""
    return Decimal(number.rstrip("0").rstrip(".") if "." in number else number)
