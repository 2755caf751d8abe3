"""Measure a policy's rules on graded runs and on gold, and show policies with these error rates."""
