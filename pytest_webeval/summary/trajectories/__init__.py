"""What the summary says of trajectories."""
