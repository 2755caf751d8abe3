"""How far reviewers agree: labels of resolved examples -> units -> figures, matrix, periods, and each against gold."""
