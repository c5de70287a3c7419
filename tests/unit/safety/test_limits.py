"""Limits: how they are written, and what is beyond them."""

from __future__ import annotations

import bz2
import io
import json
import lzma
import struct
import tracemalloc
import zipfile
import zlib

import pytest

from pytest_webeval import Limits, load_run
from pytest_webeval.errors import EvaluationError, RecordingError, SettingsError, ValueParseError
from pytest_webeval.evaluators.agent_response import parse_response
from pytest_webeval.evaluators.network.urls import UrlMatcher
from pytest_webeval.recordings.formats import fara_trajectory
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.network.readers import load_trace
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.rules import RULES
from pytest_webeval.safety.limits import read_limits
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.string import StringValue

ENTRY = {"request": {"method": "GET", "url": "http://a.test/"}, "response": {"status": 200}}
HAR = json.dumps({"log": {"entries": [ENTRY] * 5}})
LINE = json.dumps({"type": "resource-snapshot", "snapshot": ENTRY}) + "\n"


@pytest.mark.parametrize(
    ("lines", "limits"),
    [
        ([], Limits()),
        (["entries = 5"], Limits(entries=5)),
        (["file_size=64 MiB", "body_size = 3kib"], Limits(file_size=64 * 2**20, body_size=3 * 2**10)),
        (["values = 1_000_000", "string_length = 2,000"], Limits(values=1_000_000, string_length=2000)),
        (["file_size = 2GiB"], Limits(file_size=2 * 2**30)),
    ],
)
def test_limits_are_written_as_people_write_amounts(lines, limits):
    assert read_limits(lines) == limits


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "size = 5",
            "unknown limit 'size'; use one of file_size, answer_size, entries, values, nesting, string_length",
        ),
        ("entries", "invalid size '' for entries; use e.g. 200000 or 64 MiB"),
        ("entries = many", "invalid size 'many' for entries"),
        ("entries = -1", "'-1' for entries"),
        ("entries = 5 TB", "'5 TB' for entries"),
        ("entries = ²", "'²' for entries"),
    ],
)
def test_what_is_no_limit_is_told(line, told):
    with pytest.raises(SettingsError, match=told):
        read_limits([line])


def test_only_limits_that_are_not_the_usual_ones_are_changes():
    assert Limits().changes == {}
    assert Limits(entries=5, nesting=750).changes == {"entries": 5}


def zipped(content=LINE * 5, compression=zipfile.ZIP_DEFLATED, more=0):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as archive:
        archive.writestr("trace.network", content)
        for number in range(more):
            archive.writestr(str(number), "")
    return packed.getvalue()


MANY = "has more than 4 entries; the limit is 4; raise entries in webeval_limits if you trust the source"


@pytest.mark.parametrize(
    ("name", "content", "limits", "told"),
    [
        ("network.har", HAR, Limits(entries=4), MANY),
        ("network.har", HAR.replace("5", "NaN"), Limits(entries=4), MANY),
        ("network.har", '{"log": {"entries": "12345"}}', Limits(entries=4), MANY),
        ("network.har", '{"log": {"entries": [0,0]}}', Limits(entries=0), "damaged and too large to read it entry by"),
        ("network.har", LINE * 5, Limits(entries=4), MANY),
        ("trace.network", LINE * 5, Limits(entries=4), MANY),
        ("trace.network", LINE + "\n" * 5 * 2**20, Limits(), "has more than 1,000,000 lines, 5 per entry"),
        ("trace.zip", zipped(), Limits(entries=4), MANY),
        ("trace.zip", zipped(more=9), Limits(archive_members=9), "it has more than 9 members; the limit is 9; rai"),
        ("trace.zip", zipped(LINE + " " * 17 * 2**20), Limits(), r"unpacks to [0-9,]+ times its size; the limit is 20"),
        ("trace.zip", zipped(LINE + " " * 2**20), Limits(file_size=2**20), "unpacks to 1,048,704 bytes; the limit i"),
        ("network.har", HAR, Limits(file_size=10), "network.har has [0-9]+ bytes; the limit is 10; see file_size"),
    ],
)  # fmt: skip
def test_a_trace_beyond_a_limit_is_an_error_that_names_it(tmp_path, name, content, limits, told):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(RecordingError, match=told):
        load_trace(RunInputs(tmp_path, limits=limits), name)


