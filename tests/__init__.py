"""Tests of pytest-webeval: `unit` mirrors the package, the other folders have a harness each."""
