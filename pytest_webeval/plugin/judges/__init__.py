"""The judge of a session, and the scores that it gives."""
