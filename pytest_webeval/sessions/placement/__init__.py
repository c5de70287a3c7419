"""Where runs are scored: in this process, others, or on other machines."""
