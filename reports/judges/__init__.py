"""The answers of judges to questions about a run's cases."""
