"""Holds the template tags of traces."""
