"""Who may do what in `labeling`."""

from toolevals.workspace.access import Rule

RULES: dict[str, Rule] = {}
