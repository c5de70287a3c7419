"""Results as files and in shards, written and read back."""
