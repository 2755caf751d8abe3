"""Carry questions about an example, and what adjudicators answer."""
