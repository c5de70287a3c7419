"""The evaluator of network events: which recorded event is the expected one."""
