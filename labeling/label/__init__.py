"""Hold the work on one example: claims, labels, drafts, passing on, keys."""
