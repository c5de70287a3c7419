"""Three small sites to record agents on: a storefront, its back office and an issue tracker.

All state is in memory and starts from the same literal tables, so a fresh site is always the same site.
"""
