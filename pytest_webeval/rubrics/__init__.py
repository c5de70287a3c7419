"""Verdicts that a judge stored: reading them, and deriving them again without one (`fara_webeval.md` §5, §6)."""
