"""Compare judges with people who rate the same cases."""
