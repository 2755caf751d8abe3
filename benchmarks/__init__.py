"""Holds the measurements: each module here that has `rows()` is a suite."""
