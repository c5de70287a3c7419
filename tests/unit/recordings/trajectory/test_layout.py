"""What a path tells of a run: `fara_webeval.md` §1.1, §1.3 rules 5 and 6."""

from __future__ import annotations

from pathlib import Path, PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.recordings.trajectory.layout import RunLocation, locate

FARA = "WebSurfer-fara-100-max_n_images-3"
VOYAGER = "WebVoyager_WebVoyager_data_08312025.jsonl"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (
            f"/out/runs/{FARA}/fara-7b/ana/WebTailBench_hf/r1/traj/books_find_7",
            RunLocation(FARA, "fara-7b", "ana", "WebTailBench_hf", "r1", 100, has_traj=True),
        ),
        (
            "runs/WebSurfer-fara-3-max_n_images-3/fara-7b/ana/WebTailBench_hf/full/v1/traj/BBC News--3",
            RunLocation(
                "WebSurfer-fara-3-max_n_images-3", "fara-7b", "ana", "WebTailBench_hf", "full/v1", 3, has_traj=True
            ),
        ),
        (
            f"/home/runs/old/runs/WebSurfer-gpt_solver-50--False/gpt-5/ana/{VOYAGER}/0/traj/x",
            RunLocation("WebSurfer-gpt_solver-50--False", "gpt-5", "ana", VOYAGER, "0", 50, has_traj=True),
        ),
        ("/runs/a/b/c/d/traj/x", RunLocation("a", "b", "c", "d", None, None, has_traj=True)),
        ("/runs/a/b/c/d/traj/traj/traj", RunLocation("a", "b", "c", "d", "traj", None, has_traj=True)),
        ("/runs/a/b/c/d/e/traj/runs", RunLocation("a", "b", "c", "d", "e", None, has_traj=True)),
        ("/runs/a/b/c/traj/x", RunLocation(has_traj=True)),
        ("/runs/traj/x", RunLocation(has_traj=True)),
        ("traj/x", RunLocation(has_traj=True)),
        (
            "/runs/Surfer-20/WebTailBench_hf/travel/r1/x",
            RunLocation("Surfer-20", None, None, "WebTailBench_hf", "r1", 20, split="travel"),
        ),
        ("/runs/a/b/all_benchmark/r/1/x", RunLocation("a", None, None, "b", "r/1", split="all_benchmark")),
        ("/runs/a/b/c/x", RunLocation()),
        ("/runs/x", RunLocation()),
        ("/tmp/x", RunLocation()),
        ("x", RunLocation()),
        (".", RunLocation()),
        ("/", RunLocation()),
    ],
)
def test_a_place_is_what_the_directories_after_the_last_runs_say(path, expected):
    assert locate(PurePath(path)) == expected


@pytest.mark.parametrize(
    ("system", "rounds"),
    [
        ("WebSurfer-fara-100-max_n_images-3", 100),
        ("WebSurfer-fara-100--False", 100),
        ("WebSurfer-gpt_4_solver-030", 30),
        ("7-8", 7),
        ("WebSurfer-fara", None),
        ("WebSurfer-fara7b-v2", None),
        ("WebSurfer-²-٣", None),
        ("WebSurfer-" + "9" * 200, None),
    ],
)
def test_the_rounds_are_the_first_number_between_hyphens(system, rounds):
    assert locate(Path(f"/runs/{system}/m/ana/b/r/traj/x")).max_rounds == rounds


@pytest.mark.parametrize(
    ("named", "kind"),
    [
        ("WebTailBench_hf", "webtailbench"),
        (VOYAGER, "webvoyager"),
        ("OnlineM2W_tasks.json", "om2w"),
        ("HoldOut_5", None),
        ("My_WebVoyager_x", None),
        ("webvoyager_x", None),
        (None, None),
    ],
)
def test_a_benchmark_is_known_by_how_its_name_begins(named, kind):
    assert RunLocation(benchmark=named).benchmark_kind == kind


@pytest.mark.parametrize(
    ("place", "experiment"),
    [
        (RunLocation("s", "m", "ana", "b", "r1"), "s/m/b"),
        (RunLocation("s", "m", None, "b", None), "s/m/b"),
        (RunLocation("s", None, None, "b", "r1"), None),
        (RunLocation(None, "m", None, "b"), None),
        (RunLocation("s", "m"), None),
        (RunLocation(), None),
    ],
)
def test_an_experiment_is_the_same_for_every_user_and_run(place, experiment):
    assert place.experiment == experiment


@given(st.lists(st.sampled_from(["runs", "traj", "a", "x-7-y", "WebVoyager_x", "é\n"]), max_size=12))
def test_any_path_has_a_place(parts):
    found = locate(PurePath(*parts))
    assert found.has_traj is (parts[-2:-1] == ["traj"])
    assert found.system is None or f"{found.system}/" in "/".join(parts)
