"""Keeps files: what people upload, and what jobs write."""
