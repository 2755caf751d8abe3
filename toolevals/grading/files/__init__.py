"""Detect what a file holds, preview it, and read whole files of examples, runs and evaluations."""
