"""Each JSON file that is read, with each damage to JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.hostile.corpus import honest
from tests.hostile.corpus.cases import EITHER, Case, all_of, holding, without
from tests.hostile.corpus.damaged_json import BROKEN, ODD
from tests.support import recorded

Wrap = Callable[[bytes, Path], bytes]
DEEP = ("100,000 lists in a member", "100,000 objects in a member")
NESTED = ("600 lists in each other",)  # which a judge's file may not have
ENDLESS = tuple(name for name in BROKEN if name.startswith("100,000 "))
NUMBERS = ("a number of 5,000 digits", "a number of 1,000,000 digits")
NO_JSON = ("a raw NUL in a text", "a raw line feed in a text")
BYTES = ("half a surrogate pair in raw bytes",)
LONG = ("a text of 17 Mi characters",)  # in a member that nobody asks for
NO_UTF8 = ("UTF-16", "UTF-32", "a byte that is no UTF-8", "a slash in two bytes")


@dataclass(frozen=True)
class Reader:
    """A file with an honest document in it. `broken` and `odd` are what damage leads to, `but` says where not."""

    file: str
    document: Mapping[str, Any]
    broken: str
    odd: str = "success"
    but: Mapping[str, str] = field(default_factory=dict)
    task: honest.Definition | None = None
    root: str = "runs"
    wrap: Wrap = lambda content, place: content
    others: tuple[str, ...] = ()  # files that must not be there for this one to be read
    lacks: tuple[str, ...] = ()  # damage that would be the same as another, or is none here
    says: str = ""
    called: str = ""  # where the document stands, if it is not the whole file

    def cases(self) -> Iterator[Case]:
        """One for each damage."""
        for usual, damages in ((self.broken, BROKEN), (self.odd, ODD)):
            for name in damages:
                if name not in self.lacks:
                    yield self._case(name, damages[name], self.but.get(name, usual))

    def _case(self, name: str, damage: Any, outcome: str) -> Case:
        def spoil(path: Path) -> None:
            place = self.file.format(path.name)
            all_of(without(*self.others), holding(place, self.wrap(damage(self.document), path / place)))(path)

        says = self.says if outcome == "error" else ""
        return Case(
            f"{name} in {self.called}{self.file.format('ID')}", outcome, says, spoil, task=self.task, root=self.root
        )


def _each(*names: tuple[str, ...], outcome: str) -> dict[str, str]:
    return {name: outcome for group in names for name in group}


def _as_text(content: bytes, place: Path) -> bytes:
    """A score file whose text is the document; bytes that are no UTF-8 cannot stand in a text."""
    return recorded.score_file(content.decode("utf-8", "replace"), 1).encode()


def _as_log_line(content: bytes, place: Path) -> bytes:
    return recorded.log(*recorded.WORKED).encode() + content + b"\n"


def _as_line(content: bytes, place: Path) -> bytes:
    return content + b"\n" + honest.lines(honest.entry())


def _as_snapshot(content: bytes, place: Path) -> bytes:
    return b'{"type": "resource-snapshot", "snapshot": ' + content + b"}\n"


def _as_member(content: bytes, place: Path) -> bytes:
    """In the definition that the corpus wrote."""
    return place.read_bytes().replace(b'{"thing": "lamp"}', content)


_RUN = honest.asked()
_HAR = honest.har(honest.entry())
_RUBRIC = {"items": [recorded.item(4, 4)]}
_ANSWER = recorded.final_answer()
_PAYLOAD = recorded.payload()
_SCORE = json.loads(recorded.score_file(_PAYLOAD))
_TIMES = {"start_time": 1772359200.0, "end_time": 1772359225.5, "duration": 25.5}
_LINE = {"timestamp": "2026-03-01T10:00:09", "type": "OtherEvent", "message": "waiting"}
_REFUSED = ("a number beyond all floats", "a fraction of 1,000,000 digits", "an exponent of 5,000 digits")
_STRICT = _each(NESTED, DEEP, NUMBERS, NO_JSON, BYTES, _REFUSED, ("400 lists in each other",), outcome="error")
_UTF16 = ("UTF-16", "UTF-16 without a mark", "UTF-32")
_AS_TEXT = (*NO_UTF8, "UTF-16 without a mark", *BYTES)
_ONE_LINE = ("nothing", "nothing but blanks", "a comment")
READERS = (
    Reader(
        honest.RESPONSE,
        honest.answer(),
        "failure",
        task=_RUN,
        but=_each(NO_UTF8, BYTES, ("a pickle",), outcome="error")
        | _each(DEEP, ENDLESS, outcome="error")
        | _each(NUMBERS, outcome=EITHER)
        | _each(NO_JSON, outcome="failure")
        | _each(LONG, outcome="error"),
    ),
    Reader(
        honest.HAR,
        honest.har(honest.entry()),
        "error",
        task=_RUN,
        says="network.har|the trace",
        but=_each(NO_JSON, DEEP, outcome="error")
        | {"each key twice": "success|error", "a mark of order": "success"}
        | _each(NO_UTF8[2:], outcome="success"),
    ),
    Reader(
        honest.LINES,
        {"type": "context-options"},
        "error",
        task=_RUN,
        others=(honest.HAR,),
        says="trace",
        wrap=_as_line,
        lacks=_ONE_LINE,
        but=_each(NO_JSON, ("a mark of order",), DEEP, outcome="error")
        | {"each key twice": "success|error"}
        | _each(NO_UTF8[2:], outcome="success"),
    ),
    Reader(
        honest.LINES,
        honest.entry(),
        "error",
        task=_RUN,
        others=(honest.HAR,),
        says="trace",
        wrap=_as_snapshot,
        called="a snapshot of ",
        lacks=("a comment",),
        but=_each(NO_JSON, ("a mark of order",), DEEP, outcome="error")
        | {"each key twice": "success|error"}
        | _each(NO_UTF8[2:], outcome="success"),
    ),
    Reader(
        "task.json",
        {"thing": "lamp"},
        "error",
        task=_RUN,
        root="alone",
        says="task",
        wrap=_as_member,
        but=_each(NO_JSON, ("a mark of order",), DEEP, NUMBERS, outcome="error")
        | _each(BYTES, outcome="success|error"),
    ),
    Reader("rubric.json", _RUBRIC, "error", task=honest.judged(), says="rubric", but=_STRICT),
    Reader(
        "{}_final_answer.json",
        _ANSWER,
        "error",
        says="answer",
        but=_each(_UTF16, outcome="success")
        | _each(DEEP, NO_JSON, NUMBERS, LONG, outcome="error")
        | _each(BYTES, outcome="success|error"),
    ),
    Reader("scores/mmrubric_0.8-5-3.json", _SCORE, "error", says="score", but=_STRICT),
    Reader(
        "scores/mmrubric_0.8-5-3.json",
        _PAYLOAD,
        "error",
        says="score",
        but=_STRICT,
        wrap=_as_text,
        called="the text of ",
        lacks=_AS_TEXT,
    ),
    Reader("times.json", _TIMES, "success"),
    Reader("core.log", {}, "success"),
    Reader("task_data.json", {"precomputed_rubric": _RUBRIC}, "success"),
    Reader("web_surfer.log", _LINE, "success", wrap=_as_log_line),
)
CASES = tuple(case for reader in READERS for case in reader.cases())
