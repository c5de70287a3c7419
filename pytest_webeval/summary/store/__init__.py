"""The rows of a session: in a SQLite file, in their order, taken over from one session to the next."""
