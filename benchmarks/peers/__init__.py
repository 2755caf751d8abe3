"""Holds a file for each tool that is measured side by side, and what runs it in a Python of its own.

A tool's file says its environment (inline metadata; `requirements/` holds the hashed pins that were compiled from it),
what it is called, and its steps. But for `ours` they import nothing of this project.
"""
