"""Who may do what in `reports`."""

from toolevals.workspace.access import Rule

RULES: dict[str, Rule] = {}
