"""Thumbs that people give on judges' verdicts."""
