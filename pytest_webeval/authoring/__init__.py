"""For whoever writes tasks or uses them: an audit, a lint, proposals of definitions."""
