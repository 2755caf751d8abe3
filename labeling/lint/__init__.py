"""Tell what is odd about a dataset and its tools: rules with findings, each with examples and tools to look at."""
