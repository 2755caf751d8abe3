"""People read some of a grading's cases once more, without gold and verdict, and the score is put right by it."""
