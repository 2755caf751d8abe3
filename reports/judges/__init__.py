"""Show what judges answer about a run's cases, and how far they can be trusted."""
