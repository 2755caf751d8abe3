"""Shows the pages of traces, and takes what agents send."""
