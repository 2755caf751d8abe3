"""Who may do what in `toolevals.registry`."""

from toolevals.workspace.access import Rule

RULES: dict[str, Rule] = {}
