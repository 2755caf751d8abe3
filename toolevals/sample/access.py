"""Decide who may do what in `toolevals.sample`: it has no addresses."""

from toolevals.workspace.access import Rule

RULES: dict[str, Rule] = {}
