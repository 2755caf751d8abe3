"""Show pages: each view reads the address, asks for one analysis and renders it."""
