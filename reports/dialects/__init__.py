"""Read other evaluators' verdicts on the cases of a run, made once for a grading."""
