"""Order a dataset's labelling, assign parts of it, and say how many people label each example."""
