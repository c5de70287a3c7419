"""The page of the report: its template, its style and its script, which are files in this package."""

from __future__ import annotations
