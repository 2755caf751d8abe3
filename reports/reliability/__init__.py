"""Reliability over several trials of each example."""