@pytest.mark.parametrize(
    ("name", "content"), [("network.har", HAR), ("trace.network", LINE * 5), ("trace.zip", zipped(more=3))]
)
def test_a_trace_within_its_limits_is_read(tmp_path, name, content):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    limits = Limits(entries=5, archive_members=4)
    assert len(load_trace(RunInputs(tmp_path, limits=limits), name).events) == 5


def lying(content, kind, packed):
    """An archive whose one member says that it unpacks to nothing much."""
    name, size = b"trace.network", len(content) // 1000
    common = struct.pack("<HHHHHIIIHH", 46, 0, kind, 0, 33, 0, len(packed), size, len(name), 0)
    local = b"PK\x03\x04" + common + name + packed
    central = b"PK\x01\x02" + struct.pack("<H", 46) + common + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
    return local + central + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, len(central), len(local), 0)


def deflated(text):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(text) + packer.flush()


@pytest.mark.parametrize(
    ("kind", "pack"),
    [
        (zipfile.ZIP_DEFLATED, deflated),
        (zipfile.ZIP_BZIP2, bz2.compress),
        (
            zipfile.ZIP_LZMA,
            lambda text: b"\x09\x04\x05\x00]\x00\x00\x80\x00" + lzma.compress(text, lzma.FORMAT_ALONE)[13:],
        ),
    ],
)
def test_an_archive_that_lies_about_sizes_is_an_error(tmp_path, kind, pack):
    content = b" " * 10 * 2**20
    (tmp_path / "trace.zip").write_bytes(lying(content, kind, pack(content)))
    with pytest.raises(RecordingError, match="as a Playwright trace"):
        load_trace(RunInputs(tmp_path), "trace.zip")


def test_no_more_is_unpacked_than_an_archive_says_that_there_is(tmp_path):
    content = b" " * 100 * 2**20
    (tmp_path / "trace.zip").write_bytes(lying(content, zipfile.ZIP_DEFLATED, deflated(content)))
    del content
    tracemalloc.start()
    with pytest.raises(RecordingError, match="as a Playwright trace"):
        load_trace(RunInputs(tmp_path), "trace.zip")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * 2**20


def test_bzip2_is_read_as_well(tmp_path):
    (tmp_path / "trace.zip").write_bytes(zipped(compression=zipfile.ZIP_BZIP2))
    assert len(load_trace(RunInputs(tmp_path), "trace.zip").events) == 5


@pytest.mark.parametrize("encoding", ["base64", None])
def test_a_body_beyond_its_limit_is_an_error_that_names_it(tmp_path, encoding):
    stored = {"mimeType": "text/plain", "text": "YWJjZGVm", "encoding": "base64"} if encoding else {"_file": "big"}
    entry = ENTRY | {"response": {"status": 200, "content": stored}}
    (tmp_path / "network.har").write_text(json.dumps({"log": {"entries": [entry]}}))
    (tmp_path / "big").write_text("abcdef")
    enough, short = (load_trace(RunInputs(tmp_path, limits=Limits(body_size=n)), "network.har") for n in (6, 5))
    assert enough.events[0].read_content().load_text() == "abcdef"
    with pytest.raises(EvaluationError, match=r"6 bytes; the limit is 5; (see|raise) body_size in webeval_limits"):
        short.events[0].read_content().load_text()


def test_a_text_beyond_its_limit_is_refused():
    assert StringValue.read("abcde", ParseContext(longest=5)).to_json() == "abcde"
    with pytest.raises(ValueParseError, match="a text of 6 characters is too long; the limit is 5; raise string_len"):
        StringValue.read("abcdef", ParseContext(longest=5))


