"""Scripted visitors: each function does in the browser what one agent did on one task."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page
from shop.sites import SiteUrls

Agent = Callable[[Page, SiteUrls], None]
