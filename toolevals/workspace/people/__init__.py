"""Invites people to projects, gives them roles, and ends both."""
