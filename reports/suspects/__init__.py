"""Examples whose gold the evidence contradicts: what speaks against it, counted and kept, and listed."""
