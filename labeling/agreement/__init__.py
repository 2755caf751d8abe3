"""Measure agreement: labels of resolved examples -> units -> figures, matrix, periods, and each against gold."""
