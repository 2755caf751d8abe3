"""Numbers made of verdicts: rates, the confusion matrix, intervals."""
