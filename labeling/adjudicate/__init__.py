"""Decide where labels differ, settle disputes, and keep the gold that results."""
