"""Compare, merge and word what labels expect of an agent."""
