"""Pages of traces, and the address that takes them."""
