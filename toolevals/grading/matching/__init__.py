"""Compare values and calls: equality, matchers compiled to tests, and the differences between documents."""
