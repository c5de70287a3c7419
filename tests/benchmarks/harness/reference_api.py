"""Scores a run root with the reference's Python API, in one process that reads the data set once.

    python reference_api.py RUNS CONFIG

Runs inside the reference's own environment and needs nothing of ours. Results lie where its command line puts them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from webarena_verified.api import WebArenaVerified
from webarena_verified.core.utils.immutable_obj_helper import serialize_to_json


def main(runs: Path, config: Path) -> None:
    """Score each run and write its result, as `eval-tasks` does."""
    scorer = WebArenaVerified(config=config)
    for run in sorted(runs.iterdir()):
        result = scorer.evaluate_task(
            task_id=int(run.name), agent_response=run / "agent_response.json", network_trace=run / "network.har"
        )
        written = serialize_to_json(result.model_dump(mode="json", exclude_none=True), indent=2)
        (run / "eval_result.json").write_text(written)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
