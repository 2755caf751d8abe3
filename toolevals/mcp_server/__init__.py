"""Answer coding agents by MCP: over the REST interface, with its access rules."""
