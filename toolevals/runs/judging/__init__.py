"""Put judges to work on a grading: whom to ask, at what cost, and their answers."""
