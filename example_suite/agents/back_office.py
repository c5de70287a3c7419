"""Staff in the back office."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shop.admin import PASSWORD, STAFF

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from shop.sites import SiteUrls

    from agents import Agent


def filter_orders(status: str) -> Agent:
    """List the orders in one status."""

    def act(page: Page, urls: SiteUrls) -> None:
        _sign_in(page, urls)
        page.get_by_role("link", name="Orders").click()
        page.get_by_label("Status").select_option(status)
        page.get_by_role("button", name="Filter").click()

    return act


def look_at_order(number: int) -> Agent:
    """Open an order from the list."""

    def act(page: Page, urls: SiteUrls) -> None:
        _sign_in(page, urls)
        _open_order(page, number)

    return act


def cancel_orders(*numbers: int, comment: str) -> Agent:
    """Cancel one order after the other."""

    def act(page: Page, urls: SiteUrls) -> None:
        _sign_in(page, urls)
        for number in numbers:
            _open_order(page, number)
            page.get_by_label("Comment").fill(comment)
            page.get_by_role("button", name="Cancel order").click()

    return act


def report_sales(first: str, last: str) -> Agent:
    """Show the sales report of a period."""

    def act(page: Page, urls: SiteUrls) -> None:
        _sign_in(page, urls)
        page.get_by_role("link", name="Sales report").click()
        page.get_by_label("From").fill(first)
        page.get_by_label("To").fill(last)
        page.get_by_role("button", name="Show report").click()

    return act


def look_at_bestsellers(page: Page, urls: SiteUrls) -> None:
    """Show what sold best."""
    _sign_in(page, urls)
    page.get_by_role("link", name="Bestsellers").click()


def _sign_in(page: Page, urls: SiteUrls) -> None:
    page.goto(f"{urls.shopping_admin}/")
    page.get_by_label("User name").fill(STAFF)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def _open_order(page: Page, number: int) -> None:
    page.get_by_role("link", name="Orders").click()
    page.get_by_role("link", name=f"#{number}").click()
