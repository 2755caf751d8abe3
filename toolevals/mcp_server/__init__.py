"""The MCP server: what coding agents ask of a project, over the REST interface and with its access rules."""
