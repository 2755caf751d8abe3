"""Stands between an MCP client and a server, and checks by a policy what the client may call and read."""
