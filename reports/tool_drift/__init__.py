"""Watch where tools come from: what changed there, what it means for gold and for the matrix, and what to do."""
