"""Change datasets, labels and gold. Each function is one short transaction with one audit row."""
