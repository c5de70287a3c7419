"""Visitors of the storefront."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shop.storefront import CUSTOMER, PASSWORD

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from shop.sites import SiteUrls

    from agents import Agent


def look_at_best_rated(words: str) -> Agent:
    """Search, sort by rating, open the first hit."""

    def act(page: Page, urls: SiteUrls) -> None:
        search(words, "Best rated")(page, urls)
        page.locator("article a").first.click()

    return act


def look_at(product: str) -> Agent:
    """Go to a product through the search box."""

    def act(page: Page, urls: SiteUrls) -> None:
        _search(page, urls, product)
        page.get_by_role("link", name=product).click()

    return act


def look_in_category(category: str, product: str) -> Agent:
    """Go to a product through its category."""

    def act(page: Page, urls: SiteUrls) -> None:
        page.goto(urls.shopping)
        page.get_by_role("link", name=category).click()
        page.get_by_role("link", name=product).click()

    return act


def search(words: str, sort: str = "") -> Agent:
    """Search and, if asked, choose an order."""

    def act(page: Page, urls: SiteUrls) -> None:
        _search(page, urls, words)
        if sort:
            with page.expect_navigation():
                page.get_by_label("Sort by").select_option(sort)

    return act


def add_to_cart(product: str, quantity: int) -> Agent:
    """Put some of a product into the cart."""

    def act(page: Page, urls: SiteUrls) -> None:
        fill_quantity(product, quantity)(page, urls)
        page.get_by_role("button", name="Add to cart").click()

    return act


def fill_quantity(product: str, quantity: int) -> Agent:
    """Enter a quantity on the product page, and leave it at that."""

    def act(page: Page, urls: SiteUrls) -> None:
        look_at(product)(page, urls)
        page.get_by_label("Quantity").fill(str(quantity))

    return act


def change_cart(product: str, before: int, after: int) -> Agent:
    """Fill the cart, then change its only line."""

    def act(page: Page, urls: SiteUrls) -> None:
        add_to_cart(product, before)(page, urls)
        page.get_by_label(f"Quantity of {product}").fill(str(after))
        page.get_by_role("button", name="Update").click()
        page.wait_for_load_state()

    return act


def wish_for(product: str) -> Agent:
    """Sign in and put a product on the wish list."""

    def act(page: Page, urls: SiteUrls) -> None:
        page.goto(f"{urls.shopping}/login")
        page.get_by_label("E-mail").fill(CUSTOMER)
        page.get_by_label("Password").fill(PASSWORD)
        page.locator("main").get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{urls.shopping}/")
        look_at(product)(page, urls)
        page.get_by_role("button", name="Add to wish list").click()

    return act


def draft_letter(order: str, message: str) -> Agent:
    """Fill in the contact form without sending it."""

    def act(page: Page, urls: SiteUrls) -> None:
        page.goto(urls.shopping)
        page.get_by_role("link", name="Contact us").click()
        page.get_by_label("Your name").fill("Ida Novak")
        page.get_by_label("E-mail").fill(CUSTOMER)
        page.get_by_label("Order number").fill(order)
        page.get_by_label("Message").fill(message)

    return act


def send_letter(order: str, message: str) -> Agent:
    """Fill in the contact form and send it."""

    def act(page: Page, urls: SiteUrls) -> None:
        draft_letter(order, message)(page, urls)
        page.get_by_role("button", name="Send message").click()

    return act


def _search(page: Page, urls: SiteUrls, words: str) -> None:
    page.goto(urls.shopping)
    page.get_by_label("Search").fill(words)
    page.get_by_role("button", name="Search").click()
