"""Shows the figures of the whole installation to Prometheus."""
