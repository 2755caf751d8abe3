"""Read what the spans of one trace say, as plain values: the conversation, the calls of tools, and the sum of both."""
