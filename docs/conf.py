"""Sphinx configuration: `sphinx-build -W --keep-going -b html docs docs/_build/html`."""

from __future__ import annotations

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "pytest-webeval"
author = "The pytest-webeval authors"
release = version = version_of("pytest-webeval")

extensions = ["myst_parser", "sphinx.ext.autodoc", "generated"]
smartquotes = False  # they would change options such as --webeval-runs
exclude_patterns = ["_build"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

# Docstrings put names between single backticks, as Markdown does.
default_role = "code"
autodoc_class_signature = "separated"
autodoc_default_options = {"members": True, "member-order": "bysource", "exclude-members": "__init__, __new__"}
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = "pytest-webeval"
html_show_copyright = False
html_show_sphinx = False
