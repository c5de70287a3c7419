"""What the agent and its browser left behind."""
