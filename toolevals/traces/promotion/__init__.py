"""Makes examples of traces."""
