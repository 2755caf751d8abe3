"""Serve the documents: find their files, turn Markdown into safe HTML, and search them by words."""
