"""Show examples, their revisions and their history."""
