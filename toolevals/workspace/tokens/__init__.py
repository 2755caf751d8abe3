"""Lets programs in: tokens stand for members."""
