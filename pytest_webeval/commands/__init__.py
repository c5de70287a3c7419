"""Commands of `python -m pytest_webeval`, one module each."""
