"""Reproduces other tools' verdicts with their faults, so that old numbers can be next to ours."""
