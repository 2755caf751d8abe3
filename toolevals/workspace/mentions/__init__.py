"""Lets people mention members in what they write, and tells those."""
