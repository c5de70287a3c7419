"""The pytest side: only this folder imports pytest."""

from __future__ import annotations
