"""Judges at work on a grading: who is asked, what it takes, and what they say."""
