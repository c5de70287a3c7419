"""Plugins that the project's own tests use."""

pytest_plugins = ["pytester"]
