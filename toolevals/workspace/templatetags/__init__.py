"""Holds the tags that every template knows without loading them."""
