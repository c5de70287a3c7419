"""Which events the browser made during which step."""
