"""Show the overview of a run: its layers, tools, metrics and findings, and serve its tables."""
