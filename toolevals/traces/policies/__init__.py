"""Check traces by policies: what the guard would have refused of the calls that were recorded."""
