"""Mistakes in task definitions that no schema finds."""
