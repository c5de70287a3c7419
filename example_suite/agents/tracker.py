"""Visitors of the issue tracker."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from shop.sites import SiteUrls

    from agents import Agent


def open_issue(project: str, title: str, *labels: str, text: str = "") -> Agent:
    """Write an issue and open it."""

    def act(page: Page, urls: SiteUrls) -> None:
        _open_issues(page, urls, project)
        _write_issue(page, title, text, labels)

    return act


def report_cheapest_product(page: Page, urls: SiteUrls) -> None:
    """Find the cheapest product of the storefront and open an issue about it."""
    page.goto(f"{urls.shopping}/search?q=&sort=price_asc")
    page.locator("article a").first.click()
    page.wait_for_url("**/product/*")
    name, address = page.locator("h1").inner_text(), page.url
    _open_issues(page, urls, "acme/website")
    _write_issue(page, name, address, ("storefront",))


def filter_issues(project: str, state: str = "opened", label: str = "", author: str = "") -> Agent:
    """List a project's issues by state, label and author."""

    def act(page: Page, urls: SiteUrls) -> None:
        _open_issues(page, urls, project)
        page.get_by_label("State").select_option(state)
        page.get_by_label("Label").select_option(label)
        page.get_by_label("Author").select_option(author)
        page.get_by_role("button", name="Filter").click()

    return act


def look_at_project(project: str) -> Agent:
    """Open a project's front page."""

    def act(page: Page, urls: SiteUrls) -> None:
        page.goto(urls.gitlab)
        page.get_by_role("link", name=project).click()

    return act


def look_at_issue(project: str, iid: int) -> Agent:
    """Open an issue from the list."""

    def act(page: Page, urls: SiteUrls) -> None:
        _open_issues(page, urls, project)
        page.get_by_role("link", name=f"#{iid} ").click()

    return act


def close_issue(project: str, iid: int) -> Agent:
    """Close an issue on its page."""

    def act(page: Page, urls: SiteUrls) -> None:
        look_at_issue(project, iid)(page, urls)
        page.get_by_role("button", name="Close issue").click()
        page.locator("#state", has_text="closed").wait_for()

    return act


def try_settings(project: str) -> Agent:
    """Ask for a project's settings, in vain."""

    def act(page: Page, urls: SiteUrls) -> None:
        look_at_project(project)(page, urls)
        page.get_by_role("link", name="Settings").click()

    return act


def _open_issues(page: Page, urls: SiteUrls, project: str) -> None:
    look_at_project(project)(page, urls)
    page.get_by_role("link", name="Issues", exact=True).click()


def _write_issue(page: Page, title: str, text: str, labels: tuple[str, ...]) -> None:
    page.get_by_role("link", name="New issue").click()
    page.get_by_label("Title").fill(title)
    page.get_by_label("Description").fill(text)
    for label in labels:
        page.get_by_role("checkbox", name=label).check()
    page.get_by_role("button", name="Create issue").click()
    page.get_by_role("link", name="View issue").click()
