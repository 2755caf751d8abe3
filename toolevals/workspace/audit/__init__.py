"""Records what was done."""
