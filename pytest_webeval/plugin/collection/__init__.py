"""pytest_collect_*: which items there are."""
