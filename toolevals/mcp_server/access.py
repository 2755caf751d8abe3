"""Decide who may do what in `toolevals.mcp_server`: whoever has a token. Each tool obeys the rules of its addresses."""

from toolevals.workspace.access import Audience, Rule

RULES = {"mcp_server:mcp": Rule(Audience.HOLDER)}
