"""Holds adapters that drive other tools in Pythons of their own, and their hashed requirements.

They import nothing of this project.
"""
