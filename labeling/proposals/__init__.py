"""Draft edge cases from existing examples: other words of the user, and the gold that follows from them."""
