"""Counts what traces tell: tools, costs and verdicts in production, by the hour and by the day."""
