"""Redaction: replaces the secrets in results and texts that leave the run directory."""
