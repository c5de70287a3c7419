"""Hostile directories among healthy ones: each gets the outcome that it must have, and harms nothing else."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections import Counter, defaultdict
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import msgspec
import pytest

from tests.hostile.corpus.planted import OBEYED
from tests.hostile.corpus.sessions import RESULTS, listed
from tests.hostile.corpus.table import FAMILIES
from tests.hostile.write_corpus import write
from tests.support.recorded_runs import RECORDED_FORMATS

GIBIBYTE = 2**30
FEWEST = 40  # directories of a recorded format
LONGEST = 20_000  # characters in a line of the terminal
BIGGEST = 64 * 2**20  # bytes of the terminal's output, or of a report
COMMANDS = re.compile(r"^\s*::|##\[|##vso\[|##teamcity\[", re.MULTILINE)
PLACES = r"out(/.*)?|serial-report(/.*)?|(parallel|serial)\.(out|err|xml|html)|(runs|alone)/eval_summary\.json"
OURS = re.compile(PLACES, re.DOTALL)
OUTCOMES = {"excluded": "skipped"}


@pytest.fixture(params=["parallel", "serial"])
def session(request, corpus):
    return getattr(corpus, request.param)


def outcome(row):
    """The word of the manifest for what a summary says."""
    return OUTCOMES.get(row["status"], row["status"])


def wrong(session, line):
    """What is wrong with a directory, or None."""
    row = session.rows.get(line["directory"])
    if row is None:
        return f"{line['directory']}: {line['what']}: wanted {line['outcome']}, found nothing"
    found, said = outcome(row), row["reason"] or ""
    if re.fullmatch(line["outcome"], found) and re.search(line["says"], said):
        return None
    wanted = f"{line['outcome']} {line['says']!r}"
    return f"{line['directory']}: {line['what']}: wanted {wanted}, found {found} {said[:300]!r}"


def test_the_corpus_is_big_and_each_of_its_directories_is_another(corpus):
    told = Counter(line["what"] for line in corpus.manifest if not line["what"].startswith("a healthy "))
    assert sum(told.values()) >= 3000 // corpus.every
    assert not [what for what, count in told.items() if count > 1]


@pytest.mark.parametrize("name", RECORDED_FORMATS)
def test_each_recorded_format_has_directories_of_its_own(name):
    assert len({case.what for case in FAMILIES.get(name, ())}) >= FEWEST


def content_of(directory):
    """What is in a directory, by the names in it: checksums of files, targets of links, kinds of anything else."""
    content = []
    for above, folders, names in os.walk(directory):
        for path in (Path(above) / name for name in (*folders, *names)):
            about = path.lstat()
            target = str(path.readlink()) if stat.S_ISLNK(about.st_mode) else ""
            checksum = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(about.st_mode) else ""
            content.append((str(path.relative_to(directory)), about.st_mode, target, checksum))
    return tuple(sorted(content))


@pytest.mark.whole
@pytest.mark.unchecked_files("the corpus holds results that strangers wrote")
@pytest.mark.parametrize("name", RECORDED_FORMATS)
def test_no_two_directories_of_a_recorded_format_hold_the_same(name, tmp_path):
    by_content = defaultdict(list)
    for line in write(tmp_path / "corpus", name):
        if not line["what"].startswith("a healthy "):
            by_content[content_of(tmp_path / "corpus" / unquote(line["directory"]))].append(line["what"])
    assert len(by_content) >= FEWEST
    assert [equal for equal in by_content.values() if len(equal) > 1] == []


def test_each_directory_has_the_outcome_that_it_must_have(corpus, session):
    found = list(filter(None, (wrong(session, line) for line in corpus.manifest)))
    assert not found, listed(found)


def test_the_healthy_ones_do_not_suffer(corpus, session):
    healthy = [line for line in corpus.manifest if line["what"].startswith("a healthy ")]
    found = list(filter(None, (wrong(session, line) for line in healthy)))
    assert len(healthy) == 40
    assert not found, listed(found)


def test_each_directory_is_accounted_for_and_nothing_else_is(corpus, session):
    assert sorted(session.rows) == sorted(line["directory"] for line in corpus.manifest)
    assert session.code == 1, session.complaints[-2000:]


def is_open(directory):
    """Whether a session without root's rights may write a result into a directory; none is written behind a link."""
    about = directory.lstat()
    return stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid() and about.st_mode & 0o300 == 0o300


