"""Layouts of recordings beyond one HAR or one trace: Playwright Test's traces, HARs in archives, and what they lack."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from pytest_webeval.api import load_run
from pytest_webeval.errors import EvaluationError, RecordingError
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.network.readers import load_trace
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.recording_secrets import Audit, RecordingSecrets
from pytest_webeval.rules import find_rules
from pytest_webeval.safety.archives import Archive
from pytest_webeval.safety.limits import USUAL, Limits
from pytest_webeval.scoring.score import score

pytestmark = pytest.mark.usefixtures("published")  # whose results say what the rules changed

SHOP = "http://shop.test:7770"
BOM = b"\xef\xbb\xbf"
SNAPSHOTS = "re-record the run with context.tracing.start(snapshots=True), and stop tracing before the context closes"
CLOSING = "re-record the run and close the browser context first"
SECRET = "Bearer Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZg"


def entry(path, method="GET", status=200, headers=None, started=None, **about):
    """An entry; `started` is the second at which it began."""
    listed = [{"name": name, "value": value} for name, value in (headers or {}).items()]
    when = {} if started is None else {"startedDateTime": f"2026-01-01T00:00:{started:06.3f}Z"}
    request = {"url": SHOP + path, "method": method, "headers": listed}
    return {"request": request, "response": {"status": status}, **when, **about}


def lines(*entries):
    return b"".join(json.dumps({"type": "resource-snapshot", "snapshot": one}).encode() + b"\n" for one in entries)


def har(*entries):
    return json.dumps({"log": {"entries": entries}}).encode()


def archived(members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def written(directory, members, kind):
    """The members as a trace folder or as trace.zip; gives the name."""
    if kind == "trace.zip":
        (directory / kind).write_bytes(archived(members))
        return kind
    for name, content in members.items():
        path = directory / "trace" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return "trace"


def paths(trace):
    return [event.url.removeprefix(SHOP) for event in trace.events]


BOTH_KINDS = pytest.mark.parametrize("kind", ["trace.zip", "trace"])
OTHERS = {"test.trace": b"{}", "0-trace.trace": b"", "0-trace.stacks": b"", "1-trace.trace": b"", "resources/a": b"x"}


@BOTH_KINDS
@pytest.mark.parametrize(
    ("logs", "order"),
    [
        ([[1, 4], [2, 3]], ["/0.1", "/1.2", "/1.3", "/0.4"]),
        ([[3, 4], [1, 2]], ["/1.1", "/1.2", "/0.3", "/0.4"]),
        ([[2, 1], [1]], ["/0.1", "/1.1", "/0.2"]),
        ([[1, None, 3], [2]], ["/0.1", "/0.None", "/1.2", "/0.3"]),
        ([[None, 2], [None, 1]], ["/0.None", "/1.None", "/1.1", "/0.2"]),
        ([[1, 1], [1]], ["/0.1", "/0.1", "/1.1"]),
    ],
)
@pytest.mark.parametrize("clock", ["startedDateTime", "_monotonicTime"])
def test_the_logs_of_playwright_test_are_read_in_the_order_of_time(tmp_path, kind, logs, order, clock):
    def made(number, moment):
        times = {"started": moment} if clock == "startedDateTime" else {clock: moment and moment * 1000.5}
        return entry(f"/{number}.{moment}", **times)

    members = {f"{number}-trace.network": lines(*(made(number, at) for at in log)) for number, log in enumerate(logs)}
    name = written(tmp_path, members | OTHERS, kind)
    trace = load_trace(RunInputs(tmp_path), name)
    assert paths(trace) == order
    assert [event.index for event in trace.events] == list(range(len(order)))
    assert trace.repairs == f"{tmp_path / name} has 0-trace.network, 1-trace.network instead of one trace.network"


@BOTH_KINDS
def test_ten_logs_and_more_are_taken_in_the_order_of_their_numbers(tmp_path, kind):
    name = written(tmp_path, {f"{number}-trace.network": lines(entry(f"/{number}")) for number in range(12)}, kind)
    assert paths(load_trace(RunInputs(tmp_path), name)) == [f"/{number}" for number in range(12)]


@BOTH_KINDS
def test_a_trace_with_its_own_log_is_read_as_ever(tmp_path, kind):
    members = {
        "trace.network": lines(entry("/a", started=2), entry("/b", started=1)),
        "0-trace.network": lines(entry("/c")),
    }
    trace = load_trace(RunInputs(tmp_path), written(tmp_path, members, kind))
    assert (paths(trace), trace.repairs) == (["/a", "/b"], None)


@BOTH_KINDS
@pytest.mark.parametrize("reference", ["a.json", "resources/a.json"])
def test_bodies_of_several_logs_lie_in_one_folder(tmp_path, kind, reference):
    body = {"mimeType": "application/json", "_sha1": reference}
    one = entry("/a")
    one["response"]["content"] = body
    name = written(tmp_path, {"0-trace.network": lines(one), "resources/a.json": b'{"a": 1}'}, kind)
    assert load_trace(RunInputs(tmp_path), name).events[0].read_content().load_text() == '{"a": 1}'


@BOTH_KINDS
def test_several_logs_together_have_the_limits_of_one(tmp_path, kind):
    members = {f"{number}-trace.network": lines(entry("/a"), entry("/b")) for number in range(2)}
    name = written(tmp_path, members, kind)
    assert len(load_trace(RunInputs(tmp_path, limits=Limits(entries=4)), name).events) == 4
    with pytest.raises(RecordingError, match="has more than 3 entries; the limit is 3"):
        load_trace(RunInputs(tmp_path, limits=Limits(entries=3)), name)


def test_several_logs_in_a_folder_are_together_as_big_as_one_file_may_be(tmp_path):
    log = lines(entry("/a"), entry("/b"))
    name = written(tmp_path, {f"{number}-trace.network": log for number in range(2)}, "trace")
    size, left = len(log), len(log) // 2
    with pytest.raises(RecordingError) as refusal:
        load_trace(RunInputs(tmp_path, limits=Limits(file_size=size + left)), name)
    where = tmp_path / name / "1-trace.network"
    limits = "see file_size in webeval_limits"
    assert str(refusal.value) == f"{where} has {size} bytes; the limit is {left}; {limits}"


def test_a_log_of_a_bomb_is_not_unpacked_beyond_what_one_file_may_be(tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"{number}-trace.network", b" " * 1000)
    (tmp_path / "trace.zip").write_bytes(packed.getvalue())
    with pytest.raises(RecordingError, match=r"1-trace\.network unpacks to 1,000 bytes; the limit is 500"):
        load_trace(RunInputs(tmp_path, limits=Limits(file_size=1500)), "trace.zip")


@BOTH_KINDS
@pytest.mark.parametrize("name", ["0-trace.network.txt", "x\n-trace.network", "0-trace.trace", "._trace.network"])
def test_a_trace_without_a_log_is_refused_with_the_option_that_writes_one(tmp_path, kind, name):
    trace = written(tmp_path, {name: lines(entry("/a"))}, kind)
    with pytest.raises(RecordingError) as refusal:
        load_trace(RunInputs(tmp_path), trace)
    assert str(refusal.value) == f"{tmp_path / trace} has no trace.network; {SNAPSHOTS}"


PACKED_AGAIN = {
    "a top folder": "trace/{}",
    "folders in a folder": "runs/107/my trace/{}",
    "a folder of an export": "trace.zip/{}",
}
SYSTEM_FILES = {
    "__MACOSX/trace/._trace.network": b"\x00\x05\x16\x07",
    "__MACOSX/._trace": b"\x00\x05\x16\x07",
    "trace/.DS_Store": b"\x00\x00\x00\x01Bud1",
    "trace/": b"",
}


def packed_again(layout, members, others):
    path = PACKED_AGAIN[layout]
    return archived({path.format(name): content for name, content in members.items()} | others)


@pytest.mark.parametrize("layout", PACKED_AGAIN)
@pytest.mark.parametrize("others", [{}, SYSTEM_FILES], ids=["alone", "with system files"])
@pytest.mark.parametrize("logs", [["trace.network"], ["0-trace.network", "1-trace.network"]])
@pytest.mark.parametrize("reference", ["a.json", "resources/a.json"])
def test_a_trace_that_was_packed_again_is_read_in_its_folder(tmp_path, layout, others, logs, reference):
    one = entry("/a", started=2)
    one["response"]["content"] = {"mimeType": "application/json", "_sha1": reference}
    members = {name: lines(one | {"startedDateTime": f"2026-01-01T00:00:0{2 + i}Z"}) for i, name in enumerate(logs)}
    members |= {
        "resources/a.json": b'{"a": 1}',
        "trace.trace": b"",
    }
    (tmp_path / "trace.zip").write_bytes(packed_again(layout, members, others))
    trace = load_trace(RunInputs(tmp_path), "trace.zip")
    assert paths(trace) == ["/a"] * len(logs)
    assert trace.events[0].read_content().load_text() == '{"a": 1}'
    folder = PACKED_AGAIN[layout].format("")
    assert trace.repairs == f"{tmp_path / 'trace.zip'} has its files in {folder}"


def test_a_trace_that_was_packed_again_says_when_its_chunk_began(tmp_path):
    start = json.dumps({"type": "context-options", "monotonicTime": 5.0, "wallTime": 1}).encode()
    log = lines(entry("/old", _monotonicTime=4), entry("/new", _monotonicTime=6))
    (tmp_path / "trace.zip").write_bytes(archived({"trace/trace.network": log, "trace/trace.trace": start}))
    assert paths(load_trace(RunInputs(tmp_path), "trace.zip").under(find_rules("default"))) == ["/new"]


def test_system_files_next_to_a_log_are_no_logs(tmp_path):
    members = {"0-trace.network": lines(entry("/a")), "._0-trace.network": b"\x00\x05\x16\x07"}
    for kind in ("trace.zip", "trace"):
        assert paths(load_trace(RunInputs(tmp_path), written(tmp_path, members, kind))) == ["/a"]


@pytest.mark.parametrize("layout", PACKED_AGAIN)
@pytest.mark.parametrize("name", ["har.har", "network.har"])
@pytest.mark.parametrize("others", [{}, {"__MACOSX/._network.har": b"x", "__MACOSX/trace/._har.har": b"x"}])
def test_a_har_that_was_packed_again_is_read_with_its_bodies(tmp_path, layout, name, others):
    one = entry("/a", "POST")
    one["request"]["postData"] = {"mimeType": "application/x-www-form-urlencoded", "_file": "ab12.bin"}
    content = packed_again(layout, {name: har(one), "ab12.bin": b"n=1"}, others)
    (tmp_path / "network.har.zip").write_bytes(content)
    trace = load_trace(RunInputs(tmp_path), "network.har.zip")
    assert (paths(trace), trace.events[0].read_post().load_text()) == (["/a"], "n=1")


INTACT = {
    "two traces": (
        {"a/trace.network": lines(entry("/a")), "b/trace.network": lines(entry("/b"))},
        'holds several traces: "a/", "b/"; keep only the one of this run',
    ),
    "a HAR": ({"har.har": b"{}"}, 'has no trace.network; it holds "har.har"; put that file into the run directory'),
    "an archive": ({"x/trace.zip": b"PK"}, 'has no trace.network; it holds "x/trace.zip"; put that file into the run'),
}


@pytest.mark.parametrize("content", INTACT)
def test_nobody_is_told_to_record_again_what_is_intact(tmp_path, content):
    members, message = INTACT[content]
    (tmp_path / "trace.zip").write_bytes(archived(members))
    with pytest.raises(RecordingError) as refusal:
        load_trace(RunInputs(tmp_path), "trace.zip")
    assert message in str(refusal.value)
    assert "re-record" not in str(refusal.value)


def test_an_intact_archive_beyond_the_limits_or_with_a_password_need_not_be_recorded_again(tmp_path):
    content = archived({"trace.network": lines(entry("/a")) * 50, "har.har": har(entry("/a")) * 50})
    encrypted = bytearray(content)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        position = 0
        while (position := content.find(mark, position)) >= 0:
            encrypted[position + offset] |= 1
            position += 1
    for name in ("trace.zip", "network.har.zip"):
        (tmp_path / name).write_bytes(encrypted)
        with pytest.raises(RecordingError, match=r"encrypted.*; pack it again without a password and with the usual"):
            load_trace(RunInputs(tmp_path), name)
        for limits in (Limits(archive_members=1), Limits(file_size=len(content) - 1)):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(RecordingError) as refusal:
                load_trace(RunInputs(tmp_path, limits=limits), name)
            assert "re-record" not in str(refusal.value)


@pytest.mark.parametrize("broken", [b"", b"no archive"])
def test_what_is_no_archive_is_told_to_be_none(tmp_path, broken):
    (tmp_path / "network.har.zip").write_bytes(broken)
    where = tmp_path / "network.har.zip"
    with pytest.raises(RecordingError) as refusal:
        load_trace(RunInputs(tmp_path), "network.har.zip")
    reason = "File is not a zip file"
    assert str(refusal.value) == (
        f"cannot read {where} as an archive with a har.har: {reason}; "
        "re-record the run and close the browser context first"
    )


def asking(bench):
    return bench.task(bench.expecting(data=["Blue Mug"]))


def recorded(bench, content, name="network.har"):
    directory = bench.record()
    (directory / "network.har").unlink()
    (directory / name).write_bytes(content)
    return directory


def judged(bench, task, rules="default"):
    case = bench.case(task, rules)
    return score(case, default_evaluators()), list(case.warnings)


REPAIRED = "Q43 (repaired_traces) changed this verdict to success: readable data are read @ the trace"
LAYOUTS = {
    "a byte order mark": ("network.har", BOM + har(entry("/a")), "/network.har starts with a byte order mark"),
    "a byte order mark before lines": (
        "network.har",
        BOM + lines(entry("/a")),
        "/network.har starts with a byte order m",
    ),
    "two logs": (
        "trace.zip",
        archived({"0-trace.network": lines(entry("/a")), "1-trace.network": b""}),
        "/trace.zip has 0-trace.network, 1-trace.network instead of one trace.network",
    ),
    "a top folder": (
        "trace.zip",
        archived({"trace/trace.network": lines(entry("/a"))}),
        "/trace.zip has its files in trace/",
    ),
    "a HAR in an archive": (
        "network.har.zip",
        archived({"har.har": har(entry("/a"))}),
        "/network.har.zip is an archive",
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_that_the_reference_refuses_is_read_with_a_warning(bench, layout):
    name, content, reason = LAYOUTS[layout]
    directory = recorded(bench, content, name)
    result, warnings = judged(bench, asking(bench))
    assert (result.status, warnings, paths(load_run(directory).trace)) == ("success", [REPAIRED], ["/a"])
    with pytest.raises(RecordingError, match="use --webeval-rules=default, which reads it") as refusal:
        judged(bench, asking(bench), "reference")
    assert reason in str(refusal.value)


def test_bodies_of_a_har_in_an_archive_lie_beside_it(bench):
    one = entry("/a", "POST")
    one["request"]["postData"] = {"mimeType": "application/x-www-form-urlencoded", "_file": "ab12.bin"}
    members = {"har.har": har(one), "ab12.bin": b"n=1"}
    directory = recorded(bench, archived(members), "network.har.zip")
    assert load_run(directory).trace.events[0].read_post().load_text() == "n=1"
    del members["ab12.bin"]
    (directory / "network.har.zip").write_bytes(archived(members))
    with pytest.raises(EvaluationError, match=r"network\.har\.zip has no body ab12\.bin: .*; re-record the run"):
        load_run(directory).trace.events[0].read_post().load_text()


def test_a_har_is_read_before_an_archive_of_one(bench):
    directory = bench.record(events=[{"url": f"{SHOP}/plain"}])
    (directory / "network.har.zip").write_bytes(archived({"har.har": har(entry("/packed"))}))
    assert paths(load_run(directory).trace) == ["/plain"]


NETWORK = {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__SHOPPING__/a"}, "last_event_only": False}
NULL = {"request": None, "response": None}


@pytest.mark.parametrize(("name", "write"), [("network.har", har), ("trace.network", lines)])
@pytest.mark.parametrize("kind", ["MUTATE", "NAVIGATE"])
@pytest.mark.parametrize(("count", "subject"), [(1, "1 entry"), (2, "2 entries")])
def test_an_entry_whose_request_is_null_is_passed_over_with_a_warning(bench, name, write, kind, count, subject):
    content = write(NULL, entry("/a", headers={"accept": "text/html"}), *[NULL] * (count - 1))
    directory = recorded(bench, content, name)
    (directory / "agent_response.json").write_text(json.dumps({"task_type": kind, "status": "SUCCESS"}))
    task = bench.task(bench.expecting(kind, schema={"type": "null"}), NETWORK)
    result, warnings = judged(bench, task)
    message = "Q43 (repaired_traces) changed this verdict to success: readable data are read"
    place = f"{subject} without a request; NetworkEventEvaluator, eval[1]"
    assert (result.status, warnings) == ("success", [f"{message} @ {place}"])
    result, warnings = judged(bench, task, "reference")
    assert [str(one.status) for one in result.evaluators_results] == ["success", "error"]
    assert result.evaluators_results[1].error_msg == (
        "event 1 of the trace is damaged: no readable url; re-record the run"
    )
    assert warnings == []


def test_an_entry_without_a_request_is_damaged_under_all_rules(bench):
    recorded(bench, har({"response": None}, entry("/a")))
    task = bench.task(bench.expecting(data=["Blue Mug"]), NETWORK)
    assert [str(judged(bench, task, rules)[0].status) for rules in ("reference", "default")] == ["error"] * 2


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        (
            "network.har",
            har(*(entry(f"/{number}.png") for number in range(8))),
            "8 entries of static files only; ",
        ),
        ("network.har", har(entry("/a.css")), "1 entry of a static file; "),
        ("network.har", har(entry("/a.css"), NULL, NULL), "3 entries, 1 of them static files and 2 unreadable; "),
        ("network.har", har(NULL, {}), "2 unreadable entries; "),
        ("trace.network", lines(entry("/a.css")), "1 entry of a static file; "),
        ("trace.network", b"", SNAPSHOTS),
        ("trace.zip", archived({"trace.network": b""}), SNAPSHOTS),
        ("trace.zip", archived({"0-trace.network": b"", "test.trace": b""}), SNAPSHOTS),
        ("network.har", b"", CLOSING),
    ],
)
def test_a_trace_without_a_usable_event_says_what_it_holds_and_what_to_do(bench, name, content, reason):
    directory = recorded(bench, content, name)
    with pytest.raises(RecordingError) as refusal:
        judged(bench, asking(bench))
    wanted = f"{reason}{CLOSING}" if reason.endswith("; ") else f"no entries; {reason}"
    assert str(refusal.value) == f"the trace in {directory} has no usable events: {wanted}"


def test_an_empty_trace_folder_says_the_same(bench):
    directory = recorded(bench, b"", "other.txt")
    (directory / "trace").mkdir()
    (directory / "trace/trace.network").write_bytes(b"")
    with pytest.raises(RecordingError, match=r"no entries; .*snapshots=True"):
        judged(bench, asking(bench))


def document(path, status=200, frame="f1", kind="document", **more):
    place = {"_frameref": frame, "pageref": "page@1"}
    return entry(path, status=status, headers={"accept": "text/html"}, _resourceType=kind, **place, **more)


def untyped(path, status=200):
    return entry(path, status=status, headers={"accept": "text/html"})


@pytest.mark.parametrize(
    ("entries", "last"),
    [
        ([untyped("/a"), entry("/ws", _resourceType="websocket")], "/a"),
        ([entry("/ws", _resourceType="websocket")], None),
        ([untyped("/a"), document("/b")], "/b"),
        ([document("/b"), untyped("/a")], "/a"),
        ([document("/b"), entry("/x")], "/b"),
        ([document("/b"), document("/c", status=0)], "/b"),
        ([document("/b"), document("/c", status=-1)], "/b"),
        ([untyped("/a"), untyped("/b", status=0)], "/a"),
        ([document("/b", status=0), document("/c"), document("/frame", frame="f2")], "/c"),
        ([document("/b"), document("/c", status="x")], "/c"),
        ([document("/b", status=0)], None),
    ],
)
def test_entries_without_a_resource_type_are_judged_by_their_headers_when_strict(tmp_path, entries, last):
    (tmp_path / "network.har").write_bytes(har(*entries))
    page = load_trace(RunInputs(tmp_path), "network.har").last_page
    assert (page and page.url.removeprefix(SHOP)) == last


def test_rules_strict_find_the_page_of_a_recording_that_types_websockets_alone(bench):
    entries = [untyped("/a"), untyped("/b", status=0), entry("/ws", _resourceType="websocket")]
    directory = recorded(bench, har(*entries))
    (directory / "agent_response.json").write_text('{"task_type": "NAVIGATE", "status": "SUCCESS"}')
    task = bench.task(bench.expecting("NAVIGATE", schema={"type": "null"}), NETWORK)
    found = {rules: str(judged(bench, task, rules)[0].status) for rules in ("reference", "default", "strict")}
    assert found == {"reference": "failure", "default": "failure", "strict": "success"}


@pytest.mark.parametrize("layout", ["mark", "logs", "har.zip", "folder"])
def test_secrets_in_such_a_layout_are_found_where_they_lie(tmp_path, layout):
    one = entry("/a", headers={"Authorization": SECRET})
    name, content, file, unit = {
        "mark": ("network.har", BOM + har(one), "network.har", "event"),
        "logs": ("trace.zip", archived({"1-trace.network": lines(one, NULL)}), "trace.zip/1-trace.network", "line"),
        "har.zip": ("network.har.zip", archived({"har.har": har(one)}), "network.har.zip/har.har", "event"),
        "folder": ("trace/1-trace.network", lines(one, NULL), "trace/1-trace.network", "line"),
    }[layout]
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(content)
    policy, salt = RedactionPolicy(), b"s" * 32
    found = {(one.file, one.unit, one.name) for one in Audit.of(tmp_path, policy, salt).findings}
    assert found == {(file, unit, "Authorization")}
    word = SECRET.split()[1].lower()
    secrets = RecordingSecrets(tmp_path, "agent_response.json", (name,)).secrets({word}, policy, salt)
    assert any(word in secret.lower() for secret in secrets)


def test_a_member_without_a_name_is_no_directory():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in ("", "trace/", "trace.network"):
            archive.writestr(zipfile.ZipInfo(name), b"")
    assert Archive(packed.getvalue(), USUAL).names == ["", "trace.network"]


@pytest.mark.parametrize("lead", [0, 1, 3_970, 3_990, 10_000])
@pytest.mark.parametrize(
    ("text", "is_valid"),
    [("a", True), ("é" * 8, True), ("\U0001f600" * 8, True), ("\udcff", False), ("é\udce2", False)],
)
def test_a_har_that_is_not_utf8_in_a_field_that_nobody_reads_is_repaired(tmp_path, lead, text, is_valid):
    comment = f"{'x' * lead}{text}{'y' * 4_000}".encode("utf-8", "surrogateescape")
    (tmp_path / "network.har").write_bytes(b'{"comment": "' + comment + b'", ' + har(entry("/a")).removeprefix(b"{"))
    trace = load_trace(RunInputs(tmp_path), "network.har")
    assert paths(trace) == ["/a"]
    assert trace.repairs == (None if is_valid else f"{tmp_path / 'network.har'} is not UTF-8 throughout")
