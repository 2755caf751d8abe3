"""Template tags of the reports' pages."""
