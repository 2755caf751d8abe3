"""Count cases, calls, time and money of a run, and keep the sums that pages add up."""
