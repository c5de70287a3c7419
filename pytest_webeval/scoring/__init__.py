"""From the expectations of a task to one result."""
