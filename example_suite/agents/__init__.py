"""Scripted visitors: each function does in the browser what one agent did on one task."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from shop.sites import SiteUrls

if TYPE_CHECKING:
    from playwright.sync_api import Page

Agent = Callable[["Page", SiteUrls], None]
