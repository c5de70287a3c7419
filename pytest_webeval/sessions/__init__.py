"""A session over runs, whoever drives it: settings, definitions, outcomes, files. Knows nothing of pytest."""
