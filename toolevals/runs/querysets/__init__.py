"""Reads of runs, transcripts and grades, by name."""
