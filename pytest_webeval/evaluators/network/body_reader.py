"""The fields of recorded bodies as a rule set reads them: an error where the recorder omitted them."""

from __future__ import annotations

from collections.abc import Callable, Container
from contextlib import suppress
from functools import cached_property, partial

from msgspec import Struct
from msgspec.structs import replace

from pytest_webeval.errors import EvaluationError, UnavailableBody
from pytest_webeval.evaluators.case import Case
from pytest_webeval.recordings.network.bodies import Body
from pytest_webeval.recordings.network.events import NetworkEvent
from pytest_webeval.recordings.network.form_fields import FormFields, content_type, parse_fields, parse_recorded
from pytest_webeval.recordings.network.gaps import Gaps

POST, CONTENT = "network_event.post_data", "network_event.response_content"


_Header = Callable[[], str | None]  # read where a body says too little: most recordings need not decode it


def _read(header: _Header) -> str:
    """The header; empty if it is absent or damaged."""
    with suppress(EvaluationError):
        return header() or ""
    return ""


class BodyReader(Struct, frozen=True, dict=True):
    """Reads the bodies of one run. Each body has one list of fields, an array of JSON one for each item."""

    case: Case

    @cached_property
    def gaps(self) -> Gaps:
        """What the recorder omitted."""
        return Gaps(self.case.trace)

    def read_post(self, event: NetworkEvent, names: Container[str]) -> list[FormFields]:
        """What a request posted; nothing for a body without fields.

        Raises `UnavailableBody` if the recorder omitted it, or the value of one of the names.
        """
        body, header = self._load(event.read_post(), POST), partial(event.header, "content-type")
        if body is not None and self.case.rules.recording_gaps and self.gaps.empties(event, body):
            body = replace(body, params=())
        fields = self._parse(body, header, POST)
        if not fields and (body is None or not (body.text or body.params)):
            self._refuse(self.gaps.posted(event, body), POST)
        elif fields is None:
            self._refuse(_describe_unread(event, body, header), POST)
        for item in fields or ():
            if lost := sorted(name for name in item.unrecorded if name in names):
                self._refuse(f"{event.name} has no recorded content of the file in {lost[0][:80]!r}", POST)
        return fields or []

    def read_content(self, event: NetworkEvent) -> list[FormFields]:
        """What a response holds; nothing for a body without fields. Raises `UnavailableBody` if it was omitted."""
        body = self._load(event.read_content(), CONTENT)
        header = partial(event.response_header, "content-type")
        fields = self._parse(body, header, CONTENT)
        if not fields and (body is None or not body.text):
            self._refuse(self.gaps.content(event), CONTENT)
        elif fields is None and not _find_type(body, header).startswith("text/"):
            self._refuse(_describe_unread(event, body, header), CONTENT)
        return fields or []

    def check_type(self, body: Body | None) -> None:
        """Raise `EvaluationError` for a body whose type is null, as the reference does."""
        if body is None or not body.is_typeless:
            return
        if not self.case.rules.recorded_bodies:
            raise EvaluationError("a body in the trace is damaged: its type is null; re-record the run")

    def _load(self, body: Body | None, where: str) -> Body | None:
        """The body with its text. Fields that the recorder read itself count if a side file cannot be read."""
        self.check_type(body)
        if body is None or body.load_text is None or not self.case.rules.external_bodies:
            return body
        self.case.notice("external_bodies", where)
        try:
            return replace(body, text=body.load_text())
        except EvaluationError as error:
            if not body.params or not self.case.rules.recorded_bodies:
                raise UnavailableBody(str(error)) from error
            return replace(body, text="")

    def _parse(self, body: Body | None, header: _Header, where: str) -> list[FormFields] | None:
        """Each list of fields that is not empty; None where the type of the body is not read."""
        limits = self.case.run.inputs.limits
        fields = parse_fields(body, limits)
        if fields is not None:
            if fields.is_multipart and not self.case.rules.browser_forms:
                fields = fields.for_reference or fields  # in which no value is blank
            elif fields.is_multipart and fields.for_reference is not None:
                self.case.notice("browser_forms", where)
            return [fields] if fields.first else []  # a body without any field is as good as none
        if body is None or not self.case.rules.recorded_bodies:
            return None
        self.case.notice("recorded_bodies", where)
        items = parse_recorded(body, _read(header), limits)
        return None if items is None else [item for item in items if item.first or item.document or item.unrecorded]

    def _refuse(self, problem: str | None, where: str) -> None:
        """Raise `UnavailableBody` if there is a problem, unless the rule set takes what is missing for not sent."""
        if problem is not None and self.case.rules.recording_gaps:
            self.case.notice("recording_gaps", where)
            raise UnavailableBody(problem)


def _find_type(body: Body | None, header: _Header) -> str:
    return content_type(body.mime if body is not None else "", _read(header))


def _describe_unread(event: NetworkEvent, body: Body | None, header: _Header) -> str:
    name = _find_type(body, header)[:80] or "unknown"
    return f"a body of type {name} is not read: that of {event.name}; expect no fields of it, or record a form or JSON"
