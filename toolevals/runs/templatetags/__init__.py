"""Show what templates of runs say."""
