"""Template tags of traces."""
