"""Makes numbers of verdicts: rates, the confusion matrix, intervals."""
