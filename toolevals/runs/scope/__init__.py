"""Say which examples, tools and grading of a run are meant."""
