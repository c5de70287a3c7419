"""Recorded network traffic."""
