"""Show pages of `labeling`: labelling and adjudicating, datasets, examples and versions."""
