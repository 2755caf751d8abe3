"""Read what reports keep, by name."""
