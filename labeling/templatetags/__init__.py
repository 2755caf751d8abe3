"""Give the pages of labelling their template tags."""
