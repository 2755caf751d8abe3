"""Show pages of runs."""
