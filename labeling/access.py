"""Who may do what in `labeling`."""

from toolevals.workspace.access import Rule
from toolevals.workspace.models import Role

RULES: dict[str, Rule] = {
    "labeling-api:datasets": Rule(Role.VIEWER, Role.ADJUDICATOR),
    "labeling-api:dataset": Rule(Role.VIEWER, Role.ADJUDICATOR),
    "labeling-api:examples": Rule(Role.VIEWER),
    "labeling-api:imports": Rule(Role.ADJUDICATOR),
    "labeling-api:export": Rule(Role.VIEWER),
    "labeling-api:versions": Rule(Role.VIEWER, Role.ADJUDICATOR),
    "labeling-api:version": Rule(Role.VIEWER),
    "labeling-api:version-export": Rule(Role.VIEWER),
    "labeling-api:example": Rule(Role.VIEWER),
    "labeling-api:golds": Rule(Role.VIEWER),
    "labeling-api:disputes": Rule(Role.VIEWER, Role.REVIEWER),
    "labeling-api:dispute-settle": Rule(Role.ADJUDICATOR),
    "labeling-api:claims": Rule(Role.REVIEWER),
    "labeling-api:claim": Rule(Role.REVIEWER),
    "labeling-api:claim-draft": Rule(Role.REVIEWER),
    "labeling-api:claim-label": Rule(Role.REVIEWER),
    "labeling-api:claim-skip": Rule(Role.REVIEWER),
    "labeling-api:skip": Rule(Role.REVIEWER),
    "labeling-api:labels": Rule(Role.VIEWER),
    "labeling-api:label": Rule(Role.VIEWER, Role.REVIEWER),
    "labeling-api:adjudications": Rule(Role.ADJUDICATOR),
    "labeling-api:adjudication": Rule(Role.ADJUDICATOR),
}
