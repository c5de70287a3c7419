"""What a session is over: roots, runs, definitions of tasks, and where results go."""
