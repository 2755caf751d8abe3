"""Decide what a person labels next, and read what is next to it on the page."""
