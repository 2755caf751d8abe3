"""Reads of what reports keep, by name."""
