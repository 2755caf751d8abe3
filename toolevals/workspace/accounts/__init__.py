"""Keeps the people who sign in."""
