"""Reading what a stranger wrote: files, JSON, archives, patterns, time."""
