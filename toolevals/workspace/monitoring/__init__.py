"""Says whether the installation is ready, counts requests, and writes the log as JSON."""
