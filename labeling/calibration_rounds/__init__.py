"""Run calibration rounds: solved examples that everyone who labels answers once, blind, to compare readings."""
