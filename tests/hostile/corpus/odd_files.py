"""Things in the place of files: pipes, devices, links, and files that are too big or that nobody may read."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from tests.hostile.corpus import honest
from tests.hostile.corpus.cases import Case, all_of, answering, encoded, holding, run, tracing, trajectory, without

LIMIT = 512 * 2**20
LOG, TIMES, CORE, SCORE, SHOT = (
    "web_surfer.log",
    "times.json",
    "core.log",
    "scores/mmrubric_0.8-5-3.json",
    "screenshot0.png",
)


def pipe(place: Path) -> None:
    os.mkfifo(place)


def listening(place: Path) -> None:
    """A socket; its path may be no longer than 107 bytes, so it is made from within the directory."""
    before = Path.cwd()
    os.chdir(place.parent)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(place.name)
    os.chdir(before)


def device(place: Path) -> None:
    """The device of zeros, or a pipe where nobody may make one."""
    try:
        os.mknod(place, 0o20644, os.makedev(1, 5))
    except PermissionError:
        os.mkfifo(place)


def folder(place: Path) -> None:
    place.mkdir()


def link_to(target: str):
    return lambda place: place.symlink_to(target)


def link_to_bystander(place: Path) -> None:
    """A link to a good answer outside the run root."""
    root = next(above for above in place.parents if (above / "bystanders").is_dir())
    place.symlink_to(root / "bystanders/victim.json")


def link_to_twin(place: Path) -> None:
    """A link to a good file in the same directory."""
    (place.parent / "twin.json").write_bytes(encoded(honest.answer()))
    place.symlink_to("twin.json")


def link_to_itself(place: Path) -> None:
    place.symlink_to(place.name)


def sparse(place: Path) -> None:
    with place.open("wb") as file:
        file.truncate(LIMIT + 1)


# What, how, and a pattern for what is said about it.
REFUSED = (
    ("a pipe", pipe, "regular file|cannot read"),
    ("a socket", listening, "regular file|cannot read|No such device"),
    ("a device without end", device, "regular file|cannot read"),
    ("a folder", folder, "regular file|cannot read|folder|trace.network"),
    ("a link to /etc/passwd", link_to("/etc/passwd"), "cannot read|link"),
    ("a link to /dev/zero", link_to("/dev/zero"), "cannot read|link"),
    ("a link to itself", link_to_itself, "cannot read|link"),
    ("a link to nothing", link_to("nothing"), "cannot read|link|no "),
    ("a link to a good file outside", link_to_bystander, "cannot read|link"),
    ("a link to a file beside it", link_to_twin, "cannot read|link"),
    ("a link up and down again", link_to("../../files/../tasks.json"), "cannot read|link"),
    ("a byte more than 512 MiB", sparse, r"536,870,9|512 MiB"),
)


def _in_place(name: str, make):
    def spoil(path: Path) -> None:
        found = path / (f"{path.name}_final_answer.json" if name == "answer" else name)
        if os.path.lexists(found):
            found.unlink()
        make(found)

    return spoil


def _unreadable(place: Path) -> None:
    place.write_bytes(b"{}")
    place.chmod(0)


def _of_runs(name: str):
    for what, make, says in REFUSED:
        yield run(f"{what} for {name}", "error", _in_place(name, make), f"(?s)(?=.*{name})(?=.*({says}))")
    yield run(f"a file for {name} that nobody may read", "error", _in_place(name, _unreadable), name)


def _of_trajectories(name: str, outcome: str):
    for what, make, says in REFUSED:
        said = f"(?s)({says}|missing|invalid|unreadable)" if outcome == "error" else ""
        yield trajectory(f"{what} for the file {name}", outcome, _in_place(name, make), said)


def _linked_folder(name: str):
    def spoil(path: Path) -> None:
        root = next(above for above in path.parents if (above / "bystanders").is_dir())
        target = root / "bystanders" / f"{path.name}-{name}"
        (path / name).rename(target)
        (path / name).symlink_to(target)

    return spoil


def _hard_link(name: str, target: str):
    def spoil(path: Path) -> None:
        root = next(above for above in path.parents if (above / "bystanders").is_dir())
        (path / name).unlink(missing_ok=True)
        os.link(root / "bystanders" / target, path / name)

    return spoil


def _link_out(target: str):
    """The whole directory is a link."""

    def spoil(path: Path) -> None:
        without(honest.RESPONSE, honest.HAR)(path)
        path.rmdir()
        root = next(above for above in path.parents if (above / "bystanders").is_dir())
        path.symlink_to(root / target)

    return spoil


_LINES = honest.lines(honest.entry())
_BODY = honest.asked(("lamp",), "string", honest.visited(expected={"response_content": {"a": "1"}}))
_ASIDE = honest.lines(honest.entry(content={"mimeType": "application/json", "_sha1": "body.json"}))
_FOLDER = tracing(_LINES, "trace/trace.network")


def _body(make):
    def spoil(path: Path) -> None:
        tracing(_ASIDE, "trace/trace.network")(path)
        (path / "trace/resources").mkdir()
        make(path / "trace/resources/body.json")

    return spoil


_SIDE = tuple(
    run(f"{what} for a body in a side file", "error", _body(make), "body.json", task=_BODY) for what, make, _ in REFUSED
)
_RESULTS = tuple(
    run(f"{what} where the result goes", "success", _in_place("eval_result.json", make))
    for what, make, _ in REFUSED
    if what != "a folder"
)
_OTHERS = (
    run("the answer is a hard link to a good one", "success", _hard_link(honest.RESPONSE, "victim.json")),
    run("the result is a hard link to somebody's file", "success", _hard_link("eval_result.json", "victim.txt")),
    run("the trace folder is a link out of the run", "error", all_of(_FOLDER, _linked_folder("trace")), "trace"),
    run(
        "trace.network in the folder is a link",
        "error",
        all_of(_FOLDER, _in_place("trace/trace.network", link_to("/etc/passwd"))),
        "trace.network",
    ),
    run("trace.zip is a pipe", "error", all_of(without(honest.HAR), _in_place(honest.ZIP, pipe)), "trace.zip"),
    run("trace.zip is endless", "error", all_of(without(honest.HAR), _in_place(honest.ZIP, device)), "trace.zip"),
    run(
        "trace.zip is too big", "error", all_of(without(honest.HAR), _in_place(honest.ZIP, sparse)), "536,870,9|512 MiB"
    ),
    run("the directory is a link to a good run outside", "error", _link_out("bystanders/run"), "outside the run root"),
    run("the directory is a link to the file system's root", "error", _link_out("../../../../../../../../.."), "link"),
    run("the directory is a link to nothing", "error", _link_out("bystanders/nothing"), "without a target"),
    run("an empty directory", "error", without(honest.RESPONSE, honest.HAR), "unknown layout"),
    run("an answer alone", "error", without(honest.HAR), "no network trace"),
    run("a trace alone", "error", without(honest.RESPONSE), honest.RESPONSE),
    run(
        "a thousand empty files beside the run",
        "success",
        all_of(*(holding(f"junk{number}", b"") for number in range(1000))),
    ),
    run(
        "a thousand folders beside the run",
        "success",
        all_of(*(holding(f"junk{number}/x", b"") for number in range(1000))),
    ),
    run(
        "a recording buried in the run itself, with another answer",
        "failure",
        all_of(answering(["chair"]), holding("inner/agent_response.json", honest.answer())),
    ),
    trajectory("scores/ is a link out of the run", "error|skipped", _linked_folder("scores")),
    trajectory("scores/ is a file", "error|skipped", all_of(without("scores"), holding("scores", b"{}"))),
    trajectory("scores/ is a pipe", "error|skipped", all_of(without("scores"), lambda path: pipe(path / "scores"))),
)
CASES: tuple[Case, ...] = (
    *_of_runs(honest.RESPONSE),
    *_of_runs(honest.HAR),
    *_of_trajectories("answer", "error"),
    *_of_trajectories(LOG, "error"),
    *_of_trajectories(SCORE, "error"),
    *_of_trajectories(TIMES, "success"),
    *_of_trajectories(CORE, "success"),
    *_of_trajectories(SHOT, "success"),
    *_SIDE,
    *_RESULTS,
    *_OTHERS,
)
