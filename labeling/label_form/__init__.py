"""Holds the form on which a label is entered."""
