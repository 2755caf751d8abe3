"""Keep the agents of a project, each in one exact state."""
