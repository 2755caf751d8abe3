"""What templates of runs say."""
