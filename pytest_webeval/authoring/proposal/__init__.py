"""A task definition that a golden run suggests."""
