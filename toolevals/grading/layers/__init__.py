"""Grade what calls alone do not show: use of results, recovery, the answer, the end state, task metrics."""
