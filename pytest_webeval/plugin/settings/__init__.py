"""Options and keys of a configuration file, as pytest has them."""
