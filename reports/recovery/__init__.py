"""Error recovery: failures of tools, and what agents did then."""
