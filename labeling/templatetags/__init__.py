"""Template tags of the labelling pages."""
