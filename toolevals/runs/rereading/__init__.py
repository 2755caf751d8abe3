"""Let people re-read some of a grading's cases, without gold and verdict, and correct the score by the result."""
