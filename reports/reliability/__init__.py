"""Show how reliable a run is over several trials of each example."""
