"""pytest_runtest_*: how one item is scored."""
