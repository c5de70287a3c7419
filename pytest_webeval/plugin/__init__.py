"""The pytest side: only this folder imports pytest."""
