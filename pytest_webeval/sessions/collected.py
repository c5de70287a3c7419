"""What a session collected, deselected and left to other shards, as its summary says it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, structs


class Counts(Struct, frozen=True):
    """How many run items a process left out, and how many runs were split into shards, with the checksum of that.

    `deselected` are all of them: those `outside` the subset, those `elsewhere` in other shards, and what users chose.
    """

    deselected: int = 0
    outside: int = 0
    elsewhere: int = 0
    split: int = 0
    split_checksum: str = ""
    user_code: str = ""  # checksum of modules of users that decide, of all shards
    # For each file of verdicts its option, how many of them are on a run, how many trajectories have none in the file,
    # and how many are of a task in it. Empty until they are counted.
    matches: tuple[tuple[str, int, int, int], ...] = ()

    @property
    def chosen(self) -> int:
        """How many runs options of pytest deselected, or hooks."""
        return self.deselected - self.outside - self.elsewhere

    def join(self, other: Counts) -> Counts:
        """The counts of two processes that collected the same, or of which one collected nothing."""
        return Counts(*(max(pair) for pair in zip(structs.astuple(self), structs.astuple(other), strict=True)))


class Collected(Struct):
    """What a session knows of its runs besides their records, complete when it ends.

    `nested_runs` are the labels of runs inside other runs, which are not scored. `is_chosen`: the session was to score
    some runs of the roots or of its shard, rather than all.
    """

    run_count: int = 0  # to be scored
    counts: Counts = Counts()
    without_runs: Sequence[str] = ()  # the labels of directories that hold no run
    nested_runs: Sequence[str] = ()
    selection: str = ""  # what options say of the runs to score
    is_chosen: bool = False
    tested_count: int = 0  # runs that Python tests used
    names_roots: bool = True  # whether arguments select a root
