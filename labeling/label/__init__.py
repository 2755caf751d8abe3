"""Hold the work on one example: who gets it next, claims, labels, drafts, passing on, keys."""
