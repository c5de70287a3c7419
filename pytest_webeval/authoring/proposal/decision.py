"""What golden runs show of their task: the requests that decide whether it was done, and forbidden ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pytest_webeval.authoring.addresses import Addresses, Place, infer_addresses
from pytest_webeval.authoring.requests import CHANGING, REFUSED, Request, list_requests
from pytest_webeval.authoring.volatility import is_id
from pytest_webeval.errors import RecordingError
from pytest_webeval.evaluators.agent_response import parse_response
from pytest_webeval.recordings.network.events import event_number
from pytest_webeval.recordings.run import Run
from pytest_webeval.safety.text import pluralize, shorten_repr
from pytest_webeval.tasks.expectations import STATUSES, TASK_TYPES

SUCCESS = "SUCCESS"
MOST_DECISIVE = 10
_DIFFERS = "other values in other runs"


class GoldenRun(Struct, frozen=True):
    """A run that did its task. `last_page` is the page of a site that it ended on, if it did.

    Of a recorder whose agents answer in texts there `has_answer` is false, and the traffic shows the type of the task.
    """

    run: Run
    addresses: Addresses
    task_type: str
    status: str
    data: Any
    requests: tuple[Request, ...]
    last_page: Request | None
    has_answer: bool = True

    @property
    def start_page(self) -> Request | None:
        return next((request for request in self.requests if request.is_page), None)

    @property
    def sites(self) -> list[str]:
        """The sites of its pages and changing requests, in the order in which it went there."""
        return list(dict.fromkeys(request.place.site for request in self.requests if request.place.site is not None))

    @property
    def site_requests(self) -> list[Request]:
        """The requests at these sites."""
        return [request for request in self.requests if request.place.site is not None]

    def is_start(self, request: Request | None) -> bool:
        """Whether a page is the one that the run began on."""
        start = self.start_page
        return request is None or start is None or (request.place, request.query) == (start.place, start.query)


def read_golden_run(run: Run, addresses: Addresses | None) -> GoldenRun:
    """The run, at configured sites or else at that of its first page. Raises `WebEvalError` if it cannot be used."""
    run.check()
    trace = run.trace
    known = addresses or infer_addresses(trace.evaluation_events)
    requests = list_requests(trace, known, run.inputs.limits)
    for event in () if requests else trace.evaluation_events[:1]:
        event.check()  # says why no request of the recorder can be used
    last = trace.last_page
    number = 0 if last is None else event_number(last.index)
    last_page = next((each for each in requests if each.number == number and each.place.site is not None), None)
    if addresses is not None and requests and not any(each.place.site for each in requests):
        raise RecordingError(f"no page of {run.label} is at a configured site; fix the URLs of the configuration")
    fields = None  # where there is no answer, or one of another form
    try:
        fields = parse_response(run.response, run.rules, run.inputs.limits).fields
    except RecordingError:
        if not run.is_trajectory:
            raise
    if fields is None and run.is_trajectory:
        task_type = "MUTATE" if any(each.is_change and not each.is_login for each in requests) else "NAVIGATE"
        return GoldenRun(run, known, task_type, SUCCESS, None, tuple(requests), last_page, has_answer=False)
    if fields is None:
        advice = "write a JSON object with task_type, status and retrieved_data"
        raise RecordingError(f"the answer of {run.label} is not a JSON object; {advice}")
    task_type = _choose("task_type", fields.get("task_type"), TASK_TYPES, run)
    status = _choose("status", fields.get("status"), STATUSES, run)
    return GoldenRun(run, known, task_type, status, fields.get("retrieved_data"), tuple(requests), last_page)


def _choose(name: str, value: object, choices: tuple[str, ...], run: Run) -> str:
    """The value in capitals. Raises `RecordingError` if it is not one of the choices."""
    text = value.strip().upper() if isinstance(value, str) else ""
    if text not in choices:
        problem = f"invalid {name} {shorten_repr(value)} in the answer of {run.label}"
        raise RecordingError(f"{problem}; use one of {', '.join(choices)}")
    return text


class Forbidden(Struct, frozen=True):
    """Requests that must not be made: any to the place but to those that are exempt, which differ in its ids."""

    method: str
    place: Place
    exempt: tuple[Place, ...] = ()
    is_any_below: bool = False


class Decision(Struct, frozen=True):
    """Decisive requests, forbidden ones, and what the author of the task should check.

    Those of which any may be the decisive one are in `repeated`. `needs_referer` requires the page before the last.
    """

    expected: tuple[Request, ...] = ()
    forbidden: tuple[Forbidden, ...] = ()
    repeated: frozenset[int] = frozenset()
    needs_referer: bool = False
    notes: tuple[str, ...] = ()


def decide(runs: Sequence[GoldenRun]) -> Decision:
    """What the runs have in common of what decides in the first. What differs between them is not required."""
    first, *others = runs
    decision = _DECIDERS[first.task_type](runs)
    merged, missing = [], []
    for request in decision.expected:
        partners = [_find_partner(request, other) for other in others]
        present = [partner for partner in partners if partner is not None]
        if len(present) == len(others):
            merged.append(_merge(request, present))
        else:
            missing.append(f"{request.method} {request.place.text} is not in each run, and is not required")
    missing += ["the runs ended on different pages; each of them will do" for request in merged if request.others]
    forbidden = decision.forbidden or _forbid_other_objects(merged, runs)
    return replace(decision, expected=tuple(merged), forbidden=forbidden, notes=(*decision.notes, *missing))


def _decide_mutate(runs: Sequence[GoldenRun]) -> Decision:
    """All changes that were accepted; of an agent that rightly refused, what it tried, or that it changed nothing."""
    run = runs[0]
    requests = [request for request in run.site_requests if not request.is_login]
    changes = [each for each in requests if (each.is_change if run.status == SUCCESS else each.is_attempt)]
    if changes:
        return _require_changes(changes)
    page = None if run.is_start(run.last_page) else run.last_page
    notes = ["nothing was changed, so each request that changes something is forbidden"]
    if page is not None:
        notes.append(f"the page {page.place.text} is required; remove it if there are other ways")
    return Decision((page,) if page else (), _forbid_changes(runs), notes=tuple(notes))


def _require_changes(changes: Sequence[Request]) -> Decision:
    """The changes; of those that are the same, the last."""
    distinct: dict[str, Request] = {}
    for each in changes:
        sent = sorted(each.query.items()), sorted(each.fields.items())
        distinct[repr((each.method, each.place, each.operation, sent))] = each
    last = sorted(distinct.values(), key=lambda change: change.number)[-MOST_DECISIVE:]
    by_place: dict[tuple[str, str], list[int]] = {}
    for change in last:
        by_place.setdefault((change.method, change.place.text), []).append(change.number)
    repeated = frozenset(number for numbers in by_place.values() if len(numbers) > 1 for number in numbers)
    notes = []
    if len(last) > 1:
        notes.append(f"{pluralize(len(last), 'request')} changed something; remove those that the task does not need")
    if len(distinct) > len(last):
        notes.append(f"{pluralize(len(distinct) - len(last), 'earlier change')} omitted")
    return Decision(tuple(last), repeated=repeated, notes=tuple(notes))


def _decide_navigate(runs: Sequence[GoldenRun]) -> Decision:
    """The last page; if that is the page that the run began on, whatever shows that the agent did something."""
    run, page = runs[0], runs[0].last_page
    number = page.number if page is not None else 0
    posts = [each for each in run.site_requests if each.method in CHANGING and each.number > number]
    if shown := [each for each in posts if each.is_page and each.status < REFUSED and each.status // 100 != 3]:
        return Decision((shown[-1],))
    if page is not None and not run.is_start(page):
        return Decision((page,))
    if page is not None and page.referer is not None and page.referer.site is not None and page.referer != page.place:
        return Decision((page,), needs_referer=True, notes=("the last page is the start page; its referer decides",))
    requests = [each for each in run.site_requests if not each.is_telemetry and each.method in CHANGING]
    if requests:
        return Decision((requests[-1],), notes=("the last page is the start page; the last request decides",))
    if page is not None:
        return Decision((page,), notes=("the run ended on its start page, as a run that does nothing does",))
    return Decision(notes=("the run did not end on a page of a site, and nothing else that it did is required",))


def _decide_retrieve(runs: Sequence[GoldenRun]) -> Decision:
    """Nothing, but for the page of a rightly missing answer, or one with parameters on which several runs ended."""
    page = runs[0].last_page
    if page is None or runs[0].is_start(page):
        return Decision()
    pairs = "&".join(f"{name}={value}" for name, values in page.query.items() for value in values)
    name = f"{page.place.text}?{pairs}" if pairs else page.place.text
    if runs[0].status != SUCCESS:
        return Decision((page,), notes=(f"the page {name} is required; remove it if there are other ways",))
    ends = [(run.last_page.place, run.last_page.query) for run in runs if run.last_page is not None]
    if len(runs) > 1 and page.query and ends == [(page.place, page.query)] * len(runs):
        return Decision((page,), notes=(f"each run ended on {name}, which is required",))
    return Decision(notes=(f"no request is required; the run ended on {name}",))


_DECIDERS = {"MUTATE": _decide_mutate, "NAVIGATE": _decide_navigate, "RETRIEVE": _decide_retrieve}


def _find_partner(request: Request, run: GoldenRun) -> Request | None:
    """The request of another run that does the same: the last one to the same place, or to one with other ids."""
    if request.is_page and request.method == "GET":
        return run.last_page
    alike = [
        each
        for each in run.site_requests
        if (each.method, each.operation) == (request.method, request.operation)
        and _differ_by_ids(request.place, each.place)
    ]
    same = [each for each in alike if each.place == request.place]
    fits = [each for each in same or alike if each.fields == request.fields]
    candidates = fits or same or alike
    return candidates[-1] if candidates else None


def _differ_by_ids(ours: Place, theirs: Place) -> bool:
    """Whether two places are the same but for ids."""
    if ours.site != theirs.site or len(ours.segments) != len(theirs.segments):
        return False
    pairs = zip(ours.segments, theirs.segments, strict=True)
    return all(
        our == their or None in (our, their) or (is_id(our or "") and is_id(their or "")) for our, their in pairs
    )


def _merge(request: Request, partners: Iterable[Request]) -> Request:
    """The request with what all partners share: any id where they have several, but no other page than theirs."""
    for partner in partners:
        query, ignored = _split_shared(request.query, partner.query)
        fields, dropped = _split_shared(request.fields, partner.fields)
        place, others = request.place, request.others
        if _differ_by_ids(place, partner.place):
            pairs = zip(place.segments, partner.place.segments, strict=True)
            place = replace(place, segments=tuple(our if our == their else None for our, their in pairs))
        else:
            others = tuple(dict.fromkeys((*others, partner.place)))
        request = replace(
            request,
            place=place,
            others=others,
            query=query,
            ignored={**request.ignored, **partner.ignored, **ignored},
            fields=fields,
            dropped={**request.dropped, **partner.dropped, **dropped},
        )
    return request


def _split_shared(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The fields that are the same in both, and why the others are not required."""

    def fold(value: Any) -> str:
        return str(value).strip().casefold()

    shared = {name: value for name, value in ours.items() if name in theirs and fold(theirs[name]) == fold(value)}
    return shared, {name: _DIFFERS for name in (*ours, *theirs) if name not in shared}


