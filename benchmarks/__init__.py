"""Measurements: each module here that has `rows()` is a suite."""
