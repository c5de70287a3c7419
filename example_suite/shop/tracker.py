"""The issue tracker: pages for people, `/api/issues` for the scripts on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import Blueprint, abort, current_app, jsonify, render_template, request

from shop.issues import LABELS, PEOPLE, PROJECTS, SIGNED_IN, Issue

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

    from shop.state import TrackerState

tracker = Blueprint("tracker", __name__)


def _state() -> TrackerState:
    state: TrackerState = current_app.extensions["tracker"]
    return state


def _project(group: str, name: str) -> str:
    path = f"{group}/{name}"
    return path if path in PROJECTS else abort(404)


def _issue(project: str, iid: int) -> Issue:
    return next((issue for issue in _state().of(project) if issue.iid == iid), None) or abort(404)


@tracker.context_processor
def _header() -> dict[str, object]:
    return {"me": PEOPLE[SIGNED_IN], "projects": PROJECTS, "people": PEOPLE}


@tracker.get("/")
def home() -> str:
    """List the projects."""
    return render_template("tracker/home.html")


@tracker.get("/<group>/<name>")
def project(group: str, name: str) -> str:
    """Show a project's front page, with the address to clone it from."""
    path = _project(group, name)
    host = request.host.partition(":")[0]
    opened = sum(issue.state == "opened" for issue in _state().of(path))
    return render_template("tracker/project.html", project=path, clone=f"git@{host}:{path}.git", opened=opened)


@tracker.get("/<group>/<name>/issues")
def issues(group: str, name: str) -> str:
    """List a project's issues by state, label and author."""
    path = _project(group, name)
    state, label = request.args.get("state", "opened"), request.args.get("label_name", "")
    author = request.args.get("author_username", "")
    found = [
        issue
        for issue in _state().of(path)
        if state in ("all", issue.state) and (not label or label in issue.labels) and author in ("", issue.author)
    ]
    asked = {"state": state, "label": label, "author": author}
    return render_template("tracker/issues.html", project=path, issues=found, labels=LABELS, **asked)


@tracker.get("/<group>/<name>/issues/new")
def new_issue(group: str, name: str) -> str:
    """Offer a form for a new issue."""
    return render_template("tracker/new.html", project=_project(group, name), labels=LABELS)


@tracker.get("/<group>/<name>/issues/<int:iid>")
def issue(group: str, name: str, iid: int) -> str:
    """Show one issue."""
    path = _project(group, name)
    return render_template("tracker/issue.html", project=path, issue=_issue(path, iid))


@tracker.get("/<group>/<name>/settings")
def settings(group: str, name: str) -> ResponseReturnValue:
    """Refuse a visitor who is not a maintainer."""
    return render_template("tracker/denied.html", project=_project(group, name)), 403


@tracker.get("/api/issues")
def api_list() -> ResponseReturnValue:
    """List a project's issues as JSON."""
    return jsonify([issue.as_json() for issue in _state().of(request.args.get("project", "acme/rocket"))])


@tracker.post("/api/issues")
def api_create() -> ResponseReturnValue:
    """Open an issue from `{"project": …, "issue": {"title": …, "description": …, "labels": […]}}`."""
    body: dict[str, Any] = request.get_json()
    project, wanted = body["project"], body["issue"]
    if project not in PROJECTS or not wanted.get("title"):
        return jsonify(message="A project and a title are needed."), 422
    iid = 1 + max(issue.iid for issue in _state().of(project))
    created = Issue(project, iid, wanted["title"], SIGNED_IN, wanted.get("labels", []))
    created.description = wanted.get("description", "")
    _state().issues.append(created)
    return jsonify(created.as_json()), 201


@tracker.put("/api/issues/<group>/<name>/<int:iid>")
def api_change(group: str, name: str, iid: int) -> ResponseReturnValue:
    """Close or reopen an issue with `{"state_event": "close"}` or `"reopen"`."""
    found = _issue(_project(group, name), iid)
    states = {"close": "closed", "reopen": "opened"}
    found.state = states.get(request.get_json().get("state_event")) or abort(422)
    return jsonify(found.as_json())
