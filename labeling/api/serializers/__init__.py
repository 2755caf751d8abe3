"""What datasets, examples, labels and gold look like in JSON. No field says more than `labeling.blindness` allows."""
