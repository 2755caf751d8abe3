"""The costs of conversations and of calls to each tool."""
