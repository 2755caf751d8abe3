"""Sum a week up: what is new, worse, fixed and back, what finished, how people agree, and what to label next."""
