"""Start runs, show them, and ask again where something failed."""
