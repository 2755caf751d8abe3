"""Decides, before a call is made and of its result, if a policy lets it pass: pure functions on plain values."""
