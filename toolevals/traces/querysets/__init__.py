"""Reads of traces, as named methods."""
