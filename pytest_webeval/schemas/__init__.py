"""JSON Schemas of the files that are read or written, and what checks files against them."""
