"""Tests that record an agent and score what they recorded."""
