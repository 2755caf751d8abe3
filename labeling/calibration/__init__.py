"""Calibration rounds: which examples make a good one, and what came of it."""
