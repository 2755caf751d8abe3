"""Give the pages of reports their template tags."""
