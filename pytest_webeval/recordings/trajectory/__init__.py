"""What trajectories of all formats are made of, and the files of Fara's harness (`fara_webeval.md` §2-4)."""

from __future__ import annotations
