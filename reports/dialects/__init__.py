"""Other tools' verdicts on the cases of a run: made once for a grading, and read."""
