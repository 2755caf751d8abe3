"""Decide who may do what in `toolevals.registry`."""

from toolevals.workspace.access import Rule
from toolevals.workspace.models import Role, TokenScope

RULES: dict[str, Rule] = {
    "registry:registries": Rule(Role.VIEWER, Role.ADJUDICATOR),
    "registry:registry": Rule(Role.VIEWER, Role.ADJUDICATOR),
    "registry:registries-csv": Rule(Role.VIEWER),
    "registry:versions-csv": Rule(Role.VIEWER),
    "registry:losses-csv": Rule(Role.ADJUDICATOR),
    "registry:mcp": Rule(Role.ADJUDICATOR),
    "registry:version": Rule(Role.VIEWER),
    "registry:strict": Rule(Role.VIEWER),
    "registry:changes": Rule(Role.VIEWER),
    "registry-api:registries": Rule(Role.VIEWER, Role.ADJUDICATOR),
    "registry-api:registry": Rule(Role.VIEWER, delete=Role.OWNER),
    "registry-api:versions": Rule(Role.VIEWER, Role.ADJUDICATOR),
    "registry-api:preview": Rule(Role.ADJUDICATOR),
    "registry-api:large-preview": Rule(Role.ADJUDICATOR),
    "registry-api:mcp": Rule(Role.ADJUDICATOR),
    "registry-api:version": Rule(Role.VIEWER),
    "registry-api:guard-check": Rule(Role.ADJUDICATOR, scope=TokenScope.GUARD),
    "registry-api:guard-signed": Rule(Role.VIEWER, scope=TokenScope.GUARD),
    "registry-api:guard-policy-signed": Rule(Role.VIEWER, scope=TokenScope.GUARD),
    "registry-api:guard-keys": Rule(Role.VIEWER, scope=TokenScope.GUARD),
    "registry-api:guard-counts": Rule(Role.VIEWER),
}
