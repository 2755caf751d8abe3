"""Read what the spans of one trace say: the conversation, the calls of tools, the sum of both, and pages of them."""
