"""Records an agent in a browser into a run directory. Needs Playwright, but no pytest."""
