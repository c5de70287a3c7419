"""One task in several sessions, side by side: what is read of each session, and what is compared."""
