"""What the user asks for: options, their values, and the rules between them."""
