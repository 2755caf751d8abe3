"""Gates: thresholds, assertions and regression rules that a run passes, fails, or cannot answer."""
