"""The back office: orders and reports, for staff only."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from flask import Blueprint, abort, current_app, flash, redirect, render_template, request, session, url_for

from shop.catalog import BY_SLUG
from shop.orders import STATUSES, Order, bestsellers, between

if TYPE_CHECKING:
    from werkzeug.wrappers import Response as AnyResponse

STAFF, PASSWORD = "admin", "demo-staff"

admin = Blueprint("admin", __name__, url_prefix="/admin")


def _orders() -> dict[int, Order]:
    orders: dict[int, Order] = current_app.extensions["shop"].orders
    return orders


@admin.before_request
def _staff_only() -> AnyResponse | None:
    if "staff" in session or request.endpoint in ("admin.login", "admin.sign_in"):
        return None
    return redirect(url_for(".login"))


@admin.get("/login")
def login() -> str:
    """Ask who is there."""
    return render_template("admin/login.html")


@admin.post("/login")
def sign_in() -> AnyResponse:
    """Sign a member of staff in."""
    if (request.form["username"], request.form["password"]) != (STAFF, PASSWORD):
        flash("Wrong user name or password.")
        return redirect(url_for(".login"))
    session["staff"] = STAFF
    return redirect(url_for(".dashboard"))


@admin.get("/")
def dashboard() -> str:
    """How many orders there are in each status."""
    counts = {status: sum(order.status == status for order in _orders().values()) for status in STATUSES}
    latest = list(reversed(_orders().values()))[:5]
    return render_template("admin/dashboard.html", counts=counts, orders=latest)


@admin.get("/orders")
def orders() -> str:
    """All orders, or those in one status."""
    status = request.args.get("status", "")
    found = [order for order in reversed(_orders().values()) if status in ("", order.status)]
    return render_template("admin/orders.html", orders=found, status=status, statuses=STATUSES)


@admin.get("/orders/<int:number>")
def order(number: int) -> str:
    """One order with its lines and its history."""
    found = _orders().get(number) or abort(404)
    return render_template("admin/order.html", order=found, products=BY_SLUG)


@admin.post("/orders/<int:number>/<action>")
def change(number: int, action: str) -> AnyResponse:
    """Ship or cancel an open order."""
    found = _orders().get(number) or abort(404)
    status = {"ship": "complete", "cancel": "canceled"}.get(action) or abort(404)
    if not found.open:
        abort(409, f"Order #{number} is {found.status} and cannot be changed.")
    found.status = status
    found.history.append(request.form.get("comment", ""))
    flash(f"Order #{number} is now {status}.")
    return redirect(url_for(".order", number=number))


@admin.get("/reports/sales")
def sales() -> str:
    """Show what was sold in a period; days are written month first, as in `02/29/2024`."""
    first, last = _day("from", date(2024, 3, 1)), _day("to", date(2024, 3, 14))
    found = between(_orders(), first, last)
    total = f"${sum(order.cents for order in found) / 100:,.2f}"
    return render_template("admin/sales.html", orders=found, first=first, last=last, total=total)


def _day(name: str, default: date) -> date:
    try:
        month, day, year = (int(part) for part in request.args[name].split("/"))
        return date(year, month, day)
    except (KeyError, ValueError):
        return default


@admin.get("/reports/bestsellers")
def best() -> str:
    """Products by the number sold."""
    return render_template("admin/bestsellers.html", rows=bestsellers(_orders()))
