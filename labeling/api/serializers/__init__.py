"""Write datasets, examples, labels and gold as JSON. No field says more than `labeling.blindness` allows."""
