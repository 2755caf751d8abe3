"""Holds gates against a run: thresholds, assertions and regression rules, which it passes, fails, or cannot answer."""
