"""Assign the calls that were made to the calls that were expected, and choose the trajectory that fits best."""
