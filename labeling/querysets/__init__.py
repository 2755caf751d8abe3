"""Read what is read of datasets, examples, labels and gold: one module for each kind of row."""
