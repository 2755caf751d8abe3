"""The overview of a run: layers, tools, metrics, findings, and its downloads."""
