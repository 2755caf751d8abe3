"""Count what a grading holds once, when it finishes: cases by cell, trials, sums over examples, costs."""