def alike(elsewhere, inside):
    """Whether one result is the other, which holds the secrets in place of the words that stand for them."""
    if isinstance(elsewhere, dict) and isinstance(inside, dict):
        return alike(
            [[*item] for item in elsewhere.items() if item[0] != "redacted"], [[*item] for item in inside.items()]
        )
    if isinstance(elsewhere, list) and isinstance(inside, list):
        return len(elsewhere) == len(inside) and all(map(alike, elsewhere, inside))
    return elsewhere == inside or (isinstance(elsewhere, str) and "redacted-" in elsewhere)


def test_two_workers_find_what_one_process_finds(corpus):
    parallel, serial = corpus.sessions
    assert parallel.rows == serial.rows
    found, others = parallel.results, serial.results
    differing = [name for name in found.keys() & others.keys() if not alike(found[name], others[name])]
    lacking = [name for name in found.keys() - others.keys() if is_open((corpus.directory / name).parent)]
    assert not differing, listed(differing)
    assert not [*lacking, *(others.keys() - found.keys())]


def loose(content):
    """Why a text is no strict JSON, or None."""
    try:
        msgspec.json.decode(content)
        json.loads(content.decode("utf-8"), parse_constant=refused)
    except ValueError as error:
        return str(error)
    return None


def refused(word):
    raise ValueError(word)


def test_each_file_written_is_strict_json(session):
    found = [f"{name}: {told}" for name, content in session.files.items() if (told := loose(content))]
    assert session.files
    assert not found, listed(found)


def test_the_junit_report_is_xml_with_a_case_for_each_directory(corpus, session):
    assert session.junit.stat().st_size < BIGGEST
    cases = list(ET.parse(session.junit).iter("testcase"))
    assert len(cases) == len(corpus.manifest)
    names = [case.get("name") for case in cases]
    assert "task" not in names
    assert all(map(str.isascii, names))


def test_the_terminal_is_told_nothing_that_it_would_obey(session):
    assert len(session.output) < BIGGEST
    text = session.output.decode("utf-8")
    controls = [repr(line[:200]) for line in text.split("\n") if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", line)]
    assert not controls, listed(controls)
    orders = [repr(line[:200]) for line in text.split("\n") if COMMANDS.search(line)]
    assert not orders, listed(orders)


def test_no_line_of_the_terminal_is_longer_than_anybody_reads(session):
    lines = session.output.decode("utf-8", "replace").split("\n")
    found = [f"{len(line):,}: {line[:200]!r}" for line in lines if len(line) > LONGEST]
    assert not found, listed(found)


def test_nothing_planted_was_obeyed(corpus):
    assert not (corpus.directory / OBEYED).exists(), (corpus.directory / OBEYED).read_text()


def test_nothing_changed_but_what_a_session_writes(corpus):
    runs = {Path(name).parent.as_posix() for name in corpus.serial.files}
    strange = [name for name in corpus.parallel.changed if not OURS.fullmatch(name)]
    for name in corpus.serial.changed:
        is_result = name.endswith(RESULTS[0]) and Path(name).parent.as_posix() in runs
        strange += [] if is_result or OURS.fullmatch(name) else [name]
    assert not strange, listed(strange)


def test_no_session_says_anything_beside_its_output(session):
    assert "Traceback" not in session.complaints
    assert "INTERNALERROR" not in session.output.decode("utf-8", "replace")


def test_no_session_takes_long_or_much_memory(corpus):
    # Seconds of CPU: less than half of it on a machine that does nothing else, for hours if anything were quadratic.
    assert sum(one.seconds for one in corpus.sessions) < 600, [one.seconds for one in corpus.sessions]
    assert max(one.peak for one in corpus.sessions) <= GIBIBYTE, [f"{one.peak:,}" for one in corpus.sessions]
