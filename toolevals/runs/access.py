"""Who may do what in `toolevals.runs`: viewers read, adjudicators run."""

from toolevals.workspace.access import Rule
from toolevals.workspace.models import Role

RULES: dict[str, Rule] = {
    "runs:runs": Rule(Role.VIEWER, Role.ADJUDICATOR),
    "runs:new": Rule(Role.ADJUDICATOR),
    "runs:live": Rule(Role.ADJUDICATOR),
    "runs:upload": Rule(Role.ADJUDICATOR),
    "runs:run-cancel": Rule(Role.ADJUDICATOR),
    "runs:run-pause": Rule(Role.ADJUDICATOR),
    "runs:run-resume": Rule(Role.ADJUDICATOR),
    "runs:run-retry": Rule(Role.ADJUDICATOR),
    "runs:run-regrade": Rule(Role.ADJUDICATOR),
    "runs:run-errored": Rule(Role.ADJUDICATOR),
    "runs:run-failing": Rule(Role.ADJUDICATOR),
    "runs:failing-jsonl": Rule(Role.VIEWER),
    "runs:failing-csv": Rule(Role.VIEWER),
    "runs:subjects": Rule(Role.VIEWER, Role.ADJUDICATOR),
    "runs:experiments": Rule(Role.VIEWER, Role.ADJUDICATOR),
    "runs-api:subjects": Rule(Role.VIEWER, Role.ADJUDICATOR),
    "runs-api:experiments": Rule(Role.VIEWER, Role.ADJUDICATOR),
    "runs-api:runs": Rule(Role.VIEWER, Role.ADJUDICATOR),
    "runs-api:live": Rule(Role.ADJUDICATOR),
    "runs-api:live-estimate": Rule(Role.ADJUDICATOR),
    "runs-api:predictions": Rule(Role.ADJUDICATOR),
    "runs-api:run": Rule(Role.VIEWER, Role.ADJUDICATOR),
    "runs-api:errored": Rule(Role.ADJUDICATOR),
    "runs-api:failing": Rule(Role.ADJUDICATOR),
    "runs-api:failing-jsonl": Rule(Role.VIEWER),
    "runs-api:failing-csv": Rule(Role.VIEWER),
    "runs-api:gradings": Rule(Role.VIEWER, Role.ADJUDICATOR),
    "runs-api:grading": Rule(Role.VIEWER, Role.ADJUDICATOR),
    "runs-api:cases": Rule(Role.VIEWER, Role.ADJUDICATOR),
    "runs-api:case": Rule(Role.VIEWER, Role.ADJUDICATOR),
}
