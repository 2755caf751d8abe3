"""Reads traces, by named methods."""
