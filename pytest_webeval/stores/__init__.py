"""Where recordings lie: directories, buckets and archives, read by four verbs."""
