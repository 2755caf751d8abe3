"""Propose what runs did as second looks at examples that are still to label."""
