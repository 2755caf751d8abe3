"""Show one run under every gold that it was graded against: its gradings, and the cases that changed between two."""
