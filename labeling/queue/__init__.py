"""Decide what a person labels next, and read what stands beside it on the page."""
