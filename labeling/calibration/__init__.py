"""Choose good examples for calibration rounds, and work out the results."""
