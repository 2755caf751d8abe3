"""Keeps the teams' spaces, and who is a member of each."""
