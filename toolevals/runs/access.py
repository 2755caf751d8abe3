"""Who may do what in `toolevals.runs`."""

from toolevals.workspace.access import Rule

RULES: dict[str, Rule] = {}
