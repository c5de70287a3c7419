"""Where recordings lie: directories, buckets and archives, listed, read and written."""
