"""Name frozen versions of a dataset, and tell what changed between them."""