def test_a_url_beyond_the_limit_is_an_error():
    reader = UrlMatcher(Sites(), (), limits=Limits(string_length=20))
    assert reader.actual("http://shop.test/123").base == "http://shop.test/123"
    with pytest.raises(EvaluationError, match="a URL has 21 characters; the limit is 20; raise string_length"):
        reader.actual("http://shop.test/1234")


@pytest.mark.parametrize(
    ("few", "many"),
    [
        ("\u0301\u0316" * 400, "\u0301\u0316" * 50_000),
        ("\u0f73" * 400, "\u0f73" * 100_000),
        ("\u0301" * 900 + "\u0316", "\u0301" * 99_000 + "\u0316"),
    ],
    ids=["two in turns", "one that stands for two", "another one late"],
)
def test_heaps_of_accents_are_refused_before_they_are_ordered(few, many):
    assert StringValue.read("e" + few, ParseContext()).to_json().startswith("e")
    with pytest.raises(ValueParseError, match="has more than 1000 accents of several kinds in a row; remove them"):
        StringValue.read("e" + many, ParseContext())


@pytest.mark.parametrize("mark", ["\u0301", "\u0344", "\u0316"])
def test_any_number_of_one_accent_is_no_part_of_a_text(mark):
    plain = StringValue.read("lamp", ParseContext())
    assert StringValue.read("lamp" + mark * 100_000, ParseContext()) == plain


SPARSE = 500 * 2**20


def sparse(path, beginning=b"", size=SPARSE):
    """A file of which only the beginning takes room on the disk."""
    with path.open("wb") as file:
        file.write(beginning)
        file.truncate(size)


@pytest.fixture
def peak():
    """The largest amount of memory that was in use since."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


def test_an_answer_beyond_its_limit_is_not_read(bench, peak):
    directory = bench.record({"task_type": "NAVIGATE", "status": "SUCCESS"})
    sparse(directory / "agent_response.json")
    limit = r"agent_response.json has 524,288,000 bytes; the limit is 4,194,304; see answer_size in webeval_limits"
    with pytest.raises(RecordingError, match=limit):
        _ = load_run(directory).response
    assert peak() < 2**20


def test_an_answer_file_of_a_trajectory_has_the_same_limit(tmp_path, peak):
    sparse(tmp_path / "7_final_answer.json")
    trajectory = fara_trajectory.read(RecordedFiles(RunInputs(tmp_path)))
    with pytest.raises(RecordingError, match="see answer_size in webeval_limits"):
        trajectory.find_answer()
    assert peak() < 2**20


def test_an_answer_in_the_file_of_its_steps_has_the_same_limit():
    limits = Limits(answer_size=20)
    assert parse_response(b'"' + b"a" * 18 + b'"', RULES["default"], limits).parsed == "a" * 18
    with pytest.raises(EvaluationError, match="the answer has 21 bytes; the limit is 20; raise answer_size in webeval"):
        parse_response(b'"' + b"a" * 19 + b'"', RULES["default"], limits)


@pytest.mark.parametrize("beginning", [b"", HAR.encode(), LINE.encode()], ids=["none", "har", "lines"])
@pytest.mark.parametrize("name", ["network.har", "trace.network"])
def test_a_recording_that_ends_in_zeros_is_not_read(tmp_path, peak, name, beginning):
    sparse(tmp_path / name, beginning)
    with pytest.raises(RecordingError, match=f"{name} ends in zeros: it was not written to its end; re-record the run"):
        load_trace(RunInputs(tmp_path), name)
    assert peak() < 2**20


def test_a_small_file_or_a_picture_may_end_in_zeros(tmp_path):
    sparse(tmp_path / "network.har", HAR.encode(), 2**20)
    sparse(tmp_path / "shot.png", b"PNG", 2 * 2**20)
    inputs = RunInputs(tmp_path)
    assert [len(inputs.read(name)) for name in ("network.har", "shot.png")] == [2**20, 2 * 2**20]
