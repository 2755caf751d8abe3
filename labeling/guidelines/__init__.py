"""Publish guidelines, and show their wordings and what an example's reader needs of them."""
