"""Create and change datasets, and the guidelines that people label by."""
