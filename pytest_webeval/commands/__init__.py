"""Commands of `webeval`, one module each."""
