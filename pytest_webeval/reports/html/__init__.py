"""The page of the report: its template, its style and its script, which are files beside this one."""

from __future__ import annotations
