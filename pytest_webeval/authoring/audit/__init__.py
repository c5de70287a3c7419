"""Which tasks pass without work, and which broken runs an evaluator lets through."""
