"""Why a check did not succeed, as data: what came nearest, and each place where it differs."""

from __future__ import annotations
