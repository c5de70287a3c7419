"""pytest_sessionfinish and pytest_terminal_summary: what the controller reports."""
