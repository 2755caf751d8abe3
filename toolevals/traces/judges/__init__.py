"""Asks judges about traces and their spans, within budgets."""
