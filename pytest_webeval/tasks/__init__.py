"""What the agent was asked."""