def _forbid_other_objects(expected: Iterable[Request], runs: Sequence[GoldenRun]) -> tuple[Forbidden, ...]:
    """The same changes of other objects, where the path names the object."""
    forbidden: dict[tuple[str, str], Forbidden] = {}
    for request in expected:
        places = request.place.segments
        if request.method in CHANGING and any(map(is_id, filter(None, places))):
            template = _generalize(request.place)
            others = (each for run in runs for each in run.site_requests if each.method == request.method)
            exempt = dict.fromkeys(each.place for each in others if _generalize(each.place) == template)
            forbidden[request.method, template.text] = Forbidden(request.method, template, tuple(exempt))
    return tuple(forbidden.values())


def _generalize(place: Place) -> Place:
    """The place with any segment in place of ids."""
    return replace(place, segments=tuple(None if segment and is_id(segment) else segment for segment in place.segments))


def _forbid_changes(runs: Sequence[GoldenRun]) -> tuple[Forbidden, ...]:
    """All changes at the sites of the runs, but for those that they made: logins, telemetry, reads."""
    requests = [each for run in runs for each in run.site_requests]
    forbidden = []
    for site in dict.fromkeys(site for run in runs for site in run.sites):
        for method in CHANGING:
            exempt = dict.fromkeys(each.place for each in requests if (each.method, each.place.site) == (method, site))
            forbidden.append(Forbidden(method, Place(site, "", ()), tuple(exempt), is_any_below=True))
    return tuple(forbidden)
