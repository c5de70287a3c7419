"""Tasks: definitions, data sets, subsets and sites."""
