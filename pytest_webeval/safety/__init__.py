"""Reading untrusted input: files, JSON, archives, patterns, time."""
