"""The storefront: what a customer sees."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from flask import Blueprint, abort, current_app, flash, redirect, render_template, request, session, url_for

from shop import catalog

if TYPE_CHECKING:
    from werkzeug.wrappers import Response as AnyResponse

    from shop.state import ShopState

CUSTOMER, PASSWORD = "ida.novak@example.com", "demo-customer"

storefront = Blueprint("storefront", __name__)


def _state() -> ShopState:
    state: ShopState = current_app.extensions["shop"]
    return state


def _product(slug: str) -> catalog.Product:
    return catalog.BY_SLUG.get(slug) or abort(404)


@storefront.context_processor
def _header() -> dict[str, object]:
    return {"categories": catalog.CATEGORIES, "cart_size": sum(_state().cart.values()), "sorts": catalog.SORTS}


@storefront.get("/")
def home() -> str:
    """Show the front page with the best rated products."""
    return render_template("storefront/home.html", products=catalog.find(sort="rating")[:6])


@storefront.get("/search")
def search() -> str:
    """Show products by words, in the asked order."""
    words, sort = request.args.get("q", ""), request.args.get("sort", "relevance")
    found = catalog.find(words, sort=sort)
    return render_template(
        "storefront/list.html", title=f"Results for “{words}”", products=found, words=words, sort=sort
    )


@storefront.get("/category/<name>")
def category(name: str) -> str:
    """Show the products of one category."""
    title = catalog.CATEGORIES.get(name) or abort(404)
    sort = request.args.get("sort", "relevance")
    found = catalog.find(category=name, sort=sort)
    return render_template("storefront/list.html", title=title, products=found, words=None, sort=sort)


@storefront.get("/product/<slug>")
def product(slug: str) -> str:
    """Show one product with its reviews."""
    return render_template("storefront/product.html", product=_product(slug))


@storefront.get("/cart")
def cart() -> str:
    """Show what is in the cart, and the sum."""
    lines = [(catalog.BY_SLUG[slug], quantity) for slug, quantity in _state().cart.items()]
    cents = sum(product.cents * quantity for product, quantity in lines)
    return render_template("storefront/cart.html", lines=lines, total=f"${cents / 100:,.2f}")


@storefront.post("/cart/add")
def cart_add() -> AnyResponse:
    """Put some of a product into the cart."""
    chosen = _product(request.form["product"])
    if not chosen.stock:
        abort(409, f"{chosen.name} is out of stock.")
    _state().cart[chosen.slug] = _state().cart.get(chosen.slug, 0) + request.form.get("quantity", 1, int)
    flash(f"{chosen.name} is in your cart.")
    return redirect(url_for(".cart"))


@storefront.post("/cart/update")
def cart_update() -> AnyResponse:
    """Change the quantity of a line; nought removes it."""
    slug, quantity = request.form["product"], request.form.get("quantity", 0, int)
    _state().cart.pop(slug, None)
    if quantity > 0:
        _state().cart[slug] = quantity
    return redirect(url_for(".cart"))


@storefront.get("/wishlist")
def wishlist() -> str:
    """Show what the customer would like to have."""
    return render_template("storefront/wishlist.html", products=[_product(slug) for slug in _state().wishlist])


@storefront.post("/wishlist/add")
def wishlist_add() -> AnyResponse:
    """Remember a product; the message travels in a cookie that a script on the next page shows."""
    chosen = _product(request.form["product"])
    _state().wishlist.append(chosen.slug)
    note = [{"type": "success", "text": f"{chosen.name} has been added to your Wish List."}]
    response = redirect(url_for(".wishlist"))
    response.set_cookie("shop-messages", quote(json.dumps(note)))
    return response


@storefront.get("/login")
def login() -> str:
    """Ask who is there."""
    return render_template("storefront/login.html")


@storefront.post("/login")
def sign_in() -> AnyResponse:
    """Sign a customer in."""
    if (request.form["email"], request.form["password"]) != (CUSTOMER, PASSWORD):
        flash("This e-mail address and password do not belong together.")
        return redirect(url_for(".login"))
    session["customer"] = "Ida Novak"
    return redirect(url_for(".home"))


@storefront.get("/contact")
def contact() -> str:
    """Offer a form to write to the shop."""
    return render_template("storefront/contact.html")


@storefront.post("/contact")
def contact_send() -> str:
    """Take a customer's message."""
    _state().letters.append(request.form.to_dict())
    flash("Thank you. We answer within one working day.")
    return render_template("storefront/contact.html")
