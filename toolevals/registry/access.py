"""Who may do what in `toolevals.registry`."""

from toolevals.workspace.access import Rule
from toolevals.workspace.models import Role

RULES: dict[str, Rule] = {
    "registry-api:registries": Rule(Role.VIEWER, Role.ADJUDICATOR),
    "registry-api:registry": Rule(Role.VIEWER),
    "registry-api:versions": Rule(Role.VIEWER, Role.ADJUDICATOR),
    "registry-api:version": Rule(Role.VIEWER),
}
