"""Ask a model about a run: questions, methods of judging, remembered replies, and how far a judge can be trusted."""
