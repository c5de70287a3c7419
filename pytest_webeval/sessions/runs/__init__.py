"""One run: scored, classified, redacted, written, and found again."""
