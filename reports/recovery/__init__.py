"""Show how agents deal with errors of tools."""
