"""Decide who may do what in `toolevals.mcp_server`: a person with a token. Tools obey the rules of their addresses."""

from toolevals.workspace.access import Audience, Rule

RULES = {"mcp_server:mcp": Rule(Audience.HOLDER)}
