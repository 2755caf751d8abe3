"""Show what conversations and the calls to each tool cost."""
