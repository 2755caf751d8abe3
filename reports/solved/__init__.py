"""Show which agents solve which examples, over any number of runs."""
