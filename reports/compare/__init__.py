"""Compare two runs on the examples that both hold."""
