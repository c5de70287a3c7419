"""Sessions beside each other: what changed, what that means, and the gates."""
